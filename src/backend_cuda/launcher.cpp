#include "backend_cuda/launcher.hpp"

#include <cuda.h>
#include <fmt/format.h>

#include <utility>
#include <vector>

#include "backend_cuda/driver_entry.hpp"
#include "backend_cuda/handles.hpp"

namespace elbowroom::cuda {
namespace {

struct Driver {
  decltype(&::cuLaunchKernel) launch_kernel = nullptr;
  decltype(&::cuFuncGetAttribute) get_attribute = nullptr;
  decltype(&::cuFuncSetAttribute) set_attribute = nullptr;
  decltype(&::cuGetErrorString) error_string = nullptr;

  [[nodiscard]] Status check(CUresult code, const char* call) const {
    if (code == CUDA_SUCCESS) return {};
    const char* words = nullptr;
    static_cast<void>(error_string(code, &words));
    return failed(fmt::format("{} failed: {}", call, words == nullptr ? "unknown error" : words));
  }

  Result<int> attribute(CUfunction function, CUfunction_attribute which) const {
    int value = 0;
    if (Status read = check(get_attribute(&value, which, function), "cuFuncGetAttribute"); !read) return read.error();
    return value;
  }
};

struct Lanes {
  cuda::Stream compute;
  cuda::Stream comm;
};

class CudaLauncher final : public Launcher {
 public:
  CudaLauncher(const Driver& driver, std::vector<Lanes> lanes) : driver_(driver), lanes_(std::move(lanes)) {}

  [[nodiscard]] elbowroom::Stream compute_stream(int device) const override {
    return elbowroom::Stream::from_native(device, lanes_[static_cast<std::size_t>(device)].compute.get());
  }
  [[nodiscard]] elbowroom::Stream comm_stream(int device) const override {
    return elbowroom::Stream::from_native(device, lanes_[static_cast<std::size_t>(device)].comm.get());
  }

  Result<KernelFootprint> footprint(Kernel kernel, Extent block, Bytes dynamic_shared) override {
    const auto function = static_cast<CUfunction>(kernel.native());
    const Result<int> registers = driver_.attribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS);
    if (!registers) return registers.error();
    const Result<int> static_shared = driver_.attribute(function, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
    if (!static_shared) return static_shared.error();
    return KernelFootprint{Threads(std::int64_t{block.x} * block.y * block.z), Registers(*registers), Bytes(*static_shared),
                           dynamic_shared, 1};
  }

  Status launch(Kernel kernel, Extent grid, Extent block, std::span<void*> arguments, Bytes dynamic_shared,
                elbowroom::Stream stream, const OverlapPlan& plan) override {
    for (const auto& [name, size] : {std::pair{"pad_bytes", plan.pad}, {"dynamic_shared", dynamic_shared}}) {
      if (size < Bytes(0) || size > kGreatestShared) {
        return invalid_input(fmt::format("{}: {}, expected 0 to {}", name, size.count(), kGreatestShared.count()));
      }
    }
    if (Status used = use_device(stream.device()); !used) return used;
    const auto function = static_cast<CUfunction>(kernel.native());
    const Bytes shared = dynamic_shared + plan.pad;
    if (plan.pad > Bytes(0)) {
      if (Status allowed = allow(function, shared); !allowed) return allowed;
    }
    return driver_.check(
        driver_.launch_kernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, static_cast<unsigned>(shared.count()),
                              static_cast<CUstream>(stream.native()), arguments.data(), nullptr),
        "cuLaunchKernel");
  }

  Status synchronize() override {
    for (std::size_t device = 0; device < lanes_.size(); ++device) {
      if (Status used = use_device(static_cast<int>(device)); !used) return used;
      for (const cuda::Stream* stream : {&lanes_[device].compute, &lanes_[device].comm}) {
        if (Status idle = check(cudaStreamSynchronize(stream->get()), "cudaStreamSynchronize"); !idle) return idle;
      }
    }
    return {};
  }

 private:
  // More than any SM has; the driver refuses what this device cannot give.
  static constexpr Bytes kGreatestShared = mebibytes(1);

  /// Raises the function's limit where it is below `shared`; the application may have raised it further, that stays.
  [[nodiscard]] Status allow(CUfunction function, Bytes shared) const {
    const Result<int> limit = driver_.attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    if (!limit) return limit.error();
    if (Bytes(*limit) >= shared) return {};
    return driver_.check(
        driver_.set_attribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, static_cast<int>(shared.count())),
        "cuFuncSetAttribute(MAX_DYNAMIC_SHARED_SIZE_BYTES)");
  }

  Driver driver_;
  std::vector<Lanes> lanes_;
};

Result<Lanes> make_lanes(int device) {
  if (Status used = use_device(device); !used) return used.error();
  const Result<PriorityRange> priorities = priority_range();
  if (!priorities) return priorities.error();
  Result<cuda::Stream> compute = make_stream(priorities->least);
  if (!compute) return compute.error();
  Result<cuda::Stream> comm = make_stream(priorities->greatest);
  if (!comm) return comm.error();
  return Lanes{std::move(*compute), std::move(*comm)};
}

}  // namespace

Result<std::unique_ptr<Launcher>> make_launcher(int gpus) {
  Driver driver;
  for (const Status& bound : {
           driver_entry("cuLaunchKernel", driver.launch_kernel),
           driver_entry("cuFuncGetAttribute", driver.get_attribute),
           driver_entry("cuFuncSetAttribute", driver.set_attribute),
           driver_entry("cuGetErrorString", driver.error_string),
       }) {
    if (!bound) return bound.error();
  }
  std::vector<Lanes> lanes;
  for (int device = 0; device < gpus; ++device) {
    Result<Lanes> made = make_lanes(device);
    if (!made) return made.error();
    lanes.push_back(std::move(*made));
  }
  return std::unique_ptr<Launcher>(std::make_unique<CudaLauncher>(driver, std::move(lanes)));
}

}  // namespace elbowroom::cuda
