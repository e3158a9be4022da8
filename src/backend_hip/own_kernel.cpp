#include "backend_hip/own_kernel.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace elbowroom::hip {

Result<KernelFootprint> read_footprint(const HipLibrary& hip, HipFunction function, Threads threads) {
  const auto read = [&](FunctionAttribute which, int& value) {
    return hip.check(hip.functions.func_get_attribute(&value, static_cast<int>(which), function), "hipFuncGetAttribute");
  };
  int registers = 0;
  int static_shared = 0;
  if (Status known = read(FunctionAttribute::registers, registers); !known) return known.error();
  if (Status known = read(FunctionAttribute::static_shared, static_shared); !known) return known.error();
  KernelFootprint footprint;
  footprint.threads = threads;
  footprint.registers_per_thread = Registers(registers);
  footprint.static_shared = Bytes(static_shared);
  return footprint;
}

Result<OwnKernel> OwnKernel::make(DeviceCode& code, const std::string& kernel, Extent grid, Threads threads,
                                  const std::vector<DeviceInfo>& devices, int gpus) {
  OwnKernel made(code.hip(), grid, threads);
  for (int device = 0; device < gpus; ++device) {
    const Result<HipFunction> function = code.function(kernel, device);
    if (!function) return function.error();
    const Result<KernelFootprint> footprint = read_footprint(code.hip(), *function, threads);
    if (!footprint) return footprint.error();
    const Bytes room = devices[static_cast<std::size_t>(device)].limits.shared_per_block - footprint->static_shared;
    made.functions_.push_back(*function);
    made.greatest_pad_ = device == 0 ? room : std::min(room, made.greatest_pad_);
    made.facts_.footprint = *footprint;
  }
  made.facts_.blocks = Blocks(std::int64_t{grid.x} * grid.y * grid.z);
  return made;
}

Status OwnKernel::accepts(const OverlapPlan& plan) const {
  if (plan.sm_target) return invalid_input("sm_target: acts on library_gemm only, this kernel's grid is the scenario's");
  if (plan.pad < Bytes(0) || plan.pad > greatest_pad_) {
    return invalid_input(fmt::format("pad_bytes: {}, expected 0 to {} for this kernel", plan.pad.count(), greatest_pad_.count()));
  }
  return {};
}

Status OwnKernel::launch(int device, HipStream stream, const OverlapPlan& plan, std::span<void* const> arguments) const {
  return hip::launch(*hip_, functions_[static_cast<std::size_t>(device)], grid_, threads_, plan.pad, stream, arguments,
                     "hipModuleLaunchKernel (compute)");
}

}  // namespace elbowroom::hip
