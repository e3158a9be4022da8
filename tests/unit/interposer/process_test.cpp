#include "interposer/process/process.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <latch>
#include <thread>
#include <vector>

namespace elbowroom::interposer::process {
namespace {

// The numbers of threads that only its parent has are given to its own, and that of the one that forked is not.
TEST(Process, AForkedChildKeepsTheNumberOfItsThreadAlone) {
  const std::uint32_t own = thread_number();
  constexpr std::ptrdiff_t kThreads = 40;
  std::latch numbered(kThreads + 1);
  std::latch ended(1);
  std::vector<std::thread> threads;
  for (std::ptrdiff_t i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      thread_number();
      numbered.count_down();
      ended.wait();
    });
  }
  numbered.arrive_and_wait();
  const pid_t child = fork();
  if (child == 0) {
    keep_own_number_alone();
    std::uint32_t other = own;
    std::thread([&] { other = thread_number(); }).join();
    _exit(thread_number() == own && other != own && other < 2 ? 0 : 1);
  }
  int status = 1;
  EXPECT_EQ(child, waitpid(child, &status, 0));
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  ended.count_down();
  for (std::thread& thread : threads) { thread.join(); }
}

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
