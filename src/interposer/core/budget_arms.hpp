#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "interposer/core/ab_trial.hpp"
#include "interposer/core/rank_agreement.hpp"

namespace elbowroom::interposer {

/// Compares block budgets of collectives while the program runs, beside what AbTrial compares. Ranks must have the same budget for
/// the same collective. So one process decides for all that share a communicator with it. An arm is in force only when the ranks
/// have agreed on it.
///
/// The process compares when its other controls are settled and nobody else leads it. The steps of all ranks must repeat the same
/// collectives, with their controls settled as well. A step counts for an arm only if the arm was in force from the step's begin to
/// its end. What the ranks never agree on is given up after kMostWaiting steps, and the value in force stays.
class BudgetArms {
 public:
  static constexpr std::array<std::uint8_t, 4> kBlocks{0, 16, 8, 4};  ///< of each arm; 0: the library's own number
  static constexpr unsigned kMostTried = 2;      ///< arms below what the library takes by itself: fewer blocks only make it slower
  static constexpr unsigned kMostWaiting = 512;  ///< steps until an arm must be in force

  /// Why nothing is compared; the report's words.
  enum class Reason : std::uint8_t { none, not_compared, nothing_asked, few_blocks, nothing_beside, others_differ, not_agreed };
  struct StepFacts {
    std::uint64_t step = 0;
    bool settled = false;  ///< what AbTrial compares in this process
    bool beside = false;   ///< some computation ran beside a collective
  };

  void begin(bool compares);
  /// A collective that NCCL asked about, with the blocks that it took by itself.
  void on_own_blocks(std::uint64_t blocks) { most_ = blocks > most_ ? blocks : most_; }
  /// As AbTrial's functions of these names; `remembered`: blocks that an earlier run settled for.
  void on_pattern(std::uint64_t pattern, std::optional<std::uint8_t> remembered);
  void on_lost();
  void on_step_begun(const StepFacts& facts, const RankStanding& now);
  void on_step_time(std::uint64_t step, std::uint64_t nanoseconds) { trial_.on_step_time(step, nanoseconds); }
  void on_step_lost(std::uint64_t step) { trial_.on_step_lost(step); }

  /// The part of RankWish::value that is about budgets.
  [[nodiscard]] std::uint32_t value() const { return value_; }
  /// Times of steps are of use.
  [[nodiscard]] bool trying() const { return entered_ && trial_.state() == AbTrial::State::trying; }

  // For the report:
  [[nodiscard]] bool compares() const { return compares_; }
  [[nodiscard]] const AbTrial& trial() const { return trial_; }
  [[nodiscard]] bool follows() const { return follows_; }
  [[nodiscard]] Reason reason() const { return reason_; }
  /// What a repetition settled for; absent before that.
  struct Kept {
    std::uint8_t blocks = 0;
    AbTrial::Finding finding;  ///< zero where another process decided
    unsigned decisions = 0;
  };
  [[nodiscard]] std::optional<Kept> kept(std::uint64_t pattern) const;

 private:
  [[nodiscard]] unsigned offered() const;
  [[nodiscard]] Reason not_now(const StepFacts& facts, bool ready) const;
  void enter();
  void leave();
  void follow(std::uint32_t agreed);
  void wish_for_arm();

  AbTrial trial_;
  bool compares_ = false;
  bool entered_ = false;
  bool given_up_ = false;
  bool follows_ = false;
  Reason reason_ = Reason::not_compared;
  unsigned waited_ = 0;
  std::uint64_t most_ = 0;
  std::uint64_t pattern_ = 0;  ///< 0: none is known now
  std::optional<std::uint8_t> remembered_;
  RankStanding before_;
  std::uint32_t value_ = 0;
  std::uint64_t followed_pattern_ = 0;  ///< for which another process has settled
  Kept followed_;
  bool saw_comparison_ = false;
};

const char* text(BudgetArms::Reason reason);

}  // namespace elbowroom::interposer
