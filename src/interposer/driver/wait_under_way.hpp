#pragma once

#include "interposer/core/core.hpp"

namespace elbowroom::interposer::driver {

/// The scope in which the driver is called to make a stream wait, and the core is told that it did. `wait` is what
/// Core::before_stream_wait or Core::before_allocation said.
class WaitUnderWay {
 public:
  WaitUnderWay(Core& core, WaitId wait) : core_(core), wait_(wait) {}
  ~WaitUnderWay() {
    if (wait_ != 0) { core_.after_wait(wait_); }
  }
  WaitUnderWay(const WaitUnderWay&) = delete;
  WaitUnderWay& operator=(const WaitUnderWay&) = delete;

 private:
  Core& core_;
  WaitId wait_;
};

}  // namespace elbowroom::interposer::driver
