#pragma once

#include <vector>

#include "backend/schedule.hpp"
#include "backend_gpu/collective.hpp"
#include "backend_gpu/compute_kernel.hpp"
#include "backend_gpu/handles.hpp"
#include "backend_gpu/platform.hpp"
#include "backend_gpu/start_line.hpp"

namespace elbowroom::gpu {

struct Lanes : elbowroom::detail::DeviceLanes<Stream, Event> {
  Event comm_begun;  ///< launch gate: all blocks of the latest collective have begun
};

Result<Lanes> make_lanes(const Runtime& runtime, int device);

/// What a schedule is enqueued with (backend/schedule.hpp says what each call does). Everything it is made of outlives it.
class ScheduleCalls {
 public:
  using Stream = StreamHandle;
  using Lanes = gpu::Lanes;
  using StartLine = gpu::StartLine;

  struct Parts {
    const Platform& platform;
    ComputeKernel& compute;
    const CollectiveBuffers& collective;
    CommRoute in_windows;
    CommRoute outside;
  };
  ScheduleCalls(const Parts& parts, const std::vector<Lanes>& lanes);

  Status use(std::size_t device) const { return runtime().use_device(static_cast<int>(device)); }
  Status hold(StartLine& start, std::size_t device, Stream stream) const { return start.hold(static_cast<int>(device), stream); }
  Status record(const Event& event, Stream stream) const;
  Status wait(Stream stream, const Event& event) const;
  Status compute(std::size_t device, Stream stream, const OverlapPlan& plan) const;
  Status collective(elbowroom::detail::Place place, const std::vector<Stream>& streams) const;
  Status gated_collective(const std::vector<Stream>& streams, const std::vector<Stream>& gated) const;
  Result<bool> passed(const Event& event) const;
  Result<Microseconds> between(const Event& begin, const Event& end) const;
  Status healthy() const;

 private:
  [[nodiscard]] const Runtime& runtime() const { return parts_.platform.runtime(); }

  Parts parts_;
  std::vector<EventHandle> comm_begun_;
};

}  // namespace elbowroom::gpu
