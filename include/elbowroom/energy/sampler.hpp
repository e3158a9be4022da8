#pragma once

#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/energy/joules.hpp"
#include "elbowroom/energy/meter.hpp"

namespace elbowroom {

/// What a sampler saw of each GPU.
struct Sampled {
  std::vector<Samples> samples;
  std::vector<std::vector<GpuState>>
      states;  ///< the first one is as old as the first sample, and one is of each kStateEvery samples
};

/// A state takes longer to read than a counter.
inline constexpr int kStateEvery = 50;

/// Reads the counters of all GPUs again and again, from its making to stop(). It reads once before it is made, then in a thread of
/// its own, and once more when that has ended. So what was counted in between lies between samples, however late the thread came to
/// run. Nobody else may call the meter meanwhile, and the meter must outlive it.
class Sampler {
 public:
  ELBOWROOM_API Sampler(EnergyMeter& meter, Microseconds every);
  ELBOWROOM_API ~Sampler();
  Sampler(const Sampler&) = delete;
  Sampler& operator=(const Sampler&) = delete;

  /// The first error of a reading ends the sampling and is the answer.
  ELBOWROOM_API Result<Sampled> stop();

  /// The clock of the samples.
  ELBOWROOM_API static Microseconds now();

 private:
  void sample();
  Status read_all(bool with_states);
  Status read(std::size_t gpu, bool with_state);

  EnergyMeter& meter_;
  Microseconds every_;
  std::atomic<bool> over_{false};
  Sampled sampled_;
  Status read_;
  std::thread thread_;  ///< last: it uses the others
};

}  // namespace elbowroom
