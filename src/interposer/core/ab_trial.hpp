#pragma once

#include <array>
#include <cstdint>

namespace elbowroom::interposer {

/// Which of a few ways to run is fastest, found by running them in turn: blocks of steps with each arm, three rounds forth and back, then
/// the best for long, then again. Arm 0 is the program as it is; a later arm is chosen only if it gains. The host runs ahead of the
/// devices, so a step is begun long before its time is known: which arm a step runs with depends on the count of steps alone, and on the
/// times only at the end of a trial: ranks that learn the same times late or early try the same arms at the same steps. Deterministic.
class AbTrial {
 public:
  static constexpr unsigned kMaxArms = 4;
  static constexpr unsigned kSettling = 1;  ///< steps after a change that do not count
  static constexpr unsigned kMeasured = 4;  ///< steps of a block that count
  static constexpr unsigned kRounds = 3;
  static constexpr unsigned kRecheck = 2048;   ///< steps after a trial before the next one
  static constexpr unsigned kMostAhead = 256;  ///< steps begun before the time of the first of them must be known
  /// Trials whose times never came, after which the program is left as it is for as long as it repeats itself.
  static constexpr unsigned kMostUnmeasured = 2;
  /// A later arm must be faster than an earlier by one in this many.
  static constexpr unsigned kLeastGain = 200;

  enum class State : std::uint8_t { waiting, trying, settled };

  /// `arms`: 1 to kMaxArms. As long as no step was found the program runs as it is.
  void begin(unsigned arms);
  /// The program's repetition was found, first or again. The same repetition as before keeps what was chosen for it.
  void on_pattern(std::uint64_t pattern);
  /// The repetition stopped: an unfinished block counts for nothing.
  void on_lost();
  /// Step `step` begins, with arm(). Numbers ascend.
  void on_step_begun(std::uint64_t step);
  /// How long a step took that began a while ago; never told of some.
  void on_step_time(std::uint64_t step, std::uint64_t nanoseconds);

  [[nodiscard]] unsigned arm() const { return arm_; }
  [[nodiscard]] unsigned arms() const { return arms_; }
  [[nodiscard]] State state() const { return state_; }
  /// Nanoseconds per step in the last complete trial, median of its rounds; 0 before one.
  [[nodiscard]] std::uint64_t step_time(unsigned arm) const { return result_[arm]; }

 private:
  static constexpr unsigned kMostBlocks = kMaxArms * kRounds;
  struct Block {
    std::uint64_t time = 0;
    unsigned counted = 0;
  };
  /// A step whose time is awaited.
  struct Awaited {
    std::uint64_t step = 0;  ///< 0: none
    unsigned block = 0;
  };

  void start_trial();
  void start_block(unsigned block);
  void leave_alone();
  void choose();
  [[nodiscard]] unsigned arm_of_block(unsigned block) const;
  [[nodiscard]] unsigned blocks() const { return arms_ * kRounds; }
  [[nodiscard]] bool given_up() const { return unmeasured_ == kMostUnmeasured; }

  unsigned arms_ = 1;
  unsigned arm_ = 0;
  unsigned chosen_ = 0;
  unsigned block_ = 0;  ///< the one that steps are begun for; blocks(): all were
  unsigned steps_ = 0;  ///< begun in the block
  unsigned after_ = 0;  ///< begun since the last block, whether its times are known or not
  unsigned complete_ = 0;
  unsigned unmeasured_ = 0;  ///< trials in a row
  bool left_ = false;        ///< the last block: a step was begun after it
  State state_ = State::waiting;
  std::uint64_t pattern_ = 0;
  std::array<Block, kMostBlocks> blocks_{};
  std::array<Awaited, kMostAhead> awaited_{};
  std::array<std::uint64_t, kMaxArms> result_{};
};

const char* text(AbTrial::State state);

}  // namespace elbowroom::interposer
