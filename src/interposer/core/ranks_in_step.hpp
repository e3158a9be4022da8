#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "interposer/core/rank_agreement.hpp"
#include "run/trial_words.hpp"

namespace elbowroom::interposer {

/// Who tries and chooses the arms of a process's controls while a repetition lasts. Ranks that share communicators have one arm at
/// a time: the process that leads all its communicators chooses, and the others follow. An arm is in force from the collective on
/// for which all have agreed to it. So no rank is timed while another one tries something else.
///
/// It is so while all ranks repeat the same collectives and compare the same arms. Where they do not, or do not come to agree, each
/// process chooses by itself until another repetition is found. Nobody waits: until it is known who chooses, the program runs as it
/// is.
class RanksInStep {
 public:
  /// Steps of a repetition until all ranks must be ready, breaks left out. One number for who would decide and for those who would
  /// follow: ranks that do not come together then compare from one step on.
  static constexpr unsigned kMostAsking = 64;
  static constexpr unsigned kMostWaiting = 512;  ///< steps until an arm must be in force, and for which one may only be tried

  enum class Mode : std::uint8_t { alone, asks, decides, follows };
  /// Why a process chooses by itself.
  enum class Reason : std::uint8_t { none, no_ranks, one_process, others_differ, not_agreed };

  /// `possible`: there may be ranks to agree with. `arms`: names what is compared, the same in every process that compares it.
  void begin(bool possible, std::uint64_t arms);
  void on_pattern(std::uint64_t pattern, const RankStanding& now);
  void on_lost();
  /// A step begins, and the one before it is over.
  void on_step_begun(const RankStanding& now);

  [[nodiscard]] Mode mode() const { return mode_; }
  [[nodiscard]] Reason reason() const { return reason_; }
  /// Arms are tried and chosen in this process.
  [[nodiscard]] bool chooses() const { return pattern_ != 0 && (mode_ == Mode::alone || mode_ == Mode::decides); }
  /// The arm that is tried was in force during all of the step before the one that began last, so that this one counts.
  [[nodiscard]] bool counts() const { return counts_; }
  /// What is to be told to the ranks. `settled`: this process has chosen.
  [[nodiscard]] std::uint64_t ready() const;
  [[nodiscard]] std::uint32_t value(unsigned arm, bool settled) const;
  /// The arm of a process that does not choose by itself, by what is agreed now.
  [[nodiscard]] unsigned arm(std::uint32_t agreed) const;
  /// Of one that follows: what it follows is no longer only tried.
  [[nodiscard]] bool kept() const { return kept_; }

  /// What another process chose for a repetition.
  struct Followed {
    std::uint64_t pattern = 0;
    unsigned arm = 0;
    unsigned decisions = 0;  ///< comparisons that were seen to end with it
  };
  [[nodiscard]] std::optional<Followed> followed() const;

 private:
  [[nodiscard]] bool leads_here(std::uint32_t agreed) const { return (agreed & kArmShared) != 0 && is_for(agreed, pattern_); }
  void go_alone(Reason reason);
  void go_apart(Reason reason);
  void ask_again();
  void wait_for_others(const RankStanding& now, bool ready);
  void go_on_deciding(bool ready, bool as_wanted);
  void go_on_following(const RankStanding& now);
  void follow(std::uint32_t agreed);

  bool possible_ = false;
  Mode mode_ = Mode::alone;
  Reason reason_ = Reason::no_ranks;
  bool counts_ = false;
  bool fresh_ = false;  ///< the repetition was found a collective ago: no step of it is over
  bool kept_ = false;
  bool saw_comparison_ = false;
  unsigned waited_ = 0;
  std::uint64_t arms_ = 0;
  std::uint64_t pattern_ = 0;  ///< 0: none is known now
  /// A repetition for which the ranks did not come together, or not yet: phases of a program take turns.
  struct Apart {
    std::uint64_t pattern = 0;
    unsigned waited = 0;        ///< steps
    Reason why = Reason::none;  ///< none: not yet
  };
  void note_wait(unsigned steps, Reason why);
  Apart* find_apart();
  std::array<Apart, 8> apart_{};  ///< the last few
  std::size_t next_apart_ = 0;
  std::uint32_t last_ = 0;  ///< what was agreed when the last step began
  RankStanding before_;
  Followed followed_;
};

/// The report's words, by mode and by reason.
inline constexpr std::array<const char*, 4> kModeWords{run::kEachDecides, run::kDeciderNotKnown, run::kDecidesHere,
                                                       run::kDecidesElsewhere};
inline constexpr std::array<const char*, 5> kReasonWords{"", "no collective of ranks that can agree was seen",
                                                         "all ranks are of one process", "the ranks did not come together",
                                                         "the ranks did not come to agree"};

}  // namespace elbowroom::interposer
