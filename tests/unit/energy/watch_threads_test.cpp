#include <gtest/gtest.h>

#include "elbowroom/energy/sampler.hpp"
#include "elbowroom/energy/watch.hpp"
#include "unit/energy/steady_meter.hpp"

namespace elbowroom {
namespace {

using testing::SteadyMeter;

/// Never moves.
class Stuck final : public SteadyMeter {
 public:
  Stuck() : SteadyMeter(1) {}
  Result<CounterReading> read(std::size_t) override { return CounterReading{Sampler::now(), Millijoules(7)}; }
};

template <class... Meters>
Result<std::vector<MeteredGpu>> gpus_of(Meters... meters) {
  std::vector<MeteredGpu> gpus;
  (gpus.push_back({"gpu", std::unique_ptr<EnergyMeter>(std::move(meters))}), ...);
  return gpus;
}

TEST(EnergyWatchThread, SeesAMoveBehindWhatWasWatched) {
  EnergyWatch watch([] { return gpus_of(std::make_unique<SteadyMeter>(1), std::make_unique<SteadyMeter>(1)); }, Microseconds(500));
  const Microseconds begin = Sampler::now();
  const Result<std::vector<WatchedGpu>> seen = watch.stop();
  ASSERT_TRUE(seen);
  ASSERT_EQ(seen->size(), 2U);
  for (const WatchedGpu& gpu : *seen) {
    EXPECT_EQ(gpu.counter, "steady");
    EXPECT_FALSE(gpu.trouble);
    EXPECT_GT(gpu.history.last_move(), begin);
    EXPECT_EQ(gpu.history.conditions(Microseconds(0), Sampler::now()).celsius, 41);
  }
}

TEST(EnergyWatchThread, OneGpuThatFailsEndsNoOther) {
  EnergyWatch watch(
      [] {
        auto gpus = gpus_of(std::make_unique<SteadyMeter>(1, 1), std::make_unique<SteadyMeter>(1));
        gpus->push_back({"partition", unavailable("MIG is on")});
        return gpus;
      },
      Microseconds(500));
  const Microseconds begin = Sampler::now();
  const Result<std::vector<WatchedGpu>> seen = watch.stop();
  ASSERT_TRUE(seen);
  ASSERT_EQ(seen->size(), 3U);
  EXPECT_EQ((*seen)[0].trouble, "gone");
  EXPECT_FALSE((*seen)[1].trouble);
  EXPECT_GT((*seen)[1].history.last_move(), begin);
  EXPECT_EQ((*seen)[2].trouble, "MIG is on");
  EXPECT_FALSE((*seen)[2].counter);
}

TEST(EnergyWatchThread, SaysWhyNothingCouldBeOpened) {
  EnergyWatch watch([]() -> Result<std::vector<MeteredGpu>> { return unavailable("no library"); }, Microseconds(500));
  const Result<std::vector<WatchedGpu>> seen = watch.stop();
  ASSERT_FALSE(seen);
  EXPECT_EQ(seen.error().message, "no library");
}

TEST(EnergyWatchThread, WaitsForNoCounterThatNeverMoves) {
  EnergyWatch watch([] { return gpus_of(std::make_unique<Stuck>()); }, Microseconds(500));
  const Microseconds begin = Sampler::now();
  ASSERT_TRUE(watch.stop());
  const Microseconds took = Sampler::now() - begin;
  EXPECT_GE(took, EnergyWatch::kLongestWait);
  EXPECT_LT(took, EnergyWatch::kLongestWait * 10);
}

}  // namespace
}  // namespace elbowroom
