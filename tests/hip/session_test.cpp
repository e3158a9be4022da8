// The library's own door over the fake HIP: what a launch of an application's kernel does, refuses and leaves as it was.
#include "elbowroom/runtime/session.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "elbowroom/interop/hip.hpp"
#include "elbowroom/runtime/plan_parts.hpp"
#include "fake_rocm.hpp"

// Of the runtime that the backend loads, as its own header declares them.
using hipStream_t = ihipStream_t*;
extern "C" {
int hipSetDevice(int device);
int hipGetDevice(int* device);
int hipStreamCreateWithPriority(hipStream_t* stream, unsigned flags, int priority);
int hipStreamDestroy(hipStream_t stream);
}

namespace elbowroom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using ::testing::StartsWith;

constexpr LaunchSize kSevenBlocks{{7, 1, 1}, {64, 1, 1}, Bytes(0)};

std::string message_of(const Status& status) { return status ? "launched" : status.error().message; }

/// What an application's kernel would be called with.
struct Given {
  std::uint64_t pointer = 0;
  std::int32_t count = 0;
};
Given given;

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

  template <class... Parameters>
  static KernelOf<Parameters...> mine(const char* name = "mine") {
    // The fake has handles of its own for the same thing.
    auto* const function = reinterpret_cast<ihipModuleSymbol_t*>(fake_hip_function(name, 40, 1024));
    return *interop::kernel<Parameters...>(function);
  }

  static Status launch(Session& session, int device, const OverlapPlan& plan) {
    return session.launch(mine<>(), kSevenBlocks, session.devices()[static_cast<std::size_t>(device)].streams.compute, plan);
  }
};

/// Streams that an application made, of both devices; communication at `priority`.
class OwnStreams {
 public:
  explicit OwnStreams(int priority) {
    for (int device = 0; device < 2; ++device) {
      EXPECT_EQ(0, hipSetDevice(device));
      for (const int each : {0, priority}) {
        hipStream_t made = nullptr;
        EXPECT_EQ(0, hipStreamCreateWithPriority(&made, 1, each));
        streams_.push_back(made);
      }
    }
    EXPECT_EQ(0, hipSetDevice(0));
  }
  ~OwnStreams() {
    for (hipStream_t stream : streams_) { EXPECT_EQ(0, hipStreamDestroy(stream)); }
  }
  OwnStreams(const OwnStreams&) = delete;
  OwnStreams& operator=(const OwnStreams&) = delete;

  [[nodiscard]] hipStream_t at(std::size_t index) const { return streams_[index]; }
  [[nodiscard]] StreamPair of(int device) const {
    const auto first = 2 * static_cast<std::size_t>(device);
    const DeviceIndex index{device};
    return {*interop::stream(index, streams_[first]), *interop::stream(index, streams_[first + 1])};
  }

 private:
  std::vector<hipStream_t> streams_;
};

// The greatest of the fake's range.
constexpr int kGreatest = -1;

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

TEST_F(HipSession, AGuardGivesTheDeviceBack) {
  Session session = open_two();
  ASSERT_EQ(0, hipSetDevice(0));
  {
    Result<DeviceGuard> guard = session.use(session.devices()[1]);
    ASSERT_TRUE(guard);
    EXPECT_EQ(1, current_device());
    const DeviceGuard moved = std::move(*guard);
    EXPECT_EQ(1, current_device());
  }
  EXPECT_EQ(0, current_device());
}

TEST_F(HipSession, LaunchesOnTheStreamsDevice) {
  Session session = open_two();
  fake_hip_reset();
  ASSERT_TRUE(launch(session, 1, {}));
  ASSERT_EQ(1u, calls("hipModuleLaunchKernel").size());
  EXPECT_EQ(1, calls("hipModuleLaunchKernel")[0].device);
}

