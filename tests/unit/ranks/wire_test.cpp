#include "ranks/wire.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <limits>
#include <string>

namespace elbowroom::ranks {
namespace {

TEST(Wire, NumbersBeginWithTheLeastByte) {
  WireWriter writer;
  writer.number(0x0102);
  writer.text("ab");
  EXPECT_EQ(writer.take(), std::string("\2\1\0\0\0\0\0\0\2\0\0\0\0\0\0\0ab", 18));
}

RC_GTEST_PROP(Wire, ReadsWhatItWrote, (std::int64_t number, double real, const std::string& text)) {
  WireWriter writer;
  writer.number(number);
  writer.real(real);
  writer.text(text);
  const std::string bytes = writer.take();
  WireReader reader(bytes);
  RC_ASSERT(reader.number() == number);
  RC_ASSERT(reader.real() == real);
  RC_ASSERT(reader.text() == text);
  RC_ASSERT(reader.complete());
}

RC_GTEST_PROP(Wire, WhatIsCutOffIsNoticed, (const std::string& text)) {
  WireWriter writer;
  writer.text(text);
  const std::string bytes = writer.take();
  const auto kept = *rc::gen::inRange<std::size_t>(0, bytes.size());
  WireReader reader(std::string_view(bytes).substr(0, kept));
  RC_ASSERT(reader.text().empty());
  RC_ASSERT(!reader.good());
}

TEST(Wire, NoMoreThingsAreCountedThanBytesAreThere) {
  for (const std::int64_t many : {std::int64_t{2}, std::int64_t{-1}, std::numeric_limits<std::int64_t>::max()}) {
    WireWriter writer;
    writer.number(many);
    const std::string bytes = writer.take() + "x";
    WireReader reader(bytes);
    EXPECT_EQ(reader.count(), 0U);
    EXPECT_FALSE(reader.good());
  }
}

TEST(Wire, WhatIsLeftOverIsNoticed) {
  WireReader reader("x");
  EXPECT_TRUE(reader.good());
  EXPECT_FALSE(reader.complete());
}

}  // namespace
}  // namespace elbowroom::ranks
