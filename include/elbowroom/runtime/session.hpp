#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "elbowroom/backend/backend.hpp"
#include "elbowroom/backend/launcher.hpp"
#include "elbowroom/base/export.hpp"
#include "elbowroom/base/notice.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/scenario.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/runtime/kernel.hpp"
#include "elbowroom/tune/profile.hpp"

namespace elbowroom {

struct SessionOptions {
  std::string backend = "auto";
  std::optional<int> gpus;  ///< the first so many devices; absent: all
  NoticeSink notice;
};

/// A device that a session launches on, and its streams there.
struct SessionDevice {
  DeviceInfo info;
  StreamPair streams;
  bool comm_goes_first = false;  ///< whether the communication stream has the device's greatest priority
};

/// The calling thread's current device is another one while this lives, and then the one that it was before. Of the thread that
/// made it, which also ends it.
class ELBOWROOM_API DeviceGuard {
 public:
  DeviceGuard(DeviceGuard&&) noexcept = default;
  DeviceGuard& operator=(DeviceGuard&&) = delete;
  ~DeviceGuard();

 private:
  friend class Session;
  DeviceGuard(std::shared_ptr<Launcher> launcher, DeviceIndex before) : launcher_(std::move(launcher)), before_(before) {}

  std::shared_ptr<Launcher> launcher_;
  DeviceIndex before_;
};

/// What an application needs that writes its own launches. For each device it has two streams in the right order of priority.
/// Launches are padded as a plan says, and a gate goes around collectives. Plans may be those chosen for its kernels. Collectives
/// are the application's own calls, on the communication streams. Devices, streams and kernels come and go by type:
/// interop/cuda.hpp and interop/hip.hpp make them of what the vendor's runtime has. One thread at a time; a session and what came
/// from it leave a thread's current device as it was.
class ELBOWROOM_API Session {
 public:
  /// With streams of its own. Costs the start of the vendor's runtime: up to seconds. `unavailable` where no backend can launch
  /// kernels; `invalid_input` when there are fewer devices than asked for.
  static Result<Session> open(const SessionOptions& options);

  /// On streams that exist, at most one pair for each device, which the application keeps alive longer than the session. Nothing of
  /// theirs is changed: where a communication stream has not its device's greatest priority, plans with `priority` are refused.
  /// `invalid_input` for streams of two backends, two pairs of one device, a pair of two devices, or none.
  static Result<Session> attach(std::span<const StreamPair> streams, const NoticeSink& notice = {});

  Session(Session&&) noexcept;
  Session& operator=(Session&&) noexcept;
  ~Session();

  /// At least one. Of an opened session the first devices in their order, of an attached one those of its streams.
  [[nodiscard]] std::span<const SessionDevice> devices() const { return devices_; }

  /// Makes the device current for vendor calls of the application.
  Result<DeviceGuard> use(const SessionDevice& device);

  /// The plan that holds `kernel` at `residency` blocks per SM with the least pad, from the live kernel and device. `invalid_input`
  /// says why that residency cannot be enforced.
  template <class... Parameters>
  Result<OverlapPlan> shape(const KernelOf<Parameters...>& kernel, const LaunchSize& size, BlocksPerSm residency) {
    return shape_of(kernel.untyped(), size, residency);
  }

  /// What the profile holds for this kernel beside that collective. Of `scenario` count the amounts of computation and
  /// communication, the operation, ranks, pattern and iterations; the kernel is the application's. `unavailable` says what the
  /// profile lacks and what the nearest choice is for; `invalid_input` that the stored plan cannot act here. What of it a launch
  /// carries out, and what the application has to do, parts_of() tells.
  template <class... Parameters>
  Result<StoredChoice> stored_choice(const KernelOf<Parameters...>& kernel, const LaunchSize& size, const Scenario& scenario,
                                     const Profile& profile) {
    return stored_choice_of(kernel.untyped(), size, scenario, profile);
  }

  /// Enqueues one launch with exactly the kernel's parameters and returns; as Launcher::launch, where it says what must not be
  /// padded. `priority` acts through the stream. `invalid_input` names any other control: one launch cannot carry it out. So it
  /// names a stream or kernel of another vendor, or of a device that is not the session's.
  template <class... Parameters>
  Status launch(const KernelOf<Parameters...>& kernel, const LaunchSize& size, const Stream& stream, const OverlapPlan& plan,
                const std::type_identity_t<Parameters>&... arguments) {
    KernelArguments<Parameters...> values(arguments...);
    return launch_of(kernel.untyped(), size, stream, plan, values.addresses());
  }

  /// A gate for collectives on the session's communication streams, which lives at most as long as the session. On CUDA open the
  /// session before the application first calls NCCL, and let both use the same libnccl.so.2. Launches of a copy that has already
  /// asked for the driver are not seen. `unavailable` where there is no gate (HIP).
  Result<std::unique_ptr<CollectiveGate>> launch_gate();

  /// Waits until everything on the session's streams has run.
  Status synchronize();

 private:
  Session(std::unique_ptr<Backend> backend, std::shared_ptr<Launcher> launcher, std::vector<SessionDevice> devices);
  static Result<Session> on(std::unique_ptr<Backend> backend, std::unique_ptr<Launcher> launcher,
                            std::span<const StreamPair> streams);

  Result<OverlapPlan> shape_of(const Kernel& kernel, const LaunchSize& size, BlocksPerSm residency);
  Result<StoredChoice> stored_choice_of(const Kernel& kernel, const LaunchSize& size, const Scenario& scenario,
                                        const Profile& profile);
  Status launch_of(const Kernel& kernel, const LaunchSize& size, const Stream& stream, const OverlapPlan& plan,
                   std::span<void*> arguments);
  [[nodiscard]] Status is_here(std::string_view what, std::string_view backend) const;

  std::unique_ptr<Backend> backend_;
  std::shared_ptr<Launcher> launcher_;
  std::vector<SessionDevice> devices_;
};

}  // namespace elbowroom
