#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "interposer/core/ab_trial.hpp"

namespace elbowroom::interposer {

/// Steps are begun and timed in turn, as where the host waits for each of them.
class Steps {
 public:
  explicit Steps(AbTrial& trial) : trial_(trial) {}

  /// The arm that the step runs with, which acts on something unless it is the program as it is.
  unsigned begin() {
    trial_.on_step_begun(++step_);
    if (trial_.arm() != 0) { trial_.on_acted(); }
    return trial_.arm();
  }
  void end(std::uint64_t nanoseconds) { trial_.on_step_time(step_, nanoseconds); }
  void lose() { trial_.on_step_lost(step_); }
  void run(std::uint64_t nanoseconds) {
    begin();
    end(nanoseconds);
  }

 private:
  AbTrial& trial_;
  static inline std::uint64_t step_ = 0;
};

/// In its first trial, of repetition 1.
inline AbTrial started(unsigned arms) {
  AbTrial trial;
  trial.begin(arms);
  trial.on_pattern(1);
  return trial;
}

/// Steps of a program that takes `times[arm]` with each arm, until the trial is over; the arms in the order they ran.
inline std::vector<unsigned> run_trial(AbTrial& trial, const std::array<std::uint64_t, 4>& times) {
  std::vector<unsigned> ran;
  for (int i = 0; i < 1'000 && trial.state() == AbTrial::State::trying; ++i) {
    Steps step(trial);
    ran.push_back(step.begin());
    step.end(times[ran.back()]);
  }
  return ran;
}

/// The arm of each block of 1 + 4 steps.
inline std::vector<unsigned> blocks_of(const std::vector<unsigned>& ran) {
  std::vector<unsigned> blocks;
  for (std::size_t i = 0; i < ran.size(); i += 5) { blocks.push_back(ran[i]); }
  return blocks;
}

}  // namespace elbowroom::interposer
