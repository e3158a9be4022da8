#pragma once

#include <cuda_runtime_api.h>

#include <array>
#include <chrono>
#include <vector>

#include "backend_cuda/collective.hpp"
#include "backend_cuda/communicators.hpp"
#include "backend_cuda/compute_kernel.hpp"
#include "backend_cuda/handles.hpp"
#include "backend_cuda/start_line.hpp"
#include "headroom/backend/backend.hpp"
#include "headroom/base/time.hpp"

namespace headroom::cuda {

/// The streams and events of one device. Compute and plain communication have the default priority, urgent communication the
/// device's greatest.
struct DeviceLanes {
  Stream compute;
  Stream comm;
  Stream urgent_comm;
  Event compute_done;  ///< orders a collective behind its compute
  Event comm_done;     ///< joins the communication stream at the end
  Event comm_begun;    ///< launch gate: all blocks of the latest collective have begun
  Event begin;
  Event end;
  /// What the host waits for before it enqueues further, for the two latest windows of iterations.
  std::array<Event, 2> compute_window;
  std::array<Event, 2> comm_window;

  static Result<DeviceLanes> make(int device);
};

/// What a schedule is made of; everything outlives it.
struct Operations {
  ComputeKernel* compute = nullptr;
  const CollectiveBuffers* collective = nullptr;
  const NcclLibrary* nccl = nullptr;
  const Communicators* comms = nullptr;
};

/// How long a schedule may take, from when it is begun to be enqueued.
class Deadline {
 public:
  Deadline(std::chrono::milliseconds limit, const Communicators* comms)
      : limit_(limit), until_(std::chrono::steady_clock::now() + limit), comms_(comms) {}

  /// Polls until the device has passed `event`. `failed` after the limit, or when NCCL reports an error; the schedule must then be
  /// given up.
  Status await(cudaEvent_t event, std::size_t device) const;

 private:
  std::chrono::milliseconds limit_;
  std::chrono::steady_clock::time_point until_;
  const Communicators* comms_;
};

/// The streams that a run takes on each device.
struct LaneStreams {
  std::vector<cudaStream_t> compute;
  std::vector<cudaStream_t> comm;
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
/// the first time (a kernel is loaded, a communicator connects) must be done this way: the driver may wait for the device then, and
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
Result<Microseconds> slowest(const std::vector<DeviceLanes>& lanes);

}  // namespace headroom::cuda
