#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "interposer/core/arm_order.hpp"

namespace elbowroom::interposer {

/// Which of a few ways to run is fastest, found by running them in turn. Blocks of steps have each arm, at most kRounds rounds of
/// them. Arm 0 is the program as it is. Another arm takes its place only when the paired differences of the rounds prove it faster
/// by a t-test. The test is made after kLooks rounds, each time with an equal share of the error. The arm loses the place again
/// unless it gains in the next trial too. The test's errors add up to kError over the life of the process, however often it
/// compares. An arm is dropped as soon as it will hardly be proven any more, or has acted on nothing. A trial ends early when an
/// arm is proven and no other takes less, or when no arm is left in question.
///
/// Processes may share their steps and decide alone, as the stages of a pipeline do. Each then sees in its times what the others
/// try as well. The first trial has one order of arms in all processes. So those that find their steps together judge by what all
/// gain together. Later trials have an order of their own for each repetition, and come at times of their own. So each process
/// judges by itself, while the others keep still. Processes with equal repetitions go together in these as well.
///
/// The host runs ahead of the devices, so a step is begun long before its time is known. Arms are dropped at one step of each
/// round, by times that are a block old at least. So ranks that see the same times drop the same arms, one that learns them late a
/// round after the others. A program has phases, each with a repetition of its own (training, evaluation). Each phase has its own
/// trial and its own choice. What an earlier run settled for is in force from the begin of its phase, and checked by one trial.
/// That comes soon, unless it is the program as it is. While no repetition is known the program runs as it is. Deterministic;
/// allocates nothing.
class AbTrial {
 public:
  static constexpr unsigned kMaxArms = ArmOrder::kArms;
  static constexpr unsigned kEveryArm = (1U << kMaxArms) - 1;
  static constexpr unsigned kSettling = 1;                        ///< steps after a change that do not count
  static constexpr unsigned kMeasured = 4;                        ///< steps of a block that count
  static constexpr std::array<unsigned, 4> kLooks{4, 8, 16, 24};  ///< rounds after which an arm may be proven
  static constexpr unsigned kRounds = kLooks.back();
  static constexpr unsigned kRecheck = 2048;  ///< steps after a trial before the next one, at least
  static constexpr unsigned kTurn =
      kLooks[1] * 3 * (kSettling + kMeasured);  ///< steps of a trial of three arms that ends at its second look
  static constexpr unsigned kTurns = 16;        ///< times at which a repetition's next trial may come, a turn apart
  static constexpr unsigned kCheckTurns = 4;    ///< the same for the check of what was just chosen
  static constexpr unsigned kCheckSoon = 32;    ///< steps with another arm that an earlier run settled for before it is checked
  /// Steps begun before the time of the first of them must be known. A stream takes about a thousand launches before a host has to
  /// wait. The collectives of one process may be spread over eight devices, and a step has six of them.
  static constexpr unsigned kMostAhead = 2048;
  /// Trials whose times never came, after which the program is left as it is for as long as it repeats itself.
  static constexpr unsigned kMostUnmeasured = 4;
  /// Times in a row that a block is broken off before its end, after which its trial counts as one without times.
  static constexpr unsigned kMostBroken = 8;
  static constexpr unsigned kPhases = 8;  ///< remembered; the one that was entered longest ago is forgotten for one more
  /// Phases forgotten, after which a new one is compared only once it has lasted for kRecheck steps. Where more phases than are
  /// remembered take turns, each would be compared anew whenever it is back.
  static constexpr unsigned kMostForgotten = 16;
  static constexpr double kLeastGain = 0.005;    ///< a proven gain of less is not worth a change
  static constexpr unsigned kFirstLook = 2;      ///< rounds before an arm may be dropped for its times
  static constexpr double kError = 0.05;         ///< chance that the process ever leaves arm 0 for an arm that is no faster
  static constexpr float kMostOfHiccup = 1.25F;  ///< what the longest step of a block counts at most, of the one before it
  static constexpr double kLeastSpread = 5e-4;   ///< of a round's difference: clocks of devices do not agree better

