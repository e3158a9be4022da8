#include "interposer/nccl/communicators.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <thread>

namespace elbowroom::interposer::nccl {
namespace {

TEST(MadeCommunicators, FirstOnesAreKeptAndAllCounted) {
  MadeCommunicators made;
  for (int i = 0; i < 100; ++i) { made.add({"ncclCommInitRank", i, {}}); }
  int seen = 0;
  made.for_each([&](const MadeCommunicator& each) { EXPECT_EQ(each.ranks, seen++); });
  EXPECT_EQ(seen, static_cast<int>(MadeCommunicators::kMost));
  EXPECT_EQ(made.count(), 100U);
}

// Whatever another thread was about when the child was made.
TEST(MadeCommunicators, ForkedChildAddsToo) {
  static MadeCommunicators made;
  std::atomic<bool> ends{false};
  std::thread other([&] {
    while (!ends) { made.add({"ncclCommInitRank", 2, {}}); }
  });
  int failed = 0;
  for (int i = 0; i < 1000 && failed == 0; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      alarm(5);
      made.add({"ncclCommInitRank", 2, {}});
      _exit(0);
    }
    failed = -1;
    waitpid(child, &failed, 0);
  }
  ends = true;
  other.join();
  EXPECT_EQ(failed, 0);
}

}  // namespace
}  // namespace elbowroom::interposer::nccl
