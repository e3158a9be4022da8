#include <gtest/gtest.h>

#include "elbowroom/energy/sampler.hpp"
#include "unit/energy/steady_meter.hpp"

namespace elbowroom {
namespace {

using testing::SteadyMeter;

// A thread that the machine lets run late, here for as long as it sleeps, takes nothing from the span.
TEST(SamplerThread, ReadsBeforeAndBehindWhatItEncloses) {
  SteadyMeter meter(2);
  Sampler sampler(meter, Microseconds(20'000));
  const Microseconds begin = Sampler::now();
  const Microseconds end = Sampler::now();
  const Result<Sampled> sampled = sampler.stop();
  ASSERT_TRUE(sampled);
  for (const Samples& samples : sampled->samples) {
    EXPECT_LE(samples.front().at, begin);
    EXPECT_GE(samples.back().at, end);
  }
  for (const std::vector<GpuState>& states : sampled->states) { EXPECT_FALSE(states.empty()); }
}

TEST(SamplerThread, AnswersWithTheFirstErrorWhereverItCame) {
  // Two GPUs are read before the thread: the first failure is in that, the second in the thread or behind it.
  for (const int readings : {1, 3}) {
    SteadyMeter meter(2, readings);
    Sampler sampler(meter, Microseconds(500));
    const Result<Sampled> sampled = sampler.stop();
    ASSERT_FALSE(sampled);
    EXPECT_EQ(sampled.error().message, "gone");
  }
}

}  // namespace
}  // namespace elbowroom
