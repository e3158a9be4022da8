#include "interposer/process/process.hpp"

#include <gtest/gtest.h>

#include <thread>

namespace elbowroom::interposer::process {
namespace {

// Each call that was asked for comes once when the thread ends, and none is taken from then on.
TEST(Process, CallsAtAThreadsEndComeOnce) {
  static int first = 0, second = 0;
  static bool taken_at_end = true;
  const auto count_first = [] { ++first; };
  const auto count_second = [] {
    ++second;
    taken_at_end = at_thread_end([] {});
  };
  std::thread([&] {
    EXPECT_TRUE(at_thread_end(count_first) && at_thread_end(count_second) && at_thread_end(count_first));
    EXPECT_FALSE(at_thread_end([] {}));
  }).join();
  EXPECT_EQ(first, 1);
  EXPECT_EQ(second, 1);
  EXPECT_FALSE(taken_at_end);
}

}  // namespace
}  // namespace elbowroom::interposer::process
