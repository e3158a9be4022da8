#include "backend_cuda/checking.hpp"

#include <fmt/format.h>

#include "backend_cuda/handles.hpp"

namespace elbowroom::cuda {

Status run_check(int device, std::string_view what, std::string_view units, std::int64_t total,
                 const std::function<Status(Mismatches*)>& enqueue) {
  if (Status used = use_device(device); !used) return used;
  Result<DeviceMemory> counters = allocate(Bytes(sizeof(Mismatches)));
  if (!counters) return counters.error();
  auto* const on_device = static_cast<Mismatches*>(counters->get());
  Mismatches seen;
  if (Status zeroed = check(cudaMemcpy(on_device, &seen, sizeof seen, cudaMemcpyHostToDevice), "cudaMemcpy"); !zeroed)
    return zeroed;
  if (Status enqueued = enqueue(on_device); !enqueued) return enqueued;
  if (Status copied = check(cudaMemcpy(&seen, on_device, sizeof seen, cudaMemcpyDeviceToHost), "cudaMemcpy"); !copied)
    return copied;
  if (seen.count == 0) return {};
  return failed(fmt::format("{} on GPU {}: {} of {} {} differ from the reference, the first at {}", what, device, seen.count, total,
                            units, seen.first));
}

}  // namespace elbowroom::cuda
