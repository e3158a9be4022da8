#include "experiment/log_fit.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace elbowroom {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

// Times a * b, a and a + 3 b, of a = 2 and b = 5, where both are taken for 1: logarithms log 2 and log 5.
Result<std::vector<double>> residuals(const std::vector<double>& logs) {
  const double a = std::exp(logs[0]);
  const double b = std::exp(logs[1]);
  return std::vector<double>{std::log(a * b / 10), std::log(a / 2), std::log((a + 3 * b) / 17)};
}

TEST(LogFit, FindsTheConstantsThatTimesWereMadeWith) {
  const Result<std::vector<double>> fitted = detail::least_squares(residuals, 2, 1e-6, 3);
  ASSERT_TRUE(fitted);
  EXPECT_THAT(*fitted, ElementsAre(DoubleNear(std::log(2), 2e-3), DoubleNear(std::log(5), 2e-3)));
}

TEST(LogFit, AConstantThatNothingDependsOnStaysWhereItWas) {
  const auto one = [](const std::vector<double>& logs) -> Result<std::vector<double>> { return std::vector{logs[0] - 0.5}; };
  const Result<std::vector<double>> fitted = detail::least_squares(one, 2, 1e-6, 3);
  ASSERT_TRUE(fitted);
  EXPECT_THAT(*fitted, ElementsAre(DoubleNear(0.5, 1e-3), 0.0));
}

// Of (x - 1)^2 + r^2 x^2 the least is at 1 / (1 + r^2): 0.8 for r = 0.5.
TEST(LogFit, MovingCostsAsMuchAsSaid) {
  const auto one = [](const std::vector<double>& logs) -> Result<std::vector<double>> { return std::vector{logs[0] - 1}; };
  EXPECT_NEAR(detail::least_squares(one, 1, 0.5, 3)->front(), 0.8, 1e-6);
  EXPECT_NEAR(detail::least_squares(one, 1, 0.5, 0.25)->front(), 0.25, 1e-6) << "no further than allowed";
}

// Beyond 0.5 there is no answer: the fit goes as far as there is one. At the start there has to be one.
TEST(LogFit, StepsWithoutAnAnswerAreNotTaken) {
  const auto bounded = [](const std::vector<double>& logs) -> Result<std::vector<double>> {
    if (logs[0] > 0.5) { return failed("too far"); }
    return std::vector{logs[0] - 1};
  };
  const Result<std::vector<double>> fitted = detail::least_squares(bounded, 1, 1e-6, 3);
  ASSERT_TRUE(fitted);
  EXPECT_GT(fitted->front(), 0.4);
  EXPECT_LE(fitted->front(), 0.5);
  const auto never = [](const std::vector<double>&) -> Result<std::vector<double>> { return failed("no device"); };
  EXPECT_EQ(detail::least_squares(never, 1, 1e-6, 3).error().message, "no device");
}

}  // namespace
}  // namespace elbowroom
