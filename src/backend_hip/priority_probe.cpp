#include "backend_hip/priority_probe.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "backend_hip/handles.hpp"
#include "backend_hip/start_line.hpp"

namespace elbowroom::hip {
namespace {

constexpr int kTrials = 5;
// Each block keeps a compute unit busy for so long. The kernel in the background is four times the one that is timed: if that has to
// wait for it, or shares the units with it, its time is 5 or 2 times the 4 rounds that it takes alone.
constexpr std::int64_t kBlockMicroseconds = 100;
constexpr std::uint32_t kRounds = 4;
constexpr std::uint32_t kBackgroundRounds = 16;
constexpr double kOvertakes = 0.75;
// What the clock that the kernel reads ticks at on every device of CDNA, where the runtime does not tell.
constexpr std::int64_t kClockKilohertz = 100'000;

class Probe {
 public:
  static Result<Probe> make(DeviceCode& code, const DeviceInfo& device) {
    const HipLibrary& hip = code.hip();
    const Result<HipFunction> spin = code.function("spin", device.index);
    if (!spin) return spin.error();
    Result<Memory> interval = allocate(hip, Bytes(16));
    if (!interval) return interval.error();
    Result<StartLine> start = StartLine::make(code, device.index + 1);
    if (!start) return start.error();
    Probe probe(hip, device, *spin, std::move(*interval), std::move(*start));
    if (Status ready = probe.make_handles(); !ready) return ready.error();
    return probe;
  }

  /// The median time of the later kernel on a stream of `priority`.
  Result<Microseconds> time(int priority) {
    if (Status used = hip_->use_device(device_->index); !used) return used.error();
    Result<Stream> later = make_stream(*hip_, priority);
    if (!later) return later.error();
    std::vector<Microseconds> times;
    for (int trial = 0; trial < kTrials; ++trial) {
      const Result<Microseconds> time = time_once(later->get());
      if (!time) return time;
      times.push_back(*time);
    }
    std::ranges::nth_element(times, times.begin() + kTrials / 2);
    return times[kTrials / 2];
  }

 private:
  Probe(const HipLibrary& hip, const DeviceInfo& device, HipFunction spin, Memory interval, StartLine start)
      : hip_(&hip), device_(&device), spin_(spin), interval_(std::move(interval)), start_(std::move(start)) {}

  Status make_handles() {
    Result<Stream> background = make_stream(*hip_, kNormalPriority);
    if (!background) return background.error();
    background_ = std::move(*background);
    for (Event* event : {&begin_, &end_}) {
      Result<Event> made = make_event(*hip_, EventUse::timing);
      if (!made) return made.error();
      *event = std::move(*made);
    }
    const Result<int> rate = hip_->attribute(DeviceAttribute::wall_clock_rate, device_->index);
    const std::int64_t kilohertz = rate && *rate > 0 ? *rate : kClockKilohertz;
    ticks_ = static_cast<std::uint64_t>(kBlockMicroseconds * kilohertz / 1000);
    return {};
  }

  /// One block to a compute unit, since its dynamic shared memory is all that a block can have.
  Status spin(HipStream stream, std::uint32_t rounds) {
    const auto units = static_cast<std::uint32_t>(device_->limits.sms.count());
    void* interval = interval_.get();
    return launch(*hip_, spin_, Extent{units * rounds}, Threads(64), device_->limits.shared_per_block, stream,
                  pointers_to(ticks_, interval), "hipModuleLaunchKernel (priority probe)");
  }

  Result<Microseconds> time_once(HipStream later) {
    const HipLibrary::Functions& call = hip_->functions;
    if (Status held = start_.hold(device_->index, background_.get()); !held) return held.error();
    const Status enqueued = enqueue(later);
    start_.release();
    if (!enqueued) return enqueued.error();
    for (HipStream stream : {later, background_.get()}) {
      if (Status idle = hip_->check(call.stream_synchronize(stream), "hipStreamSynchronize (priority probe)"); !idle) {
        return idle.error();
      }
    }
    float milliseconds = 0;
    if (Status read = hip_->check(call.event_elapsed_time(&milliseconds, begin_.get(), end_.get()), "hipEventElapsedTime"); !read) {
      return read.error();
    }
    return Microseconds(std::chrono::duration<double, std::milli>(milliseconds));
  }

  Status enqueue(HipStream later) {
    const HipLibrary::Functions& call = hip_->functions;
    if (Status marked = hip_->check(call.event_record(begin_.get(), background_.get()), "hipEventRecord"); !marked) return marked;
    if (Status launched = spin(background_.get(), kBackgroundRounds); !launched) return launched;
    if (Status waits = hip_->check(call.stream_wait_event(later, begin_.get(), 0), "hipStreamWaitEvent"); !waits) return waits;
    if (Status launched = spin(later, kRounds); !launched) return launched;
    return hip_->check(call.event_record(end_.get(), later), "hipEventRecord");
  }

  const HipLibrary* hip_;
  const DeviceInfo* device_;
  HipFunction spin_;
  Memory interval_;
  Stream background_;
  Event begin_;
  Event end_;
  std::uint64_t ticks_ = 0;
  StartLine start_;  // last: it lets go of what the streams wait for before they are destroyed
};

}  // namespace

Status PriorityEffect::acts() const {
  if (urgent < normal * kOvertakes) return {};
  return invalid_input(
      fmt::format("priority: no effect on this driver (a kernel of the greatest priority took {:.0f} us beside "
                  "another, one of the same priority {:.0f} us)",
                  urgent.count(), normal.count()));
}

Result<PriorityEffect> probe_priority(DeviceCode& code, const DeviceInfo& device) {
  if (Status used = code.hip().use_device(device.index); !used) return used.error();
  const Result<int> greatest = greatest_priority(code.hip());
  if (!greatest) return greatest.error();
  if (*greatest >= kNormalPriority) return invalid_input("priority: no effect on this driver (it offers one priority only)");
  Result<Probe> probe = Probe::make(code, device);
  if (!probe) return probe.error();
  const Result<Microseconds> normal = probe->time(kNormalPriority);
  if (!normal) return normal.error();
  const Result<Microseconds> urgent = probe->time(*greatest);
  if (!urgent) return urgent.error();
  return PriorityEffect{*normal, *urgent};
}

}  // namespace elbowroom::hip
