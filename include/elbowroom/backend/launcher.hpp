#pragma once

#include <cstdint>
#include <span>

#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/kernel_footprint.hpp"
#include "elbowroom/plan/overlap_plan.hpp"

namespace elbowroom {

/// A stream that somebody else owns: the launcher it came from, or the application.
class Stream {
 public:
  /// `native` is a cudaStream_t or hipStream_t of `device`.
  static Stream from_native(int device, void* native) { return Stream(device, native); }

  [[nodiscard]] int device() const { return device_; }
  [[nodiscard]] void* native() const { return native_; }

 private:
  Stream(int device, void* native) : device_(device), native_(native) {}

  int device_;
  void* native_;
};

/// A kernel of the application.
class Kernel {
 public:
  /// `native` is a CUfunction or hipFunction_t; for a `__global__` function, what cudaGetFuncBySymbol gives.
  static Kernel from_native(void* native) { return Kernel(native); }

  [[nodiscard]] void* native() const { return native_; }

 private:
  explicit Kernel(void* native) : native_(native) {}

  void* native_;
};

/// Blocks of a grid or threads of a block.
struct Extent {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
};

/// Launches an application's own kernels under a plan. Streams belong to the launcher and live as long as it does.
class Launcher {
 public:
  virtual ~Launcher() = default;
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  /// Default priority. `device` from 0 to the number of devices the launcher was made for, less one.
  [[nodiscard]] virtual Stream compute_stream(int device) const = 0;
  /// The device's greatest priority: what is enqueued here goes first whenever an SM frees room.
  [[nodiscard]] virtual Stream comm_stream(int device) const = 0;

  /// What one block of the kernel takes, from the driver. `dynamic_shared` is what the application itself asks for.
  virtual Result<KernelFootprint> footprint(Kernel kernel, Extent block, Bytes dynamic_shared) = 0;

  /// Enqueues one launch and returns; the thread's current device stays what it was. The kernel gets `dynamic_shared` plus the
  /// plan's pad; `arguments` as cuLaunchKernel takes them. Never give a pad to a kernel that synchronises its whole grid, that runs
  /// in clusters or that reads its own dynamic shared memory size. `priority` acts through comm_stream(); a plan with any other
  /// control is `invalid_input`: one launch cannot carry it out.
  virtual Status launch(Kernel kernel, Extent grid, Extent block, std::span<void*> arguments, Bytes dynamic_shared, Stream stream,
                        const OverlapPlan& plan) = 0;

  /// Waits until everything on the launcher's streams has run.
  virtual Status synchronize() = 0;

 protected:
  Launcher() = default;
};

}  // namespace elbowroom
