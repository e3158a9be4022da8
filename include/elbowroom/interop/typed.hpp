#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "elbowroom/backend/launcher.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/runtime/kernel.hpp"

// What the headers of all vendors share.
namespace elbowroom::interop {

/// There is no null stream here: interop/cuda.hpp and hip.hpp say why.
Result<Stream> stream(DeviceIndex device, std::nullptr_t) = delete;

/// Sets what of a plan a communicator carries, its block budget and cluster size, in the ncclConfig_t that ncclCommInitRankConfig
/// takes; everything else of `config` stays. NCCL 2.17 and RCCL read both; a budget of blocks is a suggestion to them. A template,
/// so that no header of the library is needed here.
template <class Config>
void configure(Config& config, const OverlapPlan& plan) {
  if (plan.comm_blocks) {
    config.minCTAs = static_cast<int>(plan.comm_blocks->count());
    config.maxCTAs = static_cast<int>(plan.comm_blocks->count());
  }
  if (plan.cluster) { config.cgaClusterSize = *plan.cluster; }
}

namespace detail {

inline Result<Stream> stream_of(std::string_view backend, DeviceIndex device, void* native) {
  if (native != nullptr) { return Stream::from_native(backend, device, native); }
  return invalid_input("stream: null, expected one that was created: the null stream waits for all others");
}

template <class Opaque>
Result<Opaque*> native_of(std::string_view backend, const Stream& stream) {
  if (stream.backend() == backend) { return static_cast<Opaque*>(stream.native()); }
  return invalid_input("stream: of " + std::string(stream.backend()) + ", expected one of " + std::string(backend));
}

template <class... Parameters>
Result<KernelOf<Parameters...>> kernel_of(std::string_view backend, void* native) {
  if (native != nullptr) { return KernelOf<Parameters...>(Kernel::from_native(backend, native)); }
  return invalid_input("kernel: null, expected a function that was looked up");
}

}  // namespace detail
}  // namespace elbowroom::interop
