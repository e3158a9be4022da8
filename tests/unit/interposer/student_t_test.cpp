#include "interposer/core/student_t.hpp"

#include <gtest/gtest.h>

namespace elbowroom::interposer {
namespace {

// One degree is Cauchy's distribution: 1/2 - atan(t)/pi, which is 1/4 at t = 1.
TEST(StudentT, HasClosedFormsForOneAndTwoDegrees) {
  EXPECT_NEAR(upper_tail(1.0, 1), 0.25, 1e-12);
  // Two degrees: 1/2 - t / (2 sqrt(2 + t^2)), which is 1/2 - 2 / (2 sqrt 6) at t = 2.
  EXPECT_NEAR(upper_tail(2.0, 2), 0.091751709536137, 1e-12);
  EXPECT_NEAR(upper_tail(-2.0, 2), 1.0 - 0.091751709536137, 1e-12);
}

// Printed tables, for example Abramowitz and Stegun 26.10: 2.365 and 3.499 for 7 degrees, 4.541 for 3.
TEST(StudentT, AgreesWithPrintedTables) {
  EXPECT_NEAR(critical_value(0.025, 7), 2.365, 5e-4);
  EXPECT_NEAR(critical_value(0.005, 7), 3.499, 5e-4);
  EXPECT_NEAR(critical_value(0.01, 3), 4.541, 5e-4);
  EXPECT_NEAR(critical_value(0.025, 120), 1.980, 5e-4);
}

TEST(StudentT, CriticalValueIsTheInverseOfTheTail) {
  for (unsigned degrees = 1; degrees <= 40; ++degrees) {
    for (const double tail : {0.5, 0.1, 0.01, 1e-4}) {
      EXPECT_NEAR(upper_tail(critical_value(tail, degrees), degrees) / tail, 1.0, 1e-6) << degrees << " " << tail;
    }
  }
}

TEST(StudentT, FallsWithTheValueAndWithTheDegrees) {
  for (unsigned degrees = 1; degrees < 40; ++degrees) {
    for (double t = 0.5; t < 8.0; t += 0.5) {
      EXPECT_GT(upper_tail(t, degrees), upper_tail(t + 0.5, degrees));
      EXPECT_GT(upper_tail(t, degrees), upper_tail(t, degrees + 1));
    }
  }
}

}  // namespace
}  // namespace elbowroom::interposer
