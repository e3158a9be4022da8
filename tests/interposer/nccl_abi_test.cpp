#include <nccl.h>

#include <cstddef>

#include "interposer/nccl/config_abi.hpp"

// The interposer's declarations against those of the NCCL that is installed, at compile time.

namespace nccl = elbowroom::interposer::nccl;
using nccl::Config;

static_assert(nccl::config_size(NCCL_VERSION_CODE) == sizeof(ncclConfig_t));
static_assert(nccl::version_code(NCCL_MAJOR, NCCL_MINOR, NCCL_PATCH) == NCCL_VERSION_CODE);

#define SAME_PLACE(ours, theirs) static_assert(offsetof(Config, ours) == offsetof(ncclConfig_t, theirs))
SAME_PLACE(size, size);
SAME_PLACE(magic, magic);
SAME_PLACE(version, version);
SAME_PLACE(blocking, blocking);
#if NCCL_VERSION_CODE >= 21700
static_assert(nccl::kConfigUndefined == NCCL_CONFIG_UNDEF_INT);
SAME_PLACE(cluster_size, cgaClusterSize);
SAME_PLACE(min_ctas, minCTAs);
SAME_PLACE(max_ctas, maxCTAs);
SAME_PLACE(net_name, netName);
#endif
#if NCCL_VERSION_CODE >= 22700
SAME_PLACE(comm_name, commName);
SAME_PLACE(cta_policy, CTAPolicy);
SAME_PLACE(nvls_ctas, nvlsCTAs);
#endif
#if NCCL_VERSION_CODE >= 22800
static_assert(NCCL_CTA_POLICY_ZERO == 2);
SAME_PLACE(nvlink_centric_sched, nvlinkCentricSched);
#endif

// NCCL's mark of an initialized configuration.
constexpr bool has_magic() {
  const ncclConfig_t config = NCCL_CONFIG_INITIALIZER;
  return config.magic == nccl::kConfigMagic && config.version == NCCL_VERSION_CODE && config.size == sizeof config;
}
static_assert(has_magic());
