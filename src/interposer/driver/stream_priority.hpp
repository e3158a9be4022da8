#pragma once

#include "interposer/driver/driver.hpp"

namespace elbowroom::interposer::driver {

/// Of what is launched on the stream, as the program gave it: the smaller, the earlier it runs. 0: none, or the driver cannot be
/// asked. A stream that is captured is not asked, as that breaks captures.
template <Driver D>
int priority_of(const D& driver, typename D::Stream stream) {
  const typename D::OwnCalls own(driver.calls);
  int priority = 0;
  const bool known = driver.calls.stream_get_priority != nullptr && !driver.is_captured(stream) &&
                     driver.calls.stream_get_priority(stream, &priority) == D::kSuccess;
  return known ? priority : 0;
}

}  // namespace elbowroom::interposer::driver
