#pragma once

namespace elbowroom::sim {

/// One device as the engine sees it. Times in microseconds, rates in bytes per microsecond.
struct Machine {
  int sms = 1;
  int gpcs = 1;  ///< SMs are dealt to them in turn; a cluster lies within one
  double memory_rate = 1;
  double memory_knee = 2;   ///< how sharply latency rises near saturation: exponent of the norm that joins demand and rate
  double link_knee = 3;     ///< the same for the links
  double launch_gap = 0;    ///< from a kernel's end to the start of the next one on its stream
  double event_gap = 0;     ///< from a kernel's end or begin to the start of one that waits for it on another stream
  double block_spread = 0;  ///< blocks take 1 +- this of their time, by a fixed sequence
  double copy_rate = 0;     ///< most of a copy to peers by copy engines, see copy_rate(); 0: no collective uses them
  double copy_gap = 0;      ///< from what comes before such a copy on its stream to its begin
};

}  // namespace elbowroom::sim
