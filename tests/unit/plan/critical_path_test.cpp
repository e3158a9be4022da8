#include "elbowroom/plan/critical_path.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>

#include "elbowroom/plan/lower.hpp"
#include "elbowroom/plan/program.hpp"
#include "unit/model/steps.hpp"

namespace elbowroom {
namespace {

double path(Pattern pattern, int iterations, double compute, double comm) {
  Scenario scenario;
  scenario.pattern = pattern;
  scenario.iterations = iterations;
  return critical_path(scenario, Microseconds(compute), Microseconds(comm)).count();
}

TEST(CriticalPath, PipelineCannotHideItsLastCollective) {
  // 8 x 100 us compute, 8 x 50 us collective: 800 + 50; the other order, 100 + 400, is shorter.
  EXPECT_DOUBLE_EQ(path(Pattern::pipeline, 8, 800.0, 400.0), 850.0);
}

TEST(CriticalPath, PipelineCannotHideItsFirstCompute) {
  // 8 x 50 us compute, 8 x 100 us collective: 50 + 800.
  EXPECT_DOUBLE_EQ(path(Pattern::pipeline, 8, 400.0, 800.0), 850.0);
}

TEST(CriticalPath, OneIterationOfAPipelineHidesNothing) { EXPECT_DOUBLE_EQ(path(Pattern::pipeline, 1, 300.0, 200.0), 500.0); }

TEST(CriticalPath, PairHidesTheShorterSide) {
  EXPECT_DOUBLE_EQ(path(Pattern::pair, 4, 300.0, 200.0), 300.0);
  EXPECT_DOUBLE_EQ(path(Pattern::pair, 4, 200.0, 300.0), 300.0);
}

RC_GTEST_PROP(CriticalPathProperty, OfAScenarioIsTheClosedForm, ()) {
  const int iterations = *rc::gen::inRange(1, 40);
  const double compute = *rc::gen::inRange(0, 10'000);
  const double comm = *rc::gen::inRange(0, 10'000);
  const double expected = std::max(compute + comm / iterations, compute / iterations + comm);
  RC_ASSERT(std::abs(path(Pattern::pipeline, iterations, compute, comm) - expected) <= 1e-9 * expected);
  RC_ASSERT(std::abs(path(Pattern::pair, iterations, compute, comm) - std::max(compute, comm)) <= 1e-9 * expected);
}

double path(const Step& step, const std::vector<Microseconds>& alone, Order order = Order::concurrent, bool gated = false) {
  OverlapPlan plan;
  plan.launch_gate = gated;
  return critical_path(step, *lower(step, order, plan), alone).count();
}

constexpr Microseconds us(double count) { return Microseconds(count); }

TEST(CriticalPath, LanesRunInTurnAndEdgesAreWaitedFor) {
  // a 10, b 20 on one lane; the sum of a, 15, ends at 25; c on its own lane waits for the sum and takes 30: 55. b ends at 30.
  Step step;
  step.operations = {compute_operation("a"), comm_operation("sum", {{0, false}}), compute_operation("b"),
                     compute_operation("c", {{1, false}})};
  step.operations[3].lane = "side";
  EXPECT_DOUBLE_EQ(path(step, {us(10), us(15), us(20), us(30)}), 55);
  // On one lane all follow each other.
  EXPECT_DOUBLE_EQ(path(step, {us(10), us(15), us(20), us(30)}, Order::sequential), 75);
}

TEST(CriticalPath, AGateWaitsForABegin) {
  // The second computation waits until the first sum has begun, which is behind the first of two others on its lane: 40 + 10,
  // not 20.
  Step step;
  step.operations = {comm_operation("first"), comm_operation("sum"), compute_operation("a")};
  EXPECT_DOUBLE_EQ(path(step, {us(40), us(1), us(10)}), 41);
  EXPECT_DOUBLE_EQ(path(step, {us(40), us(1), us(10)}, Order::concurrent, true), 50);
}

TEST(CriticalPath, RanksWaitForEachOtherWhereTheyCommunicate) {
  // The front computes 10 twice, sends 2 each time; the back computes 20 behind each: 10 + 2 + 20 + 20.
  Step step = two_stages();
  step.repeats = 2;
  EXPECT_DOUBLE_EQ(path(step, {us(10), us(2), us(20)}), 52);
  // A sum over all ranks begins when the back is done: 52 + 5. Without edges it would begin at once.
  step.operations.push_back(comm_operation("sum", {{0, false}, {2, false}}));
  step.operations[3].lane = "other";
  step.repeats = 1;
  EXPECT_DOUBLE_EQ(path(step, {us(10), us(2), us(20), us(5)}), 37);
}

RC_GTEST_PROP(CriticalPathProperty, LiesBetweenTheLongestLaneAndTheSum, ()) {
  Step step;
  step.repeats = *rc::gen::inRange(1, 4);
  std::vector<Microseconds> alone;
  double sum = 0;
  double sides[2] = {0, 0};
  for (int at = 0; at < *rc::gen::inRange(1, 6); ++at) {
    const bool computing = *rc::gen::arbitrary<bool>();
    step.operations.push_back(computing ? compute_operation("o") : comm_operation("o"));
    if (at > 0 && *rc::gen::arbitrary<bool>()) { step.operations.back().after = {{at - 1, false}}; }
    alone.push_back(us(*rc::gen::inRange(0, 100)));
    sum += alone.back().count() * step.repeats;
    sides[computing ? 0 : 1] += alone.back().count() * step.repeats;
  }
  RC_PRE(!step.operations.empty());
  const double length = path(step, alone);
  RC_ASSERT(length >= std::max(sides[0], sides[1]) && length <= sum);
  RC_ASSERT(path(step, alone, Order::sequential) == sum);
}

}  // namespace
}  // namespace elbowroom