TEST_F(HipSession, HandsTheArgumentsOverByTheirTypes) {
  static constexpr std::array<std::size_t, 2> kSizes{8, 4};
  const auto keep = [](const FakeLaunch& launch) {
    given = {*static_cast<std::uint64_t*>(launch.arguments[0]), *static_cast<std::int32_t*>(launch.arguments[1])};
  };
  FakeKernel kernel{"of two"};
  kernel.argument_count = kSizes.size();
  kernel.argument_sizes = kSizes.data();
  kernel.run = keep;
  fake_hip_register_kernel(&kernel);
  Session session = open_two();
  int value = 0;
  // A number of another type is converted to the parameter's, as in a call.
  const std::int64_t count = 42;
  const auto kernel_of_two = mine<int*, std::int32_t>("of two");
  ASSERT_TRUE(
      session.launch(kernel_of_two, kSevenBlocks, session.devices()[0].streams.compute, {}, &value, static_cast<short>(count)));
  ASSERT_TRUE(session.synchronize());
  EXPECT_EQ(reinterpret_cast<std::uint64_t>(&value), given.pointer);
  EXPECT_EQ(42, given.count);
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

TEST_F(HipSession, AttachesToStreamsThatExist) {
  const OwnStreams own(kGreatest);
  const std::array streams{own.of(1)};
  fake_hip_reset();
  {
    Result<Session> session = Session::attach(streams);
    ASSERT_TRUE(session) << session.error().message;
    EXPECT_THAT(calls("hipStreamCreateWithPriority"), IsEmpty()) << "a session has no streams beside these";
    ASSERT_THAT(session->devices(), SizeIs(1));
    EXPECT_EQ(1, session->devices()[0].info.index);
    EXPECT_TRUE(session->devices()[0].comm_goes_first);
    OverlapPlan plan;
    plan.priority = true;
    ASSERT_TRUE(launch(*session, 0, plan));
    const std::vector<FakeHipCall> launches = calls("hipModuleLaunchKernel");
    ASSERT_THAT(launches, SizeIs(1));
    EXPECT_EQ(reinterpret_cast<hipStream_t>(launches[0].stream), own.at(2));
    EXPECT_EQ(1, launches[0].device);
    ASSERT_TRUE(session->synchronize());
    EXPECT_THAT(calls("hipStreamSynchronize"), SizeIs(2));
    EXPECT_EQ(own.at(2), *interop::hip_stream(session->devices()[0].streams.compute));
    // Of the other device the session knows nothing.
    EXPECT_THAT(message_of(session->launch(mine<>(), kSevenBlocks, own.of(0).compute, {})),
                StartsWith("stream: of device 0, which is not the session's"));
  }
  EXPECT_THAT(calls("hipStreamDestroy"), IsEmpty()) << "they are the application's";
}

TEST_F(HipSession, RefusesPriorityWhereTheAttachedStreamHasNone) {
  const OwnStreams own(0);
  const std::array streams{own.of(0)};
  Result<Session> session = Session::attach(streams);
  ASSERT_TRUE(session);
  EXPECT_FALSE(session->devices()[0].comm_goes_first);
  OverlapPlan plan;
  plan.priority = true;
  fake_hip_reset();
  EXPECT_THAT(message_of(launch(*session, 0, plan)), StartsWith("priority: the communication stream of device 0"));
  EXPECT_THAT(calls("hipModuleLaunchKernel"), IsEmpty());
  plan.priority = false;
  EXPECT_EQ("launched", message_of(launch(*session, 0, plan)));
}

TEST_F(HipSession, RefusesStreamsThatAreNoPairs) {
  const OwnStreams own(kGreatest);
  const auto refusal = [](const std::vector<StreamPair>& streams) {
    const Result<Session> session = Session::attach(streams);
    return session ? "attached" : session.error().message;
  };
  EXPECT_EQ(refusal({}), "streams: none, expected a pair of at least one device");
  EXPECT_EQ(refusal({own.of(0), own.of(0)}), "streams: two pairs of device 0, expected one");
  EXPECT_EQ(refusal({{own.of(0).compute, own.of(1).comm}}), "streams: a pair of devices 0 and 1, expected one device");
  EXPECT_EQ(refusal({{own.of(0).compute, own.of(0).compute}}), "streams: device 0 has one stream for both sides, expected two");
  EXPECT_EQ(refusal({{own.of(0).compute, Stream::from_native("cuda", DeviceIndex{0}, own.at(1))}}),
            "streams: of hip and cuda, expected those of one vendor");
  const DeviceIndex none{2};
  EXPECT_EQ(refusal({{*interop::stream(none, own.at(0)), *interop::stream(none, own.at(1))}}),
            "device: 2, expected 0 to 1 (devices of backend hip)");
  EXPECT_EQ(refusal({own.of(1)}), "attached");
}

TEST_F(HipSession, RefusesHandlesOfAnotherVendorAndNull) {
  Session session = open_two();
  const Stream& compute = session.devices()[0].streams.compute;
  const KernelOf<> other(Kernel::from_native("cuda", &session));
  EXPECT_EQ(message_of(session.launch(other, kSevenBlocks, compute, {})),
            "kernel: of cuda, expected one of hip, the session's backend");
  const Stream elsewhere = Stream::from_native("cuda", DeviceIndex{0}, &session);
  EXPECT_EQ(message_of(session.launch(mine<>(), kSevenBlocks, elsewhere, {})),
            "stream: of cuda, expected one of hip, the session's backend");
  EXPECT_EQ(interop::hip_stream(elsewhere).error().message, "stream: of cuda, expected one of hip");
  EXPECT_THAT(interop::stream(DeviceIndex{0}, hipStream_t{}).error().message, StartsWith("stream: null, expected "));
  EXPECT_FALSE(interop::kernel<>(static_cast<ihipModuleSymbol_t*>(nullptr)));
}

TEST_F(HipSession, SaysWhyThereIsNoGateUnderHip) {
  const Result<std::unique_ptr<CollectiveGate>> gate = open_two().launch_gate();
  ASSERT_FALSE(gate);
  EXPECT_EQ(ErrorKind::unavailable, gate.error().kind);
  EXPECT_THAT(gate.error().message, HasSubstr("HIP has no event that says that a kernel's blocks have begun"));
}

TEST_F(HipSession, FindsTheStoredPlanOfAKernelAndACollective) {
  Session session = open_two();
  const Scenario scenario = testing::small(testing::kSmallGelu);
  const auto kernel = mine<>();
  // 64 threads, 40 registers and 1024 B as the fake says of `mine`, on the fake's devices.
  const auto backend = open();
  StoredChoice choice;
  choice.key = profile_key(scenario, KernelFootprint{Threads(64), Registers(40), Bytes(1024), Bytes(0), 1},
                           surroundings(Provenance::measured, backend->devices()[0].limits.name, backend->versions()));
  choice.plan.priority = true;
  choice.plan.comm_blocks = Blocks(4);
  Profile profile;
  profile.put(choice);
  const Result<StoredChoice> found = session.stored_choice(kernel, kSevenBlocks, scenario, profile);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, choice);

  Scenario larger = scenario;
  larger.collective.bytes = kibibytes(64);
  const Result<StoredChoice> none = session.stored_choice(kernel, kSevenBlocks, larger, profile);
  ASSERT_FALSE(none);
  EXPECT_EQ(ErrorKind::unavailable, none.error().kind);
  EXPECT_EQ("the profile lacks this case (size of collective 2^16 B, stored 2^14 B)", none.error().message);
}

TEST_F(HipSession, RefusesAStoredPlanThatThisMachinesLibraryCannotCarryOut) {
  set("ELBOWROOM_FAKE_RCCL_VERSION", "21104");  // ROCm 5.2, without block budgets
  Session session = open_two();
  const Scenario scenario = testing::small(testing::kSmallGelu);
  const auto backend = open();
  StoredChoice choice;
  choice.key = profile_key(scenario, KernelFootprint{Threads(64), Registers(40), Bytes(1024), Bytes(0), 1},
                           surroundings(Provenance::measured, backend->devices()[0].limits.name, backend->versions()));
  choice.plan.comm_blocks = Blocks(4);
  Profile profile;
  profile.put(choice);
  const Result<StoredChoice> refused = session.stored_choice(mine<>(), kSevenBlocks, scenario, profile);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("takes no block budget"));
}

}  // namespace
}  // namespace elbowroom
