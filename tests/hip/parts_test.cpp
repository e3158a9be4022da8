#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "backend_gpu/launcher.hpp"
#include "backend_hip/cu_partition.hpp"
#include "backend_hip/hip_platform.hpp"
#include "backend_hip/live_devices.hpp"
#include "backend_hip/priority_probe.hpp"
#include "elbowroom/model/device_catalog.hpp"
#include "elbowroom/plan/program.hpp"
#include "fake_rocm.hpp"

namespace elbowroom {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(CuMask, HasOneBitForEachUsedUnitAndRoomForAll) {
  EXPECT_THAT(hip::cu_mask(Sms(1), Sms(110)), ElementsAre(1u, 0u, 0u, 0u));
  EXPECT_THAT(hip::cu_mask(Sms(33), Sms(64)), ElementsAre(~0u, 1u));
  EXPECT_THAT(hip::cu_mask(Sms(32), Sms(32)), ElementsAre(~0u));
}

TEST(PriorityEffect, ActsOnlyWhereTheUrgentKernelIsMuchSooner) {
  const auto effect = [](double normal, double urgent) { return hip::PriorityEffect{Microseconds(normal), Microseconds(urgent)}; };
  EXPECT_TRUE(effect(2000, 500).acts());  // had to wait; overtakes
  EXPECT_TRUE(effect(850, 500).acts());   // took turns; overtakes
  EXPECT_FALSE(effect(850, 800).acts());  // takes turns all the same
  const Status none = effect(2000, 1990).acts();
  ASSERT_FALSE(none);
  EXPECT_THAT(none.error().message, HasSubstr("no effect on this driver"));
  EXPECT_THAT(none.error().message, HasSubstr("1990 us"));
}

TEST(ArchitectureLimits, AreTheCatalogsWhereItKnowsTheArchitecture) {
  const Result<DeviceLimits> limits = hip::architecture_limits("gfx942");
  ASSERT_TRUE(limits);
  EXPECT_EQ(Registers(131'072), limits->registers_per_sm);
}

TEST(ArchitectureLimits, HalveTheRegistersBeforeCdna2) {
  const Result<DeviceLimits> limits = hip::architecture_limits("gfx906");
  ASSERT_TRUE(limits);
  // 256 VGPRs for each of 64 lanes of 4 SIMDs; 10 waves on a SIMD; granule of 4 VGPRs.
  EXPECT_EQ(Registers(65'536), limits->registers_per_sm);
  EXPECT_EQ(Threads(2'560), limits->max_threads_per_sm);
  EXPECT_EQ(Registers(256), limits->register_granule);
}

TEST(ArchitectureLimits, NameWhatIsKnown) {
  const Result<DeviceLimits> limits = hip::architecture_limits("gfx1030");
  ASSERT_FALSE(limits);
  EXPECT_EQ("architecture gfx1030, expected one of gfx906, gfx908, gfx90a, gfx942, gfx950; HIP_VISIBLE_DEVICES hides devices",
            limits.error().message);
}

class HipParts : public testing::FakeRocm {};

TEST_F(HipParts, DevicesHaveTheLimitsOfTheCatalog) {
  const auto backend = open();
  ASSERT_NE(nullptr, backend);
  EXPECT_EQ("hip", backend->name());
  EXPECT_EQ(Provenance::measured, backend->provenance());
  ASSERT_EQ(2u, backend->devices().size());
  const DeviceLimits& live = backend->devices()[1].limits;
  const Result<DeviceLimits> listed = find_device("mi250x");
  ASSERT_TRUE(listed);
  EXPECT_EQ("mi250x", live.name);
  EXPECT_EQ("read from the device", live.source);
  EXPECT_EQ(listed->sms, live.sms);
  EXPECT_EQ(listed->max_threads_per_sm, live.max_threads_per_sm);
  EXPECT_EQ(listed->shared_per_sm, live.shared_per_sm);
  EXPECT_EQ(listed->shared_per_block, live.shared_per_block);
}

TEST_F(HipParts, VersionsNameTheLibrariesAndWhatIsSetForThem) {
  set("NCCL_P2P_DISABLE", "1");
  set("HIP_VISIBLE_DEVICES", "0,1");
  const auto backend = open();
  ASSERT_NE(nullptr, backend);
  const auto& versions = backend->versions();
  EXPECT_THAT(versions, ::testing::Contains(std::pair<std::string, std::string>("rccl", "2.21.5")));
  EXPECT_THAT(versions, ::testing::Contains(std::pair<std::string, std::string>("NCCL_P2P_DISABLE", "1")));
  EXPECT_THAT(versions, ::testing::Contains(std::pair<std::string, std::string>("HIP_VISIBLE_DEVICES", "0,1")));
  EXPECT_EQ("hip", versions.front().first);
  EXPECT_THAT(versions.front().second, ::testing::StartsWith("6."));
}

TEST_F(HipParts, AnotherDeviceThanAskedForIsUnavailable) {
  BackendOptions options;
  options.device = "mi300x";
  const Result<std::unique_ptr<Backend>> backend = open_backend("hip", options);
  ASSERT_FALSE(backend);
  EXPECT_EQ("backend hip: device: 'mi300x' was asked for, GPU 0 is mi250x", backend.error().message);
}

/// Two devices, of which no limits are known but the compute units.
std::shared_ptr<hip::HipPlatform> platform() {
  const auto library = hip::HipLibrary::load();
  EXPECT_TRUE(library);
  std::vector<DeviceInfo> devices(2);
  for (DeviceInfo& device : devices) { device.limits.sms = Sms(110); }
  return std::make_shared<hip::HipPlatform>(*library, devices, std::vector<std::string>{"gfx90a", "gfx90a"});
}

TEST_F(HipParts, NoComputeUnitIsLeftOutWithoutAControl) { EXPECT_EQ(std::nullopt, *platform()->left_out({}, {})); }

TEST_F(HipParts, TheStartLineHoldsAStreamUntilItIsReleased) {
  const auto here = platform();
  const gpu::Runtime& runtime = here->runtime();
  Result<std::unique_ptr<gpu::StartLine>> line = here->start_line({0, 1});
  ASSERT_TRUE(line) << line.error().message;
  Result<gpu::Stream> stream = gpu::make_stream(runtime, 0);
  Result<gpu::Event> event = gpu::make_event(runtime, gpu::EventUse::ordering);
  ASSERT_TRUE(stream && event);
  for (int round = 0; round < 2; ++round) {
    ASSERT_TRUE((*line)->hold(0, stream->get()));
    ASSERT_TRUE(runtime.call(runtime.calls.event_record, event->get(), stream->get()));
    EXPECT_EQ(gpu::kErrorNotReady, runtime.calls.event_query.function(event->get()));
    (*line)->release();
    EXPECT_TRUE(runtime.call(runtime.calls.stream_synchronize, stream->get()));
    EXPECT_EQ(gpu::kSuccess, runtime.calls.event_query.function(event->get()));
  }
}

TEST_F(HipParts, TheLauncherPadsAnApplicationsKernelAndUsesTwoPriorities) {
  const auto backend = open();
  ASSERT_NE(nullptr, backend);
  Result<std::unique_ptr<Launcher>> launcher = backend->launcher(2);
  ASSERT_TRUE(launcher) << launcher.error().message;
  const auto made = calls("hipStreamCreateWithPriority");
  ASSERT_EQ(4u, made.size());
  EXPECT_EQ(0, made[2].priority);
  EXPECT_EQ(-1, made[3].priority);

  const Kernel kernel = Kernel::from_native("hip", fake_hip_function("mine", 40, 1024));
  const std::span<const StreamPair> streams = (*launcher)->streams();
  ASSERT_EQ(2u, streams.size());
  const Result<KernelFootprint> footprint = (*launcher)->footprint(kernel, {32, 4, 1}, Bytes(256));
  ASSERT_TRUE(footprint) << footprint.error().message;
  EXPECT_EQ((KernelFootprint{Threads(128), Registers(40), Bytes(1024), Bytes(256), 1}), *footprint);
  const LaunchSize size{{7, 2, 1}, {32, 4, 1}, Bytes(256)};
  ComputeSettings settings;
  settings.pad = Bytes(512);
  ASSERT_TRUE((*launcher)->launch(kernel, size, {}, streams[1].compute, settings));
  const auto launches = calls("hipModuleLaunchKernel");
  ASSERT_EQ(1u, launches.size());
  EXPECT_EQ(768u, launches[0].shared);
  EXPECT_EQ(7u, launches[0].grid[0]);
  EXPECT_EQ(1, launches[0].device);
  EXPECT_TRUE((*launcher)->synchronize(streams[1].compute));
  EXPECT_TRUE(*(*launcher)->goes_first(streams[0].comm));
  EXPECT_FALSE(*(*launcher)->goes_first(streams[0].compute));
  // What acts on other kernels alone is refused, not ignored.
  ComputeSettings target;
  target.sm_target = Sms(100);
  ComputeSettings carved;
  carved.carveout = Percent(50);
  settings.pad = Bytes(-1);
  for (const ComputeSettings& refused : {settings, target, carved}) {
    EXPECT_FALSE((*launcher)->launch(kernel, size, {}, streams[0].compute, refused));
  }
  EXPECT_EQ(1u, calls("hipModuleLaunchKernel").size());
  EXPECT_FALSE(backend->launcher(3));
  EXPECT_FALSE(backend->launcher(-1));
}

/// As a vendor whose launches can be observed: the event of a stream is recorded behind what the collective put there.
class ObservingPlatform : public hip::HipPlatform {
 public:
  using HipPlatform::HipPlatform;

  [[nodiscard]] Status observes_launches() const override { return {}; }
  [[nodiscard]] Status launch_observed(const std::vector<gpu::StreamHandle>& streams, const std::vector<gpu::EventHandle>& events,
                                       const std::function<Status()>& launches) const override {
    if (Status launched = launches(); !launched) { return launched; }
    for (std::size_t at = 0; at < streams.size(); ++at) {
      if (Status recorded = runtime().call(runtime().calls.event_record, events[at], streams[at]); !recorded) { return recorded; }
    }
    return {};
  }
};

TEST_F(HipParts, AGateLetsEachComputeStreamWaitForItsCollective) {
  std::vector<DeviceInfo> devices(2);
  for (DeviceInfo& device : devices) { device.limits.sms = Sms(110); }
  const auto observing =
      std::make_shared<ObservingPlatform>(*hip::HipLibrary::load(), devices, std::vector<std::string>{"gfx90a", "gfx90a"});
  Result<std::unique_ptr<Launcher>> launcher = gpu::make_launcher(observing, 2);
  ASSERT_TRUE(launcher) << launcher.error().message;
  const std::span<const StreamPair> streams = (*launcher)->streams();
  Result<std::unique_ptr<CollectiveGate>> gate = (*launcher)->gate(streams);
  ASSERT_TRUE(gate) << gate.error().message;

  fake_hip_reset();
  ASSERT_TRUE((*gate)->around([] { return Status(); }));
  const auto records = calls("hipEventRecord");
  const auto waits = calls("hipStreamWaitEvent");
  ASSERT_EQ(2u, records.size());
  ASSERT_EQ(2u, waits.size());
  for (std::size_t device = 0; device < 2; ++device) {
    EXPECT_EQ(streams[device].comm.native(), records[device].stream);
    EXPECT_EQ(streams[device].compute.native(), waits[device].stream);
    EXPECT_EQ(records[device].event, waits[device].event);
    EXPECT_EQ(static_cast<int>(device), waits[device].device);
  }

  fake_hip_reset();
  const Status failing = (*gate)->around([] { return Status(failed("the collective")); });
  ASSERT_FALSE(failing);
  EXPECT_EQ("the collective", failing.error().message);
  EXPECT_TRUE(calls("hipStreamWaitEvent").empty());
}

}  // namespace
}  // namespace elbowroom
