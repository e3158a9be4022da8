#pragma once

#include <vector>

#include "backend/schedule.hpp"
#include "backend_hip/collective.hpp"
#include "backend_hip/communicators.hpp"
#include "backend_hip/compute_kernel.hpp"
#include "backend_hip/handles.hpp"
#include "backend_hip/start_line.hpp"

namespace elbowroom::hip {

using Lanes = elbowroom::detail::DeviceLanes<Stream, Event>;

Result<Lanes> make_lanes(const HipLibrary& hip, int device);

/// What a schedule is enqueued with (backend/schedule.hpp says what each call does). Everything it is made of outlives it.
class ScheduleCalls {
 public:
  using Stream = HipStream;
  using Lanes = hip::Lanes;
  using StartLine = hip::StartLine;

  struct Parts {
    const HipLibrary& hip;
    ComputeKernel& compute;
    const CollectiveBuffers& collective;
    const RcclLibrary& rccl;
    const Communicators& in_windows;
    const Communicators& outside;
  };
  explicit ScheduleCalls(const Parts& parts) : parts_(parts) {}

  Status use(std::size_t device) const { return parts_.hip.use_device(static_cast<int>(device)); }
  Status hold(StartLine& start, std::size_t device, HipStream stream) const { return start.hold(static_cast<int>(device), stream); }
  Status record(const Event& event, HipStream stream) const;
  Status wait(HipStream stream, const Event& event) const;
  Status compute(std::size_t device, HipStream stream, const OverlapPlan& plan) const;
  Status collective(elbowroom::detail::Place place, const std::vector<HipStream>& streams) const;
  /// Always `invalid_input`: the workload accepts no plan with a launch gate.
  Status gated_collective(const std::vector<HipStream>& streams, const std::vector<HipStream>& gated) const;
  Result<bool> passed(const Event& event) const;
  Result<Microseconds> between(const Event& begin, const Event& end) const;
  Status healthy() const;

 private:
  Parts parts_;
};

/// Says why no plan with a launch gate is accepted.
Status no_launch_gate();

}  // namespace elbowroom::hip
