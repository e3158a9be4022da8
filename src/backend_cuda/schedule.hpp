#pragma once

#include <cuda_runtime_api.h>

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
  Event begin;
  Event end;

  static Result<DeviceLanes> make(int device);
};

/// What a schedule is made of; everything outlives it.
struct Operations {
  ComputeKernel* compute = nullptr;
  const CollectiveBuffers* collective = nullptr;
  const NcclLibrary* nccl = nullptr;
  const Communicators* comms = nullptr;
};

/// Enqueues one iteration in the given order on every device, between each device's begin and end events, with no stream held.
/// Whatever is done for the first time (a kernel is loaded, a communicator connects) must be done this way: the driver may wait
/// for the device then, and on a held stream it would wait for ever.
Status enqueue_one(const Scenario& scenario, Order order, const OverlapPlan& plan, const Operations& operations,
                   const std::vector<DeviceLanes>& lanes);

/// Enqueues all iterations in the given order on every device, between each device's begin and end events. Streams are held by
/// `start` until enough is enqueued; on return everything is enqueued and released. `failed` when a call blocked the host
/// meanwhile: the streams are then released after a few seconds, and the run's time is worth nothing.
Status enqueue_schedule(const Scenario& scenario, Order order, const OverlapPlan& plan, const Operations& operations,
                        const std::vector<DeviceLanes>& lanes, StartLine& start);

/// Waits until every device has passed its end event. After `limit`, or when NCCL reports an error, gives up: `failed`.
Status await_end(const std::vector<DeviceLanes>& lanes, const Communicators* comms, std::chrono::milliseconds limit);

/// The slowest device's time between begin and end; both must have passed.
Result<Microseconds> slowest(const std::vector<DeviceLanes>& lanes);

}  // namespace headroom::cuda
