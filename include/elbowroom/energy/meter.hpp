#pragma once

#include <cstddef>
#include <string_view>

#include "elbowroom/base/result.hpp"
#include "elbowroom/energy/reading.hpp"

namespace elbowroom {

/// The energy counters of the GPUs of a run, in the order of its ranks. Calls may come from any thread, one at a time.
class EnergyMeter {
 public:
  virtual ~EnergyMeter() = default;
  EnergyMeter(const EnergyMeter&) = delete;
  EnergyMeter& operator=(const EnergyMeter&) = delete;

  /// The library that has the counters: "nvml".
  [[nodiscard]] virtual std::string_view library() const = 0;
  [[nodiscard]] virtual std::size_t gpus() const = 0;
  virtual Result<CounterReading> read(std::size_t gpu) = 0;
  virtual Result<GpuState> state(std::size_t gpu) = 0;

 protected:
  EnergyMeter() = default;
};

}  // namespace elbowroom
