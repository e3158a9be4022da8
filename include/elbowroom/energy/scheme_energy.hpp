#pragma once

#include <string>
#include <vector>

#include "elbowroom/base/time.hpp"
#include "elbowroom/energy/joules.hpp"
#include "elbowroom/energy/reading.hpp"

namespace elbowroom {

/// What one schedule takes of the GPUs, and how they stood.
struct SchemeEnergy {
  JoulesPerIteration per_iteration;
  Joules idle;                   ///< what the GPUs would have taken in the same time with nothing running; part of the joules
  Microseconds span{0};          ///< measured
  std::vector<GpuState> before;  ///< of each GPU, after the warm-up
  std::vector<GpuState> after;
  std::vector<std::string> below_greatest_clock;  ///< the driver's reasons at either end, of any GPU
  std::string counter;                            ///< "nvml"
  Microseconds period{0};                         ///< from one move of the counter to the next
};

}  // namespace elbowroom
