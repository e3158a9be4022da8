#include "interposer/process/graph_table.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace elbowroom::interposer::process {
namespace {

TEST(GraphTable, KeepsTheLastOfLaunchesByThreadsAtOnce) {
  const auto table = std::make_unique<GraphTable>();
  const int exec = 0;
  table->put(&exec, {}, NodePriorities{});
  const auto launch = [&](std::uint32_t newest) { return table->end_launch(&exec, table->begin_launch(&exec), newest); };
  EXPECT_FALSE(launch(0xfffffff0U));
  EXPECT_EQ(table->get(&exec).newest, 0xfffffff0U);
  launch(0xffffffe0U);  // ended before the other one
  EXPECT_EQ(table->get(&exec).newest, 0xfffffff0U);
  launch(5);  // numbers began anew
  EXPECT_EQ(table->get(&exec).newest, 5U);
  launch(0xfffffff5U);
  EXPECT_EQ(table->get(&exec).newest, 5U);
  launch(0);
  EXPECT_EQ(table->get(&exec).newest, 5U);
}

TEST(GraphTable, TellsBothOfTwoLaunchesAtOnceOfTheOther) {
  const auto table = std::make_unique<GraphTable>();
  const int exec = 0;
  table->put(&exec, {}, NodePriorities{});
  const ExecutableGraph first = table->begin_launch(&exec);
  const ExecutableGraph second = table->begin_launch(&exec);
  EXPECT_TRUE(table->end_launch(&exec, second, 1));
  EXPECT_TRUE(table->end_launch(&exec, first, 1));
  EXPECT_FALSE(table->end_launch(&exec, table->begin_launch(&exec), 1));
  table->remove(&exec);
  EXPECT_FALSE(table->end_launch(&exec, first, 1)) << "it is no more";
}

}  // namespace
}  // namespace elbowroom::interposer::process
