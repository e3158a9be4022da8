#include "elbowroom/experiment/suites.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace elbowroom {
namespace {

TEST(Suites, HoldValidCasesOfDifferentNamesForEveryNumberOfGpus) {
  for (const Suite& suite : suites()) {
    for (int gpus = 2; gpus <= 8; ++gpus) {
      std::vector<Scenario> scenarios = suite.scenarios(gpus);
      share_evenly(scenarios);
      std::set<std::string> names;
      for (const Scenario& scenario : scenarios) {
        EXPECT_TRUE(validate(scenario)) << suite.name << " " << scenario.name << " on " << gpus;
        EXPECT_EQ(scenario.gpus, gpus);
        EXPECT_TRUE(names.insert(scenario.name).second) << scenario.name;
      }
      EXPECT_FALSE(names.empty()) << suite.name;
    }
  }
}

TEST(Suites, KeepSizesThatRanksShareEvenly) {
  std::vector<Scenario> quick = find_suite("quick")->scenarios(4);
  EXPECT_TRUE(share_evenly(quick).empty());
  EXPECT_EQ(quick.front().collective.bytes, mebibytes(512));
}

TEST(Suites, TakeLessWhereRanksCannotShareEvenly) {
  std::vector<Scenario> quick = find_suite("quick")->scenarios(3);
  const std::vector<std::string> lines = share_evenly(quick);
  // 512 MiB = 536,870,912 B; shares begin at multiples of 256 B: of 3 x 256 = 768 B go 699,050 into it, which is 536,870,400 B.
  EXPECT_EQ(lines, (std::vector<std::string>{"collectives of 536870912 B take 536870400 B instead, which 3 ranks share evenly"}));
  for (const Scenario& scenario : quick) { EXPECT_EQ(scenario.collective.bytes, Bytes(536'870'400)) << scenario.name; }
}

TEST(Suites, NameEachOtherWhereOneIsUnknown) {
  const Result<Suite> none = find_suite("quik");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::invalid_input);
  EXPECT_EQ(none.error().message, "suite: 'quik', expected one of quick, paper, controls, library");
}

}  // namespace
}  // namespace elbowroom
