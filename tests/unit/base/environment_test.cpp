#include "elbowroom/base/environment.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <set>
#include <string_view>

namespace elbowroom {
namespace {

constexpr EnvironmentVariable kOfThisTest{"ELBOWROOM_ENVIRONMENT_TEST", "read by this test alone"};

TEST(Environment, ListsEachVariableOnceUnderTheProjectsPrefixWithItsMeaning) {
  std::set<std::string_view> names;
  for (const EnvironmentVariable& variable : environment_variables()) {
    EXPECT_TRUE(names.insert(variable.name).second) << variable.name << " is there twice";
    EXPECT_TRUE(std::string_view(variable.name).starts_with("ELBOWROOM_")) << variable.name;
    EXPECT_FALSE(variable.meaning.empty()) << variable.name;
  }
  for (const EnvironmentVariable& variable : {kNcclLibrary, kCublasLibrary, kCuptiLibrary, kProfile}) {
    EXPECT_TRUE(names.contains(variable.name)) << variable.name;
  }
}

TEST(Environment, ReadsWhatIsSetAndTakesEmptyForUnset) {
  ASSERT_EQ(unsetenv(kOfThisTest.name), 0);
  EXPECT_EQ(read(kOfThisTest), std::nullopt);
  ASSERT_EQ(setenv(kOfThisTest.name, "", 1), 0);
  EXPECT_EQ(read(kOfThisTest), std::nullopt);
  ASSERT_EQ(setenv(kOfThisTest.name, " a b ", 1), 0);
  EXPECT_EQ(read(kOfThisTest), " a b ");
  ASSERT_EQ(unsetenv(kOfThisTest.name), 0);
  EXPECT_EQ(read(kOfThisTest), std::nullopt);
}

}  // namespace
}  // namespace elbowroom
