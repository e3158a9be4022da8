#include "backend_hip/priority_probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "backend_gpu/own_kernel.hpp"
#include "backend_hip/hip_platform.hpp"

namespace elbowroom::hip {
namespace {

constexpr int kTrials = 5;
// Each block keeps a compute unit busy for so long. The kernel in the background is four times the one that is timed. If that has
// to wait for it, its time is 5 times the 4 rounds that it takes alone. If it shares the units with it, 2 times.
constexpr std::int64_t kBlockMicroseconds = 100;
constexpr std::uint32_t kRounds = 4;
constexpr std::uint32_t kBackgroundRounds = 16;
constexpr double kOvertakes = 0.75;
// What the clock that the kernel reads ticks at on every device of CDNA, where the runtime does not tell.
constexpr std::int64_t kClockKilohertz = 100'000;

class Probe {
 public:
  static Result<Probe> make(HipPlatform& platform) {
    const DeviceInfo& device = platform.devices().front();
    const Result<gpu::Function> spin = platform.code().function("spin", device.index);
    if (!spin) { return spin.error(); }
    Result<gpu::Memory> interval = gpu::allocate(platform.runtime(), Bytes(16));
    if (!interval) { return interval.error(); }
    Result<std::unique_ptr<gpu::StartLine>> start = platform.start_line({device.index});
    if (!start) { return start.error(); }
    Probe probe(platform, {*spin, Threads(64)}, std::move(*interval), std::move(*start));
    if (Status ready = probe.make_handles(); !ready) { return ready.error(); }
    return probe;
  }

  /// The median time of the later kernel on a stream of `priority`.
  Result<Microseconds> time(int priority) {
    if (Status used = runtime().use_device(device().index); !used) { return used.error(); }
    Result<gpu::Stream> later = gpu::make_stream(runtime(), priority);
    if (!later) { return later.error(); }
    std::vector<Microseconds> times;
    for (int trial = 0; trial < kTrials; ++trial) {
      const Result<Microseconds> time = time_once(later->get());
      if (!time) { return time; }
      times.push_back(*time);
    }
    std::ranges::nth_element(times, times.begin() + kTrials / 2);
    return times[kTrials / 2];
  }

 private:
  Probe(HipPlatform& platform, gpu::OwnFunction spin, gpu::Memory interval, std::unique_ptr<gpu::StartLine> start)
      : platform_(&platform), spin_(spin), interval_(std::move(interval)), start_(std::move(start)) {}

  [[nodiscard]] const gpu::Runtime& runtime() const { return platform_->runtime(); }
  [[nodiscard]] const DeviceInfo& device() const { return platform_->devices().front(); }

  Status make_handles() {
    Result<gpu::Stream> background = gpu::make_stream(runtime(), gpu::kNormalPriority);
    if (!background) { return background.error(); }
    background_ = std::move(*background);
    for (gpu::Event* event : {&begin_, &end_}) {
      Result<gpu::Event> made = gpu::make_event(runtime(), gpu::EventUse::timing);
      if (!made) { return made.error(); }
      *event = std::move(*made);
    }
    const Result<int> rate = platform_->hip().attribute(DeviceAttribute::wall_clock_rate, device().index);
    const std::int64_t kilohertz = rate && *rate > 0 ? *rate : kClockKilohertz;
    ticks_ = static_cast<std::uint64_t>(kBlockMicroseconds * kilohertz / 1000);
    return {};
  }

  /// One block to a compute unit, since its dynamic shared memory is all that a block can have.
  Status spin(gpu::StreamHandle stream, std::uint32_t rounds) {
    const auto units = static_cast<std::uint32_t>(device().limits.sms.count());
    void* interval = interval_.get();
    return gpu::launch(runtime(), spin_, Extent{units * rounds}, device().limits.shared_per_block, stream,
                       gpu::pointers_to(ticks_, interval), "priority probe");
  }

  Result<Microseconds> time_once(gpu::StreamHandle later) {
    const gpu::RuntimeCalls& calls = runtime().calls;
    if (Status held = start_->hold(device().index, background_.get()); !held) { return held.error(); }
    const Status enqueued = enqueue(later);
    start_->release();
    if (!enqueued) { return enqueued.error(); }
    for (gpu::StreamHandle stream : {later, background_.get()}) {
      if (Status idle = runtime().call(calls.stream_synchronize, stream); !idle) { return idle.error(); }
    }
    float milliseconds = 0;
    if (Status read = runtime().call(calls.event_elapsed_time, &milliseconds, begin_.get(), end_.get()); !read) {
      return read.error();
    }
    return Microseconds(std::chrono::duration<double, std::milli>(milliseconds));
  }

  Status enqueue(gpu::StreamHandle later) {
    const gpu::RuntimeCalls& calls = runtime().calls;
    if (Status marked = runtime().call(calls.event_record, begin_.get(), background_.get()); !marked) { return marked; }
    if (Status launched = spin(background_.get(), kBackgroundRounds); !launched) { return launched; }
    if (Status waits = runtime().call(calls.stream_wait_event, later, begin_.get(), 0); !waits) { return waits; }
    if (Status launched = spin(later, kRounds); !launched) { return launched; }
    return runtime().call(calls.event_record, end_.get(), later);
  }

  HipPlatform* platform_;
  gpu::OwnFunction spin_;
  gpu::Memory interval_;
  gpu::Stream background_;
  gpu::Event begin_;
  gpu::Event end_;
  std::uint64_t ticks_ = 0;
  std::unique_ptr<gpu::StartLine> start_;  // last: it lets go of what the streams wait for before they are destroyed
};

}  // namespace

Status PriorityEffect::acts() const {
  if (urgent < normal * kOvertakes) { return {}; }
  return invalid_input(
      fmt::format("no effect on this driver (a kernel of the greatest priority took {:.0f} us beside "
                  "another, one of the same priority {:.0f} us)",
                  urgent.count(), normal.count()));
}

Result<PriorityEffect> probe_priority(HipPlatform& platform) {
  if (Status used = platform.runtime().use_device(platform.devices().front().index); !used) { return used.error(); }
  const Result<int> greatest = gpu::greatest_priority(platform.runtime());
  if (!greatest) { return greatest.error(); }
  if (*greatest >= gpu::kNormalPriority) { return invalid_input("no effect on this driver (it offers one priority only)"); }
  Result<Probe> probe = Probe::make(platform);
  if (!probe) { return probe.error(); }
  const Result<Microseconds> normal = probe->time(gpu::kNormalPriority);
  if (!normal) { return normal.error(); }
  const Result<Microseconds> urgent = probe->time(*greatest);
  if (!urgent) { return urgent.error(); }
  return PriorityEffect{*normal, *urgent};
}

}  // namespace elbowroom::hip