  enum class State : std::uint8_t { waiting, trying, settled };

  /// What the last complete trial of a phase found about one arm. It is the gain over arm 0 as a share of arm 0's time, with a 95 %
  /// interval.
  struct Finding {
    double gain = 0.0;
    double low = 0.0;
    double high = 0.0;
  };

  /// Steps after a trial of this repetition before the next one: kRecheck, and fewer than kTurns turns.
  static std::uint64_t recheck_after(std::uint64_t pattern);
  /// The same where an arm was chosen that must gain in the next trial too: 1 to kCheckTurns turns.
  static std::uint64_t check_after(std::uint64_t pattern);

  /// `arms`: 1 to kMaxArms.
  void begin(unsigned arms);
  /// What a phase settled for.
  struct Choice {
    std::uint64_t pattern = 0;
    unsigned arm = 0;
    Finding finding;         ///< zero for arm 0, and before a trial
    unsigned decisions = 0;  ///< trials of this process that ended with it, since another arm was chosen
  };

  /// The program's repetition was found, first or again. A repetition that was met before keeps what was chosen for it;
  /// `remembered`, an arm, is what an earlier run settled for, and counts for others. `offered`: a bit for each arm that may be
  /// compared, arm 0 among them.
  void on_pattern(std::uint64_t pattern, std::optional<unsigned> remembered = std::nullopt, unsigned offered = kEveryArm);
  /// The repetition stopped: the program runs as it is, and an unfinished block counts for nothing.
  void on_lost();
  /// Step `step` begins, with arm(). Numbers ascend.
  void on_step_begun(std::uint64_t step);
  /// The arm in force changed something of the program.
  void on_acted();
  /// How long a step took that began a while ago; never told of some.
  void on_step_time(std::uint64_t step, std::uint64_t nanoseconds);
  /// The time of this step will never be told: its trial begins anew.
  void on_step_lost(std::uint64_t step);

  [[nodiscard]] unsigned arm() const { return lost_ ? 0 : phase().arm; }
  [[nodiscard]] unsigned arms() const { return arms_; }
  [[nodiscard]] State state() const { return phase().state; }
  /// What the phase settled for, also while it is lost or compares again.
  [[nodiscard]] unsigned chosen() const { return phase().chosen; }
  /// Nanoseconds per step in the last complete trial, geometric mean of its rounds; 0 before one, and for an arm that acted on
  /// nothing.
  [[nodiscard]] std::uint64_t step_time(unsigned arm) const { return phase().result[arm]; }
  /// Zero for an arm that acted on nothing.
  [[nodiscard]] Finding finding(unsigned arm) const { return phase().findings[arm]; }
  /// Trials that came to an end, of all phases.
  [[nodiscard]] unsigned decisions() const { return decisions_; }
  /// What an earlier run settled for in this phase, whatever became of it.
  [[nodiscard]] std::optional<unsigned> remembered() const { return phase().remembered; }
  /// Of each phase that a trial or an earlier run decided.
  template <class Visit>
  void for_each_choice(Visit&& visit) const {
    for (const Phase& phase : phases_) {
      if (phase.decisions > 0 || phase.unchecked) { visit(choice_of(phase)); }
    }
  }

