#include "interposer/process/graph_table.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace elbowroom::interposer::process {
namespace {

TEST(GraphTable, KeepsTheLastOfLaunchesByThreadsAtOnce) {
  const auto table = std::make_unique<GraphTable>();
  const int exec = 0;
  table->put(&exec, {}, false);
  table->launched(&exec, 0xfffffff0U);
  EXPECT_EQ(table->get(&exec).newest, 0xfffffff0U);
  table->launched(&exec, 0xffffffe0U);  // asked before the other one
  EXPECT_EQ(table->get(&exec).newest, 0xfffffff0U);
  table->launched(&exec, 5);  // numbers began anew
  EXPECT_EQ(table->get(&exec).newest, 5U);
  table->launched(&exec, 0xfffffff5U);
  EXPECT_EQ(table->get(&exec).newest, 5U);
  table->launched(&exec, 0);
  EXPECT_EQ(table->get(&exec).newest, 5U);
}

}  // namespace
}  // namespace elbowroom::interposer::process
