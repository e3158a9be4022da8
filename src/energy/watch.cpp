#include "elbowroom/energy/watch.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "elbowroom/energy/sampler.hpp"

namespace elbowroom {

namespace {

// A state takes longer to read than a counter, and a span of some seconds is to have several.
constexpr int kStateOf = 10;

}  // namespace

struct EnergyWatch::Gpu {
  std::unique_ptr<EnergyMeter> meter;  ///< null: nothing is read
  WatchedGpu seen;
};

EnergyWatch::EnergyWatch(OpenMeters open, Microseconds every)
    : every_(every), thread_([this, opener = std::move(open)] { watch(opener); }) {}

EnergyWatch::~EnergyWatch() {
  over_ = true;
  if (thread_.joinable()) { thread_.join(); }
}

Result<std::vector<WatchedGpu>> EnergyWatch::stop() {
  over_ = true;
  if (thread_.joinable()) { thread_.join(); }
  if (!opened_) { return opened_.error(); }
  std::vector<WatchedGpu> seen;
  seen.reserve(gpus_.size());
  for (Gpu& gpu : gpus_) { seen.push_back(std::move(gpu.seen)); }
  return seen;
}

void EnergyWatch::watch(const OpenMeters& open) {
  Result<std::vector<MeteredGpu>> metered = open();
  if (!metered) {
    opened_ = metered.error();
    return;
  }
  for (MeteredGpu& one : *metered) {
    Gpu gpu{one.meter ? *std::move(one.meter) : nullptr, {one.bus_id, {}, {}, {}}};
    if (!one.meter) { gpu.seen.trouble = one.meter.error().message; }
    if (gpu.meter != nullptr) { gpu.seen.counter = gpu.meter->library(); }
    gpus_.push_back(std::move(gpu));
  }
  const auto read_all = [&](bool with_states) {
    for (Gpu& gpu : gpus_) { read(gpu, with_states); }
  };
  for (int round = 0; !over_; ++round) {
    read_all(round % kStateOf == 0);
    std::this_thread::sleep_for(every_);
  }
  read_all(/*with_states=*/true);
  const Microseconds asked = Sampler::now();
  while (!all_moved_since(asked) && Sampler::now() - asked < kLongestWait) {
    std::this_thread::sleep_for(every_);
    read_all(/*with_states=*/false);
  }
}

bool EnergyWatch::all_moved_since(Microseconds time) const {
  return std::ranges::all_of(
      gpus_, [&](const Gpu& gpu) { return gpu.meter == nullptr || gpu.seen.history.last_move() > std::optional(time); });
}

void EnergyWatch::read(Gpu& gpu, bool with_state) {
  if (gpu.meter == nullptr) { return; }
  const auto give_up = [&](const Error& why) {
    gpu.seen.trouble = why.message;
    gpu.meter.reset();
  };
  const Result<CounterReading> reading = gpu.meter->read(0);
  if (!reading) { return give_up(reading.error()); }
  gpu.seen.history.add(*reading);
  if (!with_state) { return; }
  const Result<GpuState> state = gpu.meter->state(0);
  if (!state) { return give_up(state.error()); }
  gpu.seen.history.add(reading->at, *state);
}

}  // namespace elbowroom
