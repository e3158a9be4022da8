#pragma once

#include <cstddef>
#include <limits>

/// ncclConfig_t, as nccl.h of 2.14 to 2.30 declares it: each version appends fields. Declared here, so that no NCCL is needed to
/// build.
namespace elbowroom::interposer::nccl {

struct Config {
  std::size_t size;
  unsigned magic;
  unsigned version;
  int blocking;      // 2.14
  int cluster_size;  // 2.17, with the next three
  int min_ctas;
  int max_ctas;
  const char* net_name;
  int split_share;        // 2.18
  int traffic_class;      // 2.26
  const char* comm_name;  // 2.27, with the next four
  int collnet_enable;
  int cta_policy;
  int shrink_share;
  int nvls_ctas;
  int channels_per_net_peer;  // 2.28, with the next
  int nvlink_centric_sched;
  int graph_usage_mode;  // 2.29, with the next
  int num_rma_ctx;
  int max_p2p_peers;          // 2.30.3
  int graph_stream_ordering;  // 2.30.7
};

inline constexpr unsigned kConfigMagic = 0xcafebeef;
inline constexpr int kConfigUndefined = std::numeric_limits<int>::min();  // NCCL_CONFIG_UNDEF_INT

/// NCCL_VERSION_CODE.
constexpr unsigned version_code(unsigned major, unsigned minor, unsigned patch) { return major * 10000 + minor * 100 + patch; }
inline constexpr unsigned kConfigSince = version_code(2, 14, 0);
inline constexpr unsigned kBlocksSince = version_code(2, 17, 0);
inline constexpr unsigned kPolicySince = version_code(2, 27, 0);
inline constexpr unsigned kCopiesSince = version_code(2, 28, 0);   // NCCL_CTA_POLICY_ZERO
inline constexpr unsigned kConfigNewest = version_code(2, 30, 7);  // of which the fields are known here

/// sizeof(ncclConfig_t) of that version of NCCL; 0 where it has none.
constexpr std::size_t config_size(unsigned version) {
  if (version < kConfigSince) { return 0; }
  if (version < kBlocksSince) { return 24; }
  if (version < version_code(2, 18, 0)) { return 40; }
  if (version < kPolicySince) { return 48; }
  if (version < version_code(2, 28, 0)) { return 72; }
  if (version < version_code(2, 29, 0)) { return 80; }
  if (version < version_code(2, 30, 0)) { return 88; }
  return 96;
}

}  // namespace elbowroom::interposer::nccl
