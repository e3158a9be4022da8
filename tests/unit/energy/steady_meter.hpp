#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "elbowroom/energy/sampler.hpp"

namespace elbowroom::testing {

/// 100 W on each GPU: a millijoule for each ten microseconds.
class SteadyMeter : public EnergyMeter {
 public:
  explicit SteadyMeter(std::size_t gpus, int readings_until_failure = -1) : gpus_(gpus), left_(readings_until_failure) {}
  [[nodiscard]] std::string_view library() const override { return "steady"; }
  [[nodiscard]] std::size_t gpus() const override { return gpus_; }
  Result<CounterReading> read(std::size_t) override {
    if (left_-- == 0) { return failed("gone"); }
    const Microseconds now = Sampler::now();
    return CounterReading{now, Millijoules(static_cast<std::int64_t>(now.count() / 10)), Watts{100}};
  }
  Result<GpuState> state(std::size_t) override { return GpuState{41, 1755, {}, 1}; }

 private:
  std::size_t gpus_;
  int left_;
};

}  // namespace elbowroom::testing
