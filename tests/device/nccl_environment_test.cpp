// Needs no GPU.
#include "backend_cuda/nccl_environment.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>

#include "elbowroom/base/quantities.hpp"
#include "elbowroom/plan/launch_settings.hpp"

namespace elbowroom::cuda {
namespace {

// Other tests of this process find their environment as it was.
class NcclEnvironment : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const char* variable : {"NCCL_P2P_DISABLE", "NCCL_P2P_LEVEL", "NCCL_NTHREADS"}) {
      const char* const value = std::getenv(variable);
      before_[variable] = value == nullptr ? std::nullopt : std::optional<std::string>(value);
      ASSERT_EQ(unsetenv(variable), 0);
    }
  }
  void TearDown() override {
    for (const auto& [variable, value] : before_) {
      ASSERT_EQ(value ? setenv(variable.c_str(), value->c_str(), 1) : unsetenv(variable.c_str()), 0);
    }
  }

  static void set(const char* variable, const char* value) { ASSERT_EQ(setenv(variable, value, 1), 0); }

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

TEST_F(NcclEnvironment, RulesOutCopiesBetweenGpus) {
  EXPECT_TRUE(peers_allowed());
  for (const char* level : {"NVL", "SYS", "1", "5"}) {
    set("NCCL_P2P_LEVEL", level);
    EXPECT_TRUE(peers_allowed()) << level;
  }
  for (const char* level : {"LOC", "0"}) {
    set("NCCL_P2P_LEVEL", level);
    ASSERT_FALSE(peers_allowed()) << level;
    EXPECT_EQ(peers_allowed().error().kind, ErrorKind::unavailable);
  }
  EXPECT_EQ(peers_allowed().error().message, "NCCL_P2P_LEVEL=0 rules out copies between GPUs");
  set("NCCL_P2P_LEVEL", "NVL");
  set("NCCL_P2P_DISABLE", "0");
  EXPECT_TRUE(peers_allowed());
  set("NCCL_P2P_DISABLE", "1");
  ASSERT_FALSE(peers_allowed());
  EXPECT_EQ(peers_allowed().error().message, "NCCL_P2P_DISABLE=1 rules out copies between GPUs");
}

TEST_F(NcclEnvironment, FixesTheThreadsOfABlock) {
  CommSettings settings;
  EXPECT_TRUE(comm_threads_possible(settings));
  settings.comm_threads = Threads(256);
  ASSERT_FALSE(comm_threads_possible(settings));
  EXPECT_NE(comm_threads_possible(settings).error().message.find("NCCL_NTHREADS=256 (it is not set)"), std::string::npos);
  set("NCCL_NTHREADS", "512");
  EXPECT_NE(comm_threads_possible(settings).error().message.find("(it is 512)"), std::string::npos);
  set("NCCL_NTHREADS", "256");
  EXPECT_TRUE(comm_threads_possible(settings));
}

}  // namespace
}  // namespace elbowroom::cuda
