#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/kernel_footprint.hpp"
#include "elbowroom/plan/launch_settings.hpp"

namespace elbowroom {

/// A device, by the number that its vendor's runtime gives it in this process: `DeviceIndex{0}` is the first.
enum class DeviceIndex : int {};

/// A stream that somebody else owns: the launcher it came from, or the application. Applications make one with interop/.
class Stream {
 public:
  /// For backends and interop/, which know what `native` is. `backend` is the name of the one that can use it and outlives the
  /// stream.
  static Stream from_native(std::string_view backend, DeviceIndex device, void* native) { return {backend, device, native}; }

  [[nodiscard]] std::string_view backend() const { return backend_; }
  [[nodiscard]] DeviceIndex device() const { return device_; }
  [[nodiscard]] void* native() const { return native_; }

  bool operator==(const Stream&) const = default;

 private:
  Stream(std::string_view backend, DeviceIndex device, void* native) : backend_(backend), device_(device), native_(native) {}

  std::string_view backend_;
  DeviceIndex device_;
  void* native_;
};

/// The streams of one device.
struct StreamPair {
  Stream compute;
  Stream comm;
};

/// A kernel of the application. Applications make one with interop/.
class Kernel {
 public:
  /// As Stream::from_native.
  static Kernel from_native(std::string_view backend, void* native) { return {backend, native}; }

  [[nodiscard]] std::string_view backend() const { return backend_; }
  [[nodiscard]] void* native() const { return native_; }

 private:
  Kernel(std::string_view backend, void* native) : backend_(backend), native_(native) {}

  std::string_view backend_;
  void* native_;
};

/// Blocks of a grid or threads of a block.
struct Extent {
  std::uint32_t x = 1;
  std::uint32_t y = 1;
  std::uint32_t z = 1;
};

/// How a kernel is launched. `dynamic_shared` is what the application itself asks for, of each block.
struct LaunchSize {
  Extent grid;
  Extent block;
  Bytes dynamic_shared = Bytes(0);
};

/// Lets compute wait until a collective has begun.
class CollectiveGate {
 public:
  virtual ~CollectiveGate() = default;
  CollectiveGate(const CollectiveGate&) = delete;
  CollectiveGate& operator=(const CollectiveGate&) = delete;

  /// Calls `collective`, which enqueues one launch of the communication library on each communication stream, from this thread.
  /// What is put on the compute streams afterwards waits until all blocks of that launch are resident. Its error is returned.
  /// `failed` where a stream saw no launch: what was enqueued runs, and nothing waits for it.
  virtual Status around(const std::function<Status()>& collective) = 0;

 protected:
  CollectiveGate() = default;
};

/// Launches an application's own kernels, padded where that is asked. Streams that it makes live as long as it does. Used by one
/// thread at a time.
class Launcher {
 public:
  virtual ~Launcher() = default;
  Launcher(const Launcher&) = delete;
  Launcher& operator=(const Launcher&) = delete;

  /// The launcher's own streams, of the devices it was made for, from the first. Compute has the default priority. Communication
  /// has the device's greatest, so that it goes first whenever an SM frees room.
  [[nodiscard]] virtual std::span<const StreamPair> streams() const = 0;

  /// Whether the stream has its device's greatest priority.
  virtual Result<bool> goes_first(const Stream& stream) = 0;

  /// What one block of the kernel takes, from the driver. `dynamic_shared` is what the application itself asks for.
  virtual Result<KernelFootprint> footprint(Kernel kernel, Extent block, Bytes dynamic_shared) = 0;

  /// Enqueues one launch and returns; the thread's current device stays what it was. The kernel gets the size's dynamic shared
  /// memory plus the settings' pad; `arguments` as cuLaunchKernel takes them. Never give a pad to a kernel that synchronises its
  /// whole grid, that runs in clusters or that reads its own dynamic shared memory size. Any other setting is `invalid_input`: it
  /// acts on this project's kernels and library GEMMs alone.
  virtual Status launch(Kernel kernel, const LaunchSize& size, std::span<void*> arguments, const Stream& stream,
                        const ComputeSettings& settings) = 0;

  /// A gate for collectives on the communication streams of `streams`, which outlive it. `unavailable` where the vendor has no
  /// event that says that a kernel's blocks have begun, or the library's launches cannot be observed.
  virtual Result<std::unique_ptr<CollectiveGate>> gate(std::span<const StreamPair> streams) = 0;

  /// Waits until everything on the stream has run.
  virtual Status synchronize(const Stream& stream) = 0;

  // The calling thread's current device.
  virtual Result<DeviceIndex> current_device() = 0;
  virtual Status use_device(DeviceIndex device) = 0;

 protected:
  Launcher() = default;
};

}  // namespace elbowroom
