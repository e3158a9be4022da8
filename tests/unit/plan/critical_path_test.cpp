#include "elbowroom/plan/critical_path.hpp"

#include <gtest/gtest.h>

namespace elbowroom {
namespace {

double path(Pattern pattern, int iterations, double compute, double comm) {
  return critical_path(pattern, iterations, Microseconds(compute), Microseconds(comm)).count();
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

}  // namespace
}  // namespace elbowroom
