#include <gtest/gtest.h>

#include "elbowroom/energy/sampler.hpp"

namespace elbowroom {
namespace {

/// 100 W on each of two GPUs: a millijoule for each ten microseconds.
class Steady : public EnergyMeter {
 public:
  explicit Steady(int readings_until_failure = -1) : left_(readings_until_failure) {}
  [[nodiscard]] std::string_view library() const override { return "steady"; }
  [[nodiscard]] std::size_t gpus() const override { return 2; }
  Result<CounterReading> read(std::size_t) override {
    if (left_-- == 0) return failed("gone");
    const Microseconds now = Sampler::now();
    return CounterReading{now, Millijoules(static_cast<std::int64_t>(now.count() / 10)), Watts{100}};
  }
  Result<GpuState> state(std::size_t) override { return GpuState{41, 1755, {}, 1}; }

 private:
  int left_;
};

// A thread that the machine lets run late, here for as long as it sleeps, takes nothing from the window.
TEST(SamplerThread, ReadsBeforeAndBehindWhatItEncloses) {
  Steady meter;
  Sampler sampler(meter, Microseconds(20'000));
  const Microseconds begin = Sampler::now();
  const Microseconds end = Sampler::now();
  const Result<Sampled> sampled = sampler.stop();
  ASSERT_TRUE(sampled);
  for (const Samples& samples : sampled->samples) {
    EXPECT_LE(samples.front().at, begin);
    EXPECT_GE(samples.back().at, end);
  }
  for (const std::vector<GpuState>& states : sampled->states) EXPECT_FALSE(states.empty());
}

TEST(SamplerThread, AnswersWithTheFirstErrorWhereverItCame) {
  // Two GPUs are read before the thread: the first failure is in that, the second in the thread or behind it.
  for (const int readings : {1, 3}) {
    Steady meter(readings);
    Sampler sampler(meter, Microseconds(500));
    const Result<Sampled> sampled = sampler.stop();
    ASSERT_FALSE(sampled);
    EXPECT_EQ(sampled.error().message, "gone");
  }
}

}  // namespace
}  // namespace elbowroom
