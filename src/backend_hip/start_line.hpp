#pragma once

#include <cstdint>
#include <vector>

#include "backend_hip/device_code.hpp"
#include "backend_hip/handles.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::hip {

/// Holds streams back until everything is enqueued, so that a schedule's time holds no host time. A held stream waits for a word of
/// memory: through the runtime where the device has a packet for that, else in a kernel of one wave. Whatever happens, destruction
/// releases the streams.
class StartLine {
 public:
  /// For streams of devices 0..gpus-1.
  static Result<StartLine> make(DeviceCode& code, int gpus);
  StartLine(StartLine&& other) noexcept = default;
  StartLine& operator=(StartLine&&) = delete;
  ~StartLine() { release(); }

  /// Everything enqueued on `stream` of `device`, which must be current, after this call waits for the next release().
  Status hold(int device, HipStream stream);
  void release();

 private:
  StartLine(const HipLibrary& hip, Memory word) : hip_(&hip), word_(std::move(word)) {}

  const HipLibrary* hip_;
  Memory word_;
  std::vector<HipFunction> waiting_kernels_;  ///< one for each device; none where the runtime can wait
  std::uint64_t round_ = 1;
};

}  // namespace elbowroom::hip
