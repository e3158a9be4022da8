#include "elbowroom/plan/hardware_limit.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "elbowroom/model/device_catalog.hpp"
#include "elbowroom/plan/critical_path.hpp"
#include "elbowroom/plan/lower.hpp"
#include "elbowroom/plan/program.hpp"
#include "unit/model/steps.hpp"

namespace elbowroom {
namespace {

// Of a product of 10 x 50 and 50 x 10: 2 * 10 * 10 * 50 = 10,000 flop, (500 + 500 + 100) * 2 = 2,200 B.
Scenario small_pipeline() {
  Scenario scenario;
  scenario.name = "small";
  scenario.gpus = 2;
  scenario.iterations = 4;
  scenario.compute = LibraryGemm{10, 10, 50, DataType::bf16};
  scenario.collective.bytes = Bytes(400);
  return scenario;
}

// Per microsecond: 1,000 flop, 100 B of memory, 10 B of the link.
DeviceRates slow_rates() { return {{1'000, {}}, {1'000, {}}, {100, {}}, {10, {}}, false}; }

TEST(HardwareLimit, OfTheLinkIsAllThatIsSentBehindTheFirstComputation) {
  // A sum sends 2 * (1 / 2) * 400 B: 40 us, four of them 160. The first product must read and write 2,200 B before: 22 us.
  const HardwareLimit limit = hardware_limit(step_of(small_pipeline()), slow_rates());
  ASSERT_TRUE(limit.busiest);
  EXPECT_EQ(limit.busiest->part, DevicePart::link);
  EXPECT_DOUBLE_EQ(limit.busiest->busy.count(), 160);
  EXPECT_DOUBLE_EQ(limit.busiest->unhidden.count(), 22);
  EXPECT_DOUBLE_EQ(limit.time.count(), 182);
  EXPECT_TRUE(limit.busiest->of_peak);
}

TEST(HardwareLimit, OfTheSmsLeavesTheLastCollectiveExposed) {
  // At 100 flop/us a product takes 100 us: 400, and the last sum's 40 behind it.
  DeviceRates rates = slow_rates();
  rates.bf16 = {5'000, 100};
  const HardwareLimit limit = hardware_limit(step_of(small_pipeline()), rates);
  ASSERT_TRUE(limit.busiest);
  EXPECT_EQ(limit.busiest->part, DevicePart::sms);
  EXPECT_DOUBLE_EQ(limit.time.count(), 440);
  EXPECT_DOUBLE_EQ(limit.busiest->unhidden.count(), 40);
  EXPECT_FALSE(limit.busiest->of_peak) << "100 was reached";
}

// Of e4m3 nothing is known of an A100: no limit is shown, where another type has one.
TEST(HardwareLimit, IsAbsentWithoutTheRateOfAProductsType) {
  const DeviceLimits device = *find_device("a100");
  Scenario scenario = small_pipeline();
  const auto limit = [&](DataType dtype) {
    scenario.compute = LibraryGemm{16, 16, 48, dtype};
    return hardware_limit(scenario, device, Microseconds(100), Microseconds(100));
  };
  EXPECT_TRUE(limit(DataType::bf16));
  EXPECT_TRUE(limit(DataType::f16));
  EXPECT_FALSE(limit(DataType::e4m3));
}

// At 50 flop/us in f16 a product takes 200 us: 800, and the last sum's 40 behind it.
TEST(HardwareLimit, CountsAProductAtTheRateOfItsType) {
  DeviceRates rates = slow_rates();
  rates.f16 = {50, {}};
  Scenario scenario = small_pipeline();
  scenario.compute = LibraryGemm{10, 10, 50, DataType::f16};
  EXPECT_DOUBLE_EQ(hardware_limit(step_of(scenario), rates).time.count(), 840);
}

TEST(HardwareLimit, MemoryIsSharedByBothSides) {
  // At 10 B/us: a product 220 us, a sum, which reads 400 B and writes 400 B, 80 us. All of it is memory's: 4 * 300.
  DeviceRates rates = slow_rates();
  rates.memory.peak = 10;
  const HardwareLimit limit = hardware_limit(step_of(small_pipeline()), rates);
  ASSERT_TRUE(limit.busiest);
  EXPECT_EQ(limit.busiest->part, DevicePart::memory);
  EXPECT_DOUBLE_EQ(limit.time.count(), 1'200);
  EXPECT_DOUBLE_EQ(limit.busiest->unhidden.count(), 0);
}

TEST(HardwareLimit, APartTakesNoLongerThanTheOperationDidAlone) {
  // The product took 5 us, out of a cache. The link: 5 + 160.
  const std::vector<Microseconds> alone{Microseconds(5), Microseconds(40)};
  EXPECT_DOUBLE_EQ(hardware_limit(step_of(small_pipeline()), slow_rates(), alone).time.count(), 165);
}

TEST(HardwareLimit, ASwitchThatAddsSendsLess) {
  // Of 800 B among 8 ranks: 2 * 7 / 8 * 800 = 1,400 B, with the switch (1 + 1 / 8) * 800 = 900 B; at 10 B/us 140 and 90 us.
  Step step;
  step.ranks = 8;
  step.operations = {comm_operation("sum")};
  Collective sum;
  sum.bytes = Bytes(800);
  step.operations[0].what = sum;
  DeviceRates rates = slow_rates();
  EXPECT_DOUBLE_EQ(hardware_limit(step, rates).time.count(), 140);
  rates.switch_adds = true;
  EXPECT_DOUBLE_EQ(hardware_limit(step, rates).time.count(), 90);
  // Of two ranks each sends the other its half and its half's sum: 800 B are less than 1,200 B.
  step.ranks = 2;
  EXPECT_DOUBLE_EQ(hardware_limit(step, rates).time.count(), 80);
}

TEST(HardwareLimit, OfRanksThatDifferIsThatOfTheBusiest) {
  // The front takes 10 us of SM time, sends 40 B in 4 us, the back takes 60: 14 + 60, all of which is the longest wait, too.
  const auto recorded = [](double us) {
    return RecordedKernel{"kernel", {Microseconds(us + 1), Microseconds(us)}, Blocks(1), {}, {}, {}, {}, {}};
  };
  Step step = two_stages();
  step.operations[0].what = recorded(10);
  step.operations[1].what = SendRecv{Bytes(40), DataType::bf16, 0, 1};
  step.operations[2].what = recorded(60);
  const HardwareLimit limit = hardware_limit(step, slow_rates());
  ASSERT_TRUE(limit.busiest);
  EXPECT_EQ(limit.busiest->part, DevicePart::sms);
  EXPECT_DOUBLE_EQ(limit.busiest->busy.count(), 60);
  EXPECT_DOUBLE_EQ(limit.time.count(), 74);
}

TEST(HardwareLimit, WithoutABusyPartIsWhatOperationsWaitFor) {
  // A product, a sum, a product, a sum in one chain: 2 * (22 + 40). The link is busy for 80, with 22 before: 102, memory for 60.
  Step step;
  step.operations = {compute_operation("a"), comm_operation("s", {{0, false}}), compute_operation("b", {{1, false}}),
                     comm_operation("t", {{2, false}})};
  const Scenario scenario = small_pipeline();
  step.operations[0].what = step.operations[2].what = scenario.compute;
  step.operations[1].what = step.operations[3].what = scenario.collective;
  const HardwareLimit limit = hardware_limit(step, slow_rates());
  EXPECT_FALSE(limit.busiest);
  EXPECT_DOUBLE_EQ(limit.time.count(), 124);
}

RC_GTEST_PROP(HardwareLimitProperty, IsNoLongerThanAnyScheduleOfOperationsAlone, ()) {
  Step step;
  step.repeats = *rc::gen::inRange(1, 4);
  std::vector<Microseconds> alone;
  const int count = *rc::gen::inRange(1, 6);
  for (int at = 0; at < count; ++at) {
    step.operations.push_back(*rc::gen::arbitrary<bool>() ? compute_operation("o") : comm_operation("o"));
    if (at > 0 && *rc::gen::arbitrary<bool>()) { step.operations.back().after = {{at - 1, false}}; }
    alone.emplace_back(*rc::gen::inRange(0, 1'000));
  }
  const Microseconds sequential = critical_path(step, *lower(step, Order::sequential, {}), alone);
  const DeviceRates rates = *rates_of(*find_device("h200"));
  RC_ASSERT(hardware_limit(step, rates, alone).time <= sequential * (1 + 1e-12));
}

TEST(HardwareLimit, NoDeviceReachedMoreThanItsPeaks) {
  int known = 0;
  for (const DeviceLimits& device : device_catalog()) {
    const auto rates = rates_of(device);
    if (!rates) { continue; }
    ++known;
    for (const PartRate& rate : {rates->f32, rates->bf16, rates->memory, rates->link}) {
      EXPECT_GT(rate.peak, 0) << device.name;
      EXPECT_LE(rate.best(), rate.peak) << device.name;
    }
  }
  EXPECT_GE(known, 7);
  EXPECT_FALSE(rates_of({}));
}

}  // namespace
}  // namespace elbowroom
