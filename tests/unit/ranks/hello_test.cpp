#include "ranks/hello.hpp"

#include <gtest/gtest.h>

#include <string>

#include "ranks/frame.hpp"
#include "ranks/wire.hpp"

namespace elbowroom::ranks {
namespace {

TEST(Hello, IsReadAsItWasWritten) {
  const Hello hello{"1.2.3", 4095, 4096, ~std::uint64_t{0}, std::string(16, 'x')};
  EXPECT_EQ(hello_in(bytes_of(hello)), hello);
  EXPECT_LE(bytes_of(hello).size(), kLongestHello);
}

TEST(Hello, OfARankThatCannotBeIsNone) {
  for (const auto& [rank, size] : {std::pair(-1, 2), {2, 2}, {0, 0}, {0, 4097}}) {
    EXPECT_EQ(hello_in(bytes_of(Hello{"1.2.3", rank, size, 0, ""})), std::nullopt) << rank << " of " << size;
  }
}

TEST(Hello, OfSomebodyElseIsNone) {
  const std::string good = bytes_of(Hello{"1.2.3", 1, 2, 7, "n"});
  for (std::size_t size = 0; size < good.size(); ++size) { EXPECT_EQ(hello_in(good.substr(0, size)), std::nullopt) << size; }
  EXPECT_EQ(hello_in(good + "x"), std::nullopt);
  std::string other = good;
  other[other.find("ranks 2") + 6] = '1';
  EXPECT_EQ(hello_in(other), std::nullopt);
}

}  // namespace
}  // namespace elbowroom::ranks
