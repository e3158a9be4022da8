#include "elbowroom/base/result.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <optional>
#include <string>

namespace elbowroom {
namespace {

TEST(Result, HoldsAValue) {
  Result<std::string> result = std::string("value");
  ASSERT_TRUE(result.ok());
  EXPECT_TRUE(result);
  EXPECT_EQ(*result, "value");
  EXPECT_EQ(result->size(), 5U);
  *result += "s";
  EXPECT_EQ(result.value(), "values");
}

TEST(Result, HoldsAReason) {
  const Result<std::string> result = unavailable("no GPU");
  ASSERT_FALSE(result.ok());
  EXPECT_FALSE(result);
  EXPECT_EQ(result.error().kind, ErrorKind::unavailable);
  EXPECT_EQ(result.error().message, "no GPU");
}

TEST(Result, GivesAwayWhatCannotBeCopied) {
  Result<std::unique_ptr<int>> result = std::make_unique<int>(7);
  const std::unique_ptr<int> taken = *std::move(result);
  ASSERT_NE(taken, nullptr);
  EXPECT_EQ(*taken, 7);
}

TEST(Result, OfATextTakesNoTextForAFailure) {
  const Result<std::string> result = failed("text").message;
  EXPECT_TRUE(result.ok());
}

TEST(Result, OfAnOptionalWithoutAValueIsASuccess) {
  const Result<std::optional<int>> result = std::optional<int>();
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->has_value());
}

TEST(Status, IsSuccessUnlessThereIsAReason) {
  EXPECT_TRUE(Status().ok());
  const Status status = invalid_input("gpus: 1, expected 2 to 8");
  ASSERT_FALSE(status.ok());
  EXPECT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::invalid_input);
  EXPECT_EQ(status.error().message, "gpus: 1, expected 2 to 8");
  EXPECT_EQ(Status(failed("timeout")).error().kind, ErrorKind::failed);
}

#ifndef NDEBUG
TEST(ResultDeathTest, AssertsThatTheSideReadIsThere) {
  EXPECT_DEATH(static_cast<void>(*Result<int>(failed("no"))), "ok");
  EXPECT_DEATH(static_cast<void>(Result<int>(1).error()), "ok");
}
#endif

}  // namespace
}  // namespace elbowroom
