#pragma once

#include <compare>
#include <cstddef>
#include <map>
#include <optional>
#include <vector>

#include "backend_gpu/collective.hpp"
#include "backend_gpu/compute_kernel.hpp"
#include "backend_gpu/handles.hpp"
#include "backend_gpu/meeting.hpp"
#include "backend_gpu/platform.hpp"
#include "backend_gpu/ranks_here.hpp"
#include "backend_gpu/start_line.hpp"
#include "elbowroom/plan/launch_settings.hpp"

namespace elbowroom {

struct Launch;

}  // namespace elbowroom

namespace elbowroom::gpu {

/// The events of one device, by their numbers in a program (backend/schedule.hpp): two timed ones, then ordering ones.
using DeviceEvents = std::vector<Event>;

Result<DeviceEvents> make_timed_events(const Runtime& runtime, int device);
/// So that there are at least `count`.
Status add_ordering_events(const Runtime& runtime, int device, std::size_t count, DeviceEvents& events);

/// A collective as it is launched.
struct CommUse {
  int operation = 0;
  int lane = 0;
  CommSettings settings;
  auto operator<=>(const CommUse&) const = default;
};

/// One communicator's part of it.
struct GroupUse {
  const CollectiveBuffers* buffers = nullptr;
  CommRoute route;
};

/// What a program is enqueued with (backend/schedule.hpp says what each call does). Its devices are those of the ranks here, in
/// their order. Everything it is made of outlives it.
class ScheduleCalls {
 public:
  using StartLine = gpu::StartLine;

  struct Parts {
    const Platform& platform;
    std::vector<ComputeKernel*> computations;         ///< by operation; null: it communicates
    std::map<CommUse, std::vector<GroupUse>> groups;  ///< of each communicator of the operation
    std::vector<std::vector<StreamHandle>> streams;   ///< by lane and device
    const std::vector<DeviceEvents>& events;          ///< by device
    const RanksHere& ranks;                           ///< by device
    const Meeting* meeting;                           ///< null: no other process takes part
  };
  explicit ScheduleCalls(Parts parts) : parts_(std::move(parts)) {}

  [[nodiscard]] std::size_t devices() const { return parts_.events.size(); }
  [[nodiscard]] int number(std::size_t device) const { return parts_.ranks[device].device; }
  Status use(std::size_t device) const { return runtime().use_device(number(device)); }
  Status hold(StartLine& start, std::size_t device, int lane) const { return start.hold(number(device), stream(device, lane)); }
  Status meet() const;
  Status record(std::size_t device, int lane, int event) const;
  Status wait(std::size_t device, int lane, int event) const;
  Status compute(std::size_t device, const Launch& launch) const;
  /// All communicators' groups of calls, one after the other: each is complete by itself.
  Status communicate(const Launch& launch, std::optional<int> begun) const;
  Result<bool> passed(std::size_t device, int event) const;
  Result<Microseconds> took(std::size_t device) const;
  Status healthy() const;

 private:
  [[nodiscard]] const Runtime& runtime() const { return parts_.platform.runtime(); }
  [[nodiscard]] StreamHandle stream(std::size_t device, int lane) const {
    return parts_.streams[static_cast<std::size_t>(lane)][device];
  }
  [[nodiscard]] std::vector<StreamHandle> streams_of(const GroupUse& group, int lane) const;
  [[nodiscard]] EventHandle event(std::size_t device, int number) const {
    return parts_.events[device][static_cast<std::size_t>(number)].get();
  }

  Parts parts_;
};

}  // namespace elbowroom::gpu
