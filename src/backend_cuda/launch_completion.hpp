#pragma once

#include <cuda_runtime_api.h>

#include <vector>

#include "backend/dynamic_library.hpp"
#include "backend_cuda/cuda_calls.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::cuda {

/// The launch gate's sensor: an event that a collective's launch records once all its blocks have begun. The library launches its
/// kernels itself and offers no such event. So its way to the driver's launch function is led through a function of ours. That adds
/// one attribute to the launch and changes nothing else. Nothing in the library's code or in other libraries' launches is touched.
///
/// To be called on a library before it first calls CUDA. `unavailable` when its launches cannot be reached.
Status observe_launches_of(const elbowroom::detail::DynamicLibrary& library);

/// While this lives, launches by this thread's library calls record an event. One at a time in a thread.
class LaunchCompletion {
 public:
  /// A launch on streams[i] records events[i]. Both outlive this.
  LaunchCompletion(const std::vector<gpu::StreamHandle>& streams, const std::vector<gpu::EventHandle>& events);
  ~LaunchCompletion();
  LaunchCompletion(const LaunchCompletion&) = delete;
  LaunchCompletion& operator=(const LaunchCompletion&) = delete;

  /// `failed` when a stream saw no launch, so that its event says nothing.
  [[nodiscard]] Status every_stream_launched() const;

  /// Called by the hook. Null when the launch is on no stream of ours; the event counts as recorded.
  cudaEvent_t event_for(cudaStream_t stream);

 private:
  const std::vector<gpu::StreamHandle>& streams_;
  const std::vector<gpu::EventHandle>& events_;
  std::vector<bool> launched_;
};

}  // namespace elbowroom::cuda
