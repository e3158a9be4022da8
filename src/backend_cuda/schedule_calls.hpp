#pragma once

#include <cuda_runtime_api.h>

#include <vector>

#include "backend/schedule.hpp"
#include "backend_cuda/collective.hpp"
#include "backend_cuda/compute_kernel.hpp"
#include "backend_cuda/handles.hpp"
#include "backend_cuda/start_line.hpp"

namespace elbowroom::cuda {

struct Lanes : elbowroom::detail::DeviceLanes<Stream, Event> {
  Event comm_begun;  ///< launch gate: all blocks of the latest collective have begun
};

Result<Lanes> make_lanes(int device);

/// What a schedule is enqueued with (backend/schedule.hpp says what each call does). Everything it is made of outlives it.
class ScheduleCalls {
 public:
  using Stream = cudaStream_t;
  using Lanes = cuda::Lanes;
  using StartLine = cuda::StartLine;

  struct Parts {
    ComputeKernel& compute;
    const CollectiveBuffers& collective;
    const NcclLibrary& nccl;
    CommRoute in_windows;
    CommRoute outside;
  };
  ScheduleCalls(const Parts& parts, const std::vector<Lanes>& lanes);

  Status use(std::size_t device) const { return use_device(static_cast<int>(device)); }
  Status hold(StartLine& start, std::size_t, cudaStream_t stream) const { return start.hold(stream); }
  Status record(const Event& event, cudaStream_t stream) const;
  Status wait(cudaStream_t stream, const Event& event) const;
  Status compute(std::size_t device, cudaStream_t stream, const OverlapPlan& plan) const;
  Status collective(elbowroom::detail::Place place, const std::vector<cudaStream_t>& streams) const;
  Status gated_collective(const std::vector<cudaStream_t>& streams, const std::vector<cudaStream_t>& gated) const;
  Result<bool> passed(const Event& event) const;
  Result<Microseconds> between(const Event& begin, const Event& end) const;
  Status healthy() const;

 private:
  Parts parts_;
  std::vector<cudaEvent_t> comm_begun_;
};

}  // namespace elbowroom::cuda
