#include "backend_gpu/library_settings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdlib>

namespace elbowroom::gpu {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

TEST(LibrarySettings, AreThoseOfThePrefixesAndNamesInOrder) {
  for (const auto& [name, value] : {std::pair{"LIBSET_Z", "1=2"},
                                    {"LIBSET_A", ""},
                                    {"LIBSETTER", "no prefix"},
                                    {"ONE_LIBSET", "named"},
                                    {"ONE_LIBSET_MORE", "only begins with a name"}}) {
    ASSERT_EQ(setenv(name, value, 1), 0);
  }
  constexpr std::array<std::string_view, 2> prefixes{"LIBSET_", "NOBODY_SETS_THIS_"};
  constexpr std::array<std::string_view, 1> names{"ONE_LIBSET"};
  EXPECT_THAT(library_settings(prefixes, names),
              ElementsAre(Pair("LIBSET_A", ""), Pair("LIBSET_Z", "1=2"), Pair("ONE_LIBSET", "named")));
  EXPECT_THAT(library_settings({}, {}), ElementsAre());
}

}  // namespace
}  // namespace elbowroom::gpu
