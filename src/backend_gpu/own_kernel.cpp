#include "backend_gpu/own_kernel.hpp"

#include <fmt/format.h>

namespace elbowroom::gpu {
namespace {

Result<int> attribute(const Runtime& runtime, const KernelCalls& kernels, Function function, FunctionAttribute which) {
  int value = 0;
  const Status read = runtime.call(kernels.get_attribute, &value, static_cast<int>(which), function);
  if (!read) { return read.error(); }
  return value;
}

// The runtimes read the pointers and never write them, though their declarations do not say so.
void** parameters(std::span<void* const> arguments) { return const_cast<void**>(arguments.data()); }

}  // namespace

Result<KernelFootprint> read_footprint(const Runtime& runtime, const KernelCalls& kernels, Function function, Threads threads) {
  const Result<int> registers = attribute(runtime, kernels, function, FunctionAttribute::registers);
  if (!registers) { return registers.error(); }
  const Result<int> static_shared = attribute(runtime, kernels, function, FunctionAttribute::static_shared);
  if (!static_shared) { return static_shared.error(); }
  KernelFootprint footprint;
  footprint.threads = threads;
  footprint.registers_per_thread = Registers(*registers);
  footprint.static_shared = Bytes(*static_shared);
  return footprint;
}

Status allow_dynamic_shared(const Runtime& runtime, const KernelCalls& kernels, Function function, Bytes shared) {
  if (!kernels.set_attribute) { return {}; }
  const Result<int> limit = attribute(runtime, kernels, function, FunctionAttribute::max_dynamic_shared);
  if (!limit) { return limit.error(); }
  if (Bytes(*limit) >= shared) { return {}; }
  return runtime.call(kernels.set_attribute, function, static_cast<int>(FunctionAttribute::max_dynamic_shared),
                      static_cast<int>(shared.count()));
}

Status launch(const Runtime& runtime, const OwnFunction& own, Extent grid, Bytes dynamic_shared, StreamHandle stream,
              std::span<void* const> arguments, const char* what) {
  const auto threads = static_cast<unsigned>(own.threads.count());
  const auto shared = static_cast<unsigned>(dynamic_shared.count());
  const KernelCalls& kernels = runtime.calls.own;
  const int code =
      kernels.launch.function(own.function, grid.x, grid.y, grid.z, threads, 1, 1, shared, stream, parameters(arguments), nullptr);
  return code == kSuccess ? Status() : runtime.check(code, fmt::format("{} ({})", kernels.launch.name, what));
}

Result<OwnKernel> OwnKernel::make(Platform& platform, const std::string& name, Extent grid, const std::vector<int>& devices) {
  const Runtime& runtime = platform.runtime();
  OwnKernel made(runtime, grid);
  // Where no rank is here, what a block takes elsewhere is asked of this process' own GPU: they are alike.
  const std::vector<int> asked = devices.empty() ? std::vector{platform.devices().front().index} : devices;
  for (const int device : asked) {
    const Result<OwnFunction> own = platform.function(name, device);
    if (!own) { return own.error(); }
    const Result<KernelFootprint> footprint = read_footprint(runtime, runtime.calls.own, own->function, own->threads);
    if (!footprint) { return footprint.error(); }
    const DeviceLimits& limits = platform.device(device).limits;
    const Bytes room = limits.shared_per_block - footprint->static_shared;
    if (Status allowed = allow_dynamic_shared(runtime, runtime.calls.own, own->function, room); !allowed) {
      return allowed.error();
    }
    made.functions_.emplace(device, *own);
    made.facts_.footprint = *footprint;
  }
  made.facts_.blocks = Blocks(std::int64_t{grid.x} * grid.y * grid.z);
  return made;
}

Status OwnKernel::launch(int device, StreamHandle stream, const ComputeSettings& settings, std::span<void* const> arguments) const {
  const OwnFunction& own = functions_.at(device);
  if (!settings.carveout) { return gpu::launch(*runtime_, own, grid_, settings.pad, stream, arguments, "compute"); }
  return runtime_->call(runtime_->calls.launch_with_carveout, own.function, grid_.x, grid_.y, grid_.z,
                        static_cast<unsigned>(own.threads.count()), 1, 1, static_cast<unsigned>(settings.pad.count()), stream,
                        parameters(arguments), static_cast<int>(settings.carveout->count()));
}

}  // namespace elbowroom::gpu
