#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <utility>

#include "backend/leaves.hpp"
#include "elbowroom/plan/program.hpp"
#include "scenarios.hpp"

namespace elbowroom {
namespace {

// 10,000 iterations of thousands of blocks take minutes of the host's time, a thousandth of a second is over at the first question.
TEST(SimBackend, GivesUpAQuestionThatTakesTooLong) {
  BackendOptions options;
  options.time_limit = std::chrono::milliseconds(1);
  Scenario scenario = gelu_all_reduce(mebibytes(512));
  scenario.iterations = 10'000;
  Result<CaseTrials> workload = CaseTrials::prepare(**detail::open_sim(options), scenario);
  const Result<Microseconds> time = workload->run(Order::concurrent, {});
  ASSERT_FALSE(time.ok());
  EXPECT_EQ(time.error().kind, ErrorKind::failed);
  EXPECT_THAT(time.error().message, ::testing::HasSubstr("ms were simulated when the time limit passed"));
}

}  // namespace
}  // namespace elbowroom
