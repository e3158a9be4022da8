// The library's own door over the fake HIP: what a launch of an application's kernel does, refuses and leaves as it was.
#include "elbowroom/runtime/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <utility>

#include "fake_rocm.hpp"

// Of the runtime that the backend loads.
extern "C" int hipSetDevice(int device);
extern "C" int hipGetDevice(int* device);

namespace elbowroom {
namespace {

using ::testing::HasSubstr;

class HipSession : public testing::FakeRocm {
 protected:
  static Session open_two() {
    Result<Session> session = Session::open({.backend = "hip", .gpus = 2, .notice = {}});
    EXPECT_TRUE(session) << session.error().message;
    return std::move(*session);
  }

  static int current_device() {
    int device = -1;
    EXPECT_EQ(0, hipGetDevice(&device));
    return device;
  }

  static Status launch(Session& session, int device, const OverlapPlan& plan) {
    const Kernel kernel = Kernel::from_native(fake_hip_function("mine", 40, 1024));
    return session.launch(kernel, {7, 1, 1}, {64, 1, 1}, {}, session.compute_stream(device), plan);
  }
};

TEST_F(HipSession, LeavesTheThreadsDeviceAsItWas) {
  for (const int before : {0, 1}) {
    ASSERT_EQ(0, hipSetDevice(before));
    Session session = open_two();
    EXPECT_EQ(before, current_device()) << "open";
    for (const int device : {0, 1}) {
      ASSERT_TRUE(launch(session, device, {}));
      EXPECT_EQ(before, current_device()) << "a launch on " << device;
    }
    ASSERT_TRUE(session.synchronize());
    EXPECT_EQ(before, current_device()) << "synchronize";
  }
  ASSERT_EQ(0, hipSetDevice(0));
}

TEST_F(HipSession, LaunchesOnTheStreamsDevice) {
  Session session = open_two();
  fake_hip_reset();
  ASSERT_TRUE(launch(session, 1, {}));
  ASSERT_EQ(1u, calls("hipModuleLaunchKernel").size());
  EXPECT_EQ(1, calls("hipModuleLaunchKernel")[0].device);
}

TEST_F(HipSession, RefusesWhatOneLaunchCannotCarryOut) {
  Session session = open_two();
  const auto refusal = [&](auto set) {
    OverlapPlan plan;
    set(plan);
    const Status launched = launch(session, 0, plan);
    return launched ? std::string("launched") : launched.error().message;
  };
  fake_hip_reset();
  EXPECT_THAT(refusal([](OverlapPlan& plan) { plan.launch_gate = true; }), HasSubstr("launch_gate: a launch cannot carry it out"));
  EXPECT_THAT(refusal([](OverlapPlan& plan) { plan.comm_blocks = Blocks(8); }), HasSubstr("comm_blocks: a launch cannot"));
  EXPECT_THAT(refusal([](OverlapPlan& plan) { plan.cluster = 1; }), HasSubstr("cluster: a launch cannot"));
  EXPECT_THAT(refusal([](OverlapPlan& plan) { plan.sm_target = Sms(100); }), HasSubstr("sm_target: a launch cannot"));
  EXPECT_THAT(refusal([](OverlapPlan& plan) { plan.comm_threads = Threads(256); }), HasSubstr("comm_threads: a launch cannot"));
  EXPECT_THAT(refusal([](OverlapPlan& plan) { plan.carveout = Percent(50); }), HasSubstr("carveout: a launch cannot"));
  EXPECT_THAT(refusal([](OverlapPlan& plan) { plan.comm_sms = Sms(8); }), HasSubstr("comm_sms: a launch cannot"));
  EXPECT_THAT(refusal([](OverlapPlan& plan) { plan.symmetric = true; }), HasSubstr("symmetric: a launch cannot"));
  EXPECT_THAT(refusal([](OverlapPlan& plan) { plan.copy_engine = true; }), HasSubstr("copy_engine: a launch cannot"));
  EXPECT_THAT(refusal([](OverlapPlan& plan) { plan.peer_detour = true; }), HasSubstr("peer_detour: a launch cannot"));
  EXPECT_THAT(refusal([](OverlapPlan& plan) { plan.windows_only = true; }), HasSubstr("windows_only: a launch cannot"));
  EXPECT_TRUE(calls("hipModuleLaunchKernel").empty());
  EXPECT_EQ("launched", refusal([](OverlapPlan& plan) {
              plan.pad = Bytes(512);
              plan.blocks_per_sm = BlocksPerSm(2);
              plan.priority = true;
            }));
  EXPECT_EQ(512u, calls("hipModuleLaunchKernel").at(0).shared);
}

}  // namespace
}  // namespace elbowroom
