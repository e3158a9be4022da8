#include "backend_sim/run_noise.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace elbowroom::sim {
namespace {

TEST(RunNoise, OffIsExactlyOne) {
  RunNoise noise(0, 1);
  EXPECT_TRUE(noise.off());
  EXPECT_EQ(noise.next(), 1.0);
}

TEST(RunNoise, ScattersAboutOneByWhatWasAskedFor) {
  constexpr int count = 20'001;
  RunNoise noise(2, 7);
  std::vector<double> logarithms;
  double squares = 0;
  for (int draw = 0; draw < count; ++draw) {
    logarithms.push_back(std::log(noise.next()));
    squares += logarithms.back() * logarithms.back();
  }
  std::nth_element(logarithms.begin(), logarithms.begin() + count / 2, logarithms.end());
  // The deviation of 20,000 draws is off by 2 % / sqrt(2 x 20,000) = 0.01 % at one sigma, their median by 0.018 %.
  EXPECT_NEAR(std::sqrt(squares / count), 0.02, 0.0005);
  EXPECT_NEAR(logarithms[count / 2], 0, 0.001);
}

TEST(RunNoise, EqualSeedsGiveEqualSequences) {
  RunNoise one(5, 3);
  RunNoise same(5, 3);
  RunNoise other(5, 4);
  for (int draw = 0; draw < 5; ++draw) {
    const double factor = one.next();
    EXPECT_EQ(factor, same.next());
    EXPECT_NE(factor, other.next());
  }
}

TEST(RunNoise, PercentIsANumberFrom0To20) {
  EXPECT_EQ(*parse_noise_percent(std::nullopt), 0.0);
  EXPECT_EQ(*parse_noise_percent("1.5"), 1.5);
  EXPECT_EQ(*parse_noise_percent("20"), 20.0);
  for (const char* text : {"-0.1", "20.1", "nan", "inf", "1 %", "much", "1e999"}) {
    const Result<double> refused = parse_noise_percent(text);
    ASSERT_FALSE(refused) << text;
    EXPECT_EQ(refused.error().kind, ErrorKind::invalid_input);
    EXPECT_THAT(refused.error().message,
                ::testing::HasSubstr("ELBOWROOM_SIM_NOISE: '" + std::string(text) + "', expected a number from 0 to 20 percent"));
  }
}

}  // namespace
}  // namespace elbowroom::sim
