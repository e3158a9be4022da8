#pragma once

#include <array>
#include <chrono>
#include <vector>

#include "backend_hip/collective.hpp"
#include "backend_hip/communicators.hpp"
#include "backend_hip/compute_kernel.hpp"
#include "backend_hip/handles.hpp"
#include "backend_hip/start_line.hpp"
#include "headroom/backend/backend.hpp"
#include "headroom/base/time.hpp"

namespace headroom::hip {

/// The streams and events of one device. Compute and plain communication have the default priority, urgent communication the
/// device's greatest.
struct DeviceLanes {
  Stream compute;
  Stream comm;
  Stream urgent_comm;
  Event compute_done;  ///< orders a collective behind its compute
  Event comm_done;     ///< joins the communication stream at the end
  Event begin;
  Event end;
  /// What the host waits for before it enqueues further, for the two latest windows of iterations.
  std::array<Event, 2> compute_window;
  std::array<Event, 2> comm_window;

  static Result<DeviceLanes> make(const HipLibrary& hip, int device);
};

/// What a schedule is made of; everything outlives it.
struct Operations {
  const HipLibrary* hip = nullptr;
  ComputeKernel* compute = nullptr;
  const CollectiveBuffers* collective = nullptr;
  const RcclLibrary* rccl = nullptr;
  const Communicators* comms = nullptr;
};

/// How long a schedule may take, from when it is begun to be enqueued.
class Deadline {
 public:
  Deadline(const HipLibrary& hip, std::chrono::milliseconds limit, const Communicators& comms)
      : hip_(hip), limit_(limit), until_(std::chrono::steady_clock::now() + limit), comms_(comms) {}

  /// Polls until the device has passed `event`. `failed` after the limit, or when RCCL reports an error; the schedule must then be
  /// given up.
  Status await(HipEvent event, std::size_t device) const;

 private:
  const HipLibrary& hip_;
  std::chrono::milliseconds limit_;
  std::chrono::steady_clock::time_point until_;
  const Communicators& comms_;
};

/// The streams that a run takes on each device.
struct LaneStreams {
  std::vector<HipStream> compute;
  std::vector<HipStream> comm;
};

/// One run; everything it refers to outlives it.
struct Schedule {
  const Scenario& scenario;
  Order order;
  const OverlapPlan& plan;
  Operations operations;
  const std::vector<DeviceLanes>& lanes;
  LaneStreams streams;
};

/// Enqueues one iteration on every device, between each device's begin and end events, with no stream held. Whatever is done for
/// the first time (a kernel is loaded, a communicator connects) must be done this way: the runtime may wait for the device then, and
/// on a held stream it would wait for ever.
Status enqueue_one(const Schedule& schedule);

/// Enqueues all iterations on every device, between each device's begin and end events. Streams are held by `start` until enough is
/// enqueued; on return everything is enqueued and released. At most two windows of iterations are ahead of the devices, so that no
/// launch ever waits for a full queue and the deadline is kept whatever hangs. `failed` when a call blocked the host while the
/// streams were held: they are then released after a few seconds, and the run's time is worth nothing.
Status enqueue_schedule(const Schedule& schedule, StartLine& start, const Deadline& deadline);

/// Waits until every device has passed its end event.
Status await_end(const std::vector<DeviceLanes>& lanes, const Deadline& deadline);

/// The slowest device's time between begin and end; both must have passed.
Result<Microseconds> slowest(const HipLibrary& hip, const std::vector<DeviceLanes>& lanes);

}  // namespace headroom::hip
