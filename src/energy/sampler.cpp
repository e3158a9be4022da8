#include "elbowroom/energy/sampler.hpp"

#include <chrono>
#include <cstddef>
#include <utility>

namespace elbowroom {

Sampler::Sampler(EnergyMeter& meter, Microseconds every)
    : meter_(meter),
      every_(every),
      sampled_{std::vector<Samples>(meter.gpus()), std::vector<std::vector<GpuState>>(meter.gpus())},
      read_(read_all(/*with_states=*/true)),
      thread_([this] { sample(); }) {}

Sampler::~Sampler() {
  over_ = true;
  if (thread_.joinable()) { thread_.join(); }
}

Result<Sampled> Sampler::stop() {
  over_ = true;
  if (thread_.joinable()) { thread_.join(); }
  if (read_) { read_ = read_all(/*with_states=*/false); }
  if (!read_) { return read_.error(); }
  return std::move(sampled_);
}

Microseconds Sampler::now() { return std::chrono::steady_clock::now().time_since_epoch(); }

void Sampler::sample() {
  for (int round = 1; read_ && !over_; ++round) {
    std::this_thread::sleep_for(every_);
    read_ = read_all(round % kStateEvery == 0);
  }
}

Status Sampler::read_all(bool with_states) {
  for (std::size_t gpu = 0; gpu < sampled_.samples.size(); ++gpu) {
    if (Status done = read(gpu, with_states); !done) { return done; }
  }
  return {};
}

Status Sampler::read(std::size_t gpu, bool with_state) {
  const Result<CounterReading> reading = meter_.read(gpu);
  if (!reading) { return reading.error(); }
  sampled_.samples[gpu].push_back(*reading);
  if (!with_state) { return {}; }
  Result<GpuState> state = meter_.state(gpu);
  if (!state) { return state.error(); }
  sampled_.states[gpu].push_back(*std::move(state));
  return {};
}

}  // namespace elbowroom
