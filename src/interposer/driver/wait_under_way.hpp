#pragma once

#include "interposer/core/core.hpp"

namespace elbowroom::interposer::driver {

/// The scope in which the driver is called to make a stream wait, and the core is told that it did. `begun` is what
/// Core::before_stream_wait or Core::before_allocation said.
class WaitUnderWay {
 public:
  WaitUnderWay(Core& core, StreamId stream, bool begun) : core_(core), stream_(stream), begun_(begun) {}
  ~WaitUnderWay() {
    if (begun_) { core_.after_wait(stream_); }
  }
  WaitUnderWay(const WaitUnderWay&) = delete;
  WaitUnderWay& operator=(const WaitUnderWay&) = delete;

 private:
  Core& core_;
  StreamId stream_;
  bool begun_;
};

}  // namespace elbowroom::interposer::driver