 private:
  struct Block {
    std::array<float, kMeasured> times{};  ///< nanoseconds
    std::uint8_t counted = 0;
  };
  /// A block by its place in the trial.
  struct Place {
    unsigned round = 0;  ///< kRounds: behind the last one
    unsigned nth = 0;    ///< of the round
    unsigned arm = 0;
  };
  /// A step whose time is awaited.
  struct Awaited {
    std::uint32_t step = 0;  ///< 0: none
    std::uint8_t phase = 0;
    std::uint8_t round = 0;
    std::uint8_t arm = 0;
  };
  struct Phase {
    std::uint64_t pattern = 0;
    std::uint64_t entered_at = 0;  ///< count of changes of phase
    State state = State::waiting;
    unsigned arm = 0;
    unsigned chosen = 0;
    unsigned offered = 0;     ///< a bit for each arm
    unsigned measured = 0;    ///< a bit for each arm; always arm 0 and what is chosen
    unsigned acted = 0;       ///< the same, for those that changed something in this trial
    unsigned ended = 0;       ///< trials, however they ended
    ArmOrder order;           ///< of the trial
    Place now;                ///< the block that steps are begun for
    Place before;             ///< the block before it
    unsigned steps = 0;       ///< begun in the block
    unsigned broken = 0;      ///< blocks in a row
    unsigned after = 0;       ///< begun since the last block, whether its times are known or not
    unsigned unmeasured = 0;  ///< trials in a row
    unsigned decisions = 0;   ///< that ended with what is chosen
    std::optional<unsigned> remembered;
    bool unchecked = false;  ///< no trial of this repetition's own has ended since the choice came into force
    bool open = false;       ///< the block before: its last step has no end yet
    bool left = false;       ///< the last block: a step was begun after it
    std::array<std::array<Block, kMaxArms>, kRounds> blocks{};
    std::array<std::uint64_t, kMaxArms> result{};
    std::array<Finding, kMaxArms> findings{};
  };
  /// How much longer one arm takes than another, from round to round, as differences of logarithms.
  struct Difference {
    double mean = 0.0;
    double spread = 0.0;  ///< standard deviation of a round's difference
    double error = 0.0;   ///< of the mean
  };

  [[nodiscard]] const Phase& phase() const { return phases_[now_]; }
  Phase& phase() { return phases_[now_]; }
  static Choice choice_of(const Phase& phase) {
    return {phase.pattern, phase.chosen, phase.findings[phase.chosen], phase.decisions};
  }
  static std::uint64_t until_next(const Phase& phase);
  static void start_with(Phase& phase, unsigned remembered);
  static void start_later(Phase& phase);
  void start_trial(Phase& phase);
  void start_again(Phase& phase);
  void start_block(Phase& phase, Place block);
  [[nodiscard]] unsigned number_of(const Phase& phase) const { return static_cast<unsigned>(&phase - phases_.data()); }
  /// No time is awaited for what `matches` among the phase's steps.
  template <class Matches>
  void forget_steps(const Phase& phase, Matches matches);
  static void leave_alone(Phase& phase);
  static void next_block(Phase& phase);
  static Place first(const Phase& phase, unsigned round);
  static Place after(const Phase& phase, Place block);
  /// Whether all times of the first rounds are.
  static bool known(const Phase& phase, unsigned rounds);
  void drop_arms(Phase& phase);
  /// Ends the trial if an arm is proven by so many rounds and no other takes less. Whether it did.
  bool choose_proven(Phase& phase, unsigned rounds);
  /// Ends the trial with what its first rounds found.
  void choose(Phase& phase, unsigned chosen, unsigned rounds);
  void settle(Phase& phase, unsigned chosen);
  static double time_of(const Phase& phase, unsigned round, unsigned arm);
  static Difference difference(const Phase& phase, unsigned arm, unsigned from, unsigned rounds);
  /// The chance of error of one arm at one look of the next decision.
  [[nodiscard]] double error_of_one() const;
  /// Whether the arm is faster than what is chosen now, and by enough.
  [[nodiscard]] bool proven(const Phase& phase, unsigned arm, unsigned rounds) const;
  /// Of the arms that are proven faster than the choice so far the simplest, unless a later one gains more by kLeastGain.
  [[nodiscard]] unsigned best_proven(const Phase& phase, unsigned rounds) const;
  /// Whether it will hardly be, by the first rounds.
  [[nodiscard]] bool futile(const Phase& phase, unsigned arm, unsigned rounds) const;
  static void note_finding(Phase& phase, unsigned arm, unsigned rounds);

  unsigned arms_ = 1;
  unsigned now_ = 0;
  bool lost_ = true;
  std::uint64_t changes_ = 0;
  unsigned decisions_ = 0;
  unsigned forgotten_ = 0;  ///< phases
  std::array<Phase, kPhases> phases_{};
  std::array<Awaited, kMostAhead> awaited_{};  ///< of all phases, as the numbers of steps are
};

}  // namespace elbowroom::interposer
