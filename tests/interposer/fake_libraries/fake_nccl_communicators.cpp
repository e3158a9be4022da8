#include <algorithm>
#include <cstring>

#include "fake_nccl.hpp"

// Communicators as NCCL 2.28 makes them: what it accepts of a configuration, and what it fills in.

namespace {

using nccl::Config;
using nccl::kConfigUndefined;
using nccl::version_code;

constexpr int kInvalidArgument = 4;
constexpr int kChannels = 64;

int library = 22809;

void default_to(int& field, int value) {
  if (field == kConfigUndefined) { field = value; }
}

Config undefined_config() {
  Config config{};
  for (int* field : {&config.blocking, &config.cluster_size, &config.min_ctas, &config.max_ctas, &config.cta_policy}) {
    *field = kConfigUndefined;
  }
  return config;
}

// Of a newer version only the fields that this one has, of an older one only those that it had.
int parse(const Config* passed, Config& config) {
  config = undefined_config();
  if (passed != nullptr) {
    if (passed->magic != nccl::kConfigMagic) { return kInvalidArgument; }
    const Config initial = config;
    std::memcpy(&config, passed, std::min(passed->size, nccl::config_size(static_cast<unsigned>(library))));
    if (passed->version < version_code(2, 17, 0)) {
      config.min_ctas = initial.min_ctas;
      config.max_ctas = initial.max_ctas;
    }
    if (passed->version < version_code(2, 27, 0)) { config.cta_policy = initial.cta_policy; }
  }
  const bool bad_minimum = config.min_ctas != kConfigUndefined && config.min_ctas <= 0;
  const bool bad_maximum = config.max_ctas != kConfigUndefined && config.max_ctas <= 0;
  // Before the defaults are there, so that a minimum alone is greater than the maximum.
  if (bad_minimum || bad_maximum || config.min_ctas > config.max_ctas) { return kInvalidArgument; }
  const bool bad_policy = config.cta_policy == 2 && static_cast<unsigned>(library) < version_code(2, 28, 0);
  if (bad_policy) { return kInvalidArgument; }
  default_to(config.min_ctas, 1);
  default_to(config.max_ctas, kChannels);
  default_to(config.cta_policy, 0);
  return 0;
}

int make(nccl::Communicator* made, int ranks, const Config* passed) {
  auto* communicator = new FakeCommunicator{{}, passed, ranks};
  const int result = parse(passed, communicator->config);
  *made = reinterpret_cast<nccl::Communicator>(communicator);
  return result;
}

int make_child(nccl::Communicator parent, nccl::Communicator* made, const Config* passed) {
  const FakeCommunicator& from = *fake_communicator(parent);
  if (passed != nullptr) { return make(made, from.ranks, passed); }
  *made = reinterpret_cast<nccl::Communicator>(new FakeCommunicator{from.config, nullptr, from.ranks});
  return 0;
}

}  // namespace

void fake_nccl_version(int version) { library = version; }
FakeCommunicator* fake_communicator(nccl::Communicator communicator) { return reinterpret_cast<FakeCommunicator*>(communicator); }

int ncclGetVersion(int* version) {
  *version = library;
  return 0;
}
int ncclCommInitRank(nccl::Communicator* made, int ranks, nccl::UniqueId, int) { return make(made, ranks, nullptr); }
int ncclCommInitRankConfig(nccl::Communicator* made, int ranks, nccl::UniqueId, int, nccl::Config* config) {
  return make(made, ranks, config);
}
int ncclCommInitRankScalable(nccl::Communicator* made, int ranks, int, int, nccl::UniqueId*, nccl::Config* config) {
  return make(made, ranks, config);
}
int ncclCommInitAll(nccl::Communicator* made, int devices, const int*) {
  for (int i = 0; i < devices; ++i) { make(made + i, devices, nullptr); }
  return 0;
}
int ncclCommSplit(nccl::Communicator parent, int, int, nccl::Communicator* made, nccl::Config* config) {
  return make_child(parent, made, config);
}
int ncclCommGrow(nccl::Communicator parent, int, const nccl::UniqueId*, int, nccl::Communicator* made, nccl::Config* config) {
  return make_child(parent, made, config);
}
int ncclCommShrink(nccl::Communicator parent, int*, int, nccl::Communicator* made, nccl::Config* config, int) {
  return make_child(parent, made, config);
}
