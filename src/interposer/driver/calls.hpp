#pragma once

#include <cstdint>

#include "interposer/process/routes.hpp"

namespace elbowroom::interposer::driver {

/// Fills an entry of a table of calls: null where the loaded driver lacks the function.
template <class Call>
void find_call(Call& call, const char* name) {
  call = reinterpret_cast<Call>(process::driver_function(name));
}

/// Lets calls that a global stream capture forbids through on this thread, for a scope. `kRelaxed` is the driver's number of that
/// mode.
template <class Calls, int kRelaxed>
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const Calls& calls) : calls_(calls) { exchange(); }
  ~RelaxedCapture() { exchange(); }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  void exchange() {
    if (calls_.exchange_capture_mode != nullptr) { calls_.exchange_capture_mode(&mode_); }
  }

  const Calls& calls_;
  int mode_ = kRelaxed;
};

/// An attribute of a device, which is above 0 where it is known.
template <class Calls>
std::uint32_t device_attribute(const Calls& calls, int device, int which, std::uint32_t otherwise = 0) {
  int value = 0;
  const bool known = calls.device_get_attribute != nullptr && calls.device_get_attribute(&value, which, device) == 0;
  return known && value > 0 ? static_cast<std::uint32_t>(value) : otherwise;
}

}  // namespace elbowroom::interposer::driver
