#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/base/time.hpp"
#include "elbowroom/plan/candidates.hpp"
#include "elbowroom/trace/rank_interval.hpp"

namespace elbowroom {

using Seconds = std::chrono::duration<double>;

/// The share of a time that is worth having: times closer to each other are the same for every purpose. On other machines of the
/// model less may well turn around. A plan that saved 0.2 % on one was 3 % slower than none on another (docs/results/summary.md).
inline constexpr double kLeastGain = 0.003;

struct TunerOptions {
  std::uint64_t seed = 1;    ///< decides the order of trials
  Seconds time_limit{60};    ///< of the caller's time, as it reports it; baselines have a trial each whatever it is
  int most_candidates = 24;  ///< measured at all; at least 1
  int screening_rounds = 3;  ///< trials of each newcomer
  int most_trials = 15;      ///< of one candidate
  std::size_t wave = 6;      ///< newcomers that are measured side by side
};

/// A candidate and what was measured of it.
struct MeasuredCandidate {
  Candidate candidate;
  std::vector<Microseconds> times;
  std::optional<std::string> dropped;  ///< why it gets no more trials; absent: it may

  /// Only with at least one time.
  [[nodiscard]] RankInterval interval() const { return rank_interval(times); }
};

/// What the state of a search says that it is.
inline constexpr std::string_view kTuningSchema = "elbowroom.tuning/1";

/// Why a tuner has no more questions.
enum class TunerEnding {
  running,
  separated,    ///< the interval of the best overlaps no other
  inseparable,  ///< the last ones had all trials and still overlap: they are equally good
  out_of_time,
};

ELBOWROOM_API std::string_view to_string(TunerEnding ending);

/// Chooses among plans by measured times: asks for trials, is told times, never runs anything itself. Newcomers are measured side
/// by side with the best so far, in an order shuffled for each round, and losers are dropped. The neighbours of the best become the
/// next newcomers until none is new. Then the last few are measured until their intervals part. With the same seed, candidates and
/// times it asks the same questions. Drift is shared by those that it compares.
class Tuner {
 public:
  /// The plans worth trying next once `plan` is the best, the more promising first.
  using Neighbours = std::function<std::vector<Candidate>(const OverlapPlan& plan)>;

  /// `seeds` are measured first, at most `most_candidates` of them and in this order of preference; at least one.
  ELBOWROOM_API Tuner(TunerOptions options, const std::vector<Candidate>& seeds, Neighbours neighbours);

  /// The candidate of the next trial; absent when the search is over. Asking twice gives the same answer.
  [[nodiscard]] ELBOWROOM_API std::optional<std::size_t> ask();

  /// The time of the trial that was asked for. `spent`: how long the caller took for it, set-up included.
  ELBOWROOM_API void tell(Microseconds time, Seconds spent);
  /// The candidate that was asked for cannot run here, for `reason`; earlier times of it count no more.
  ELBOWROOM_API void refuse(std::string reason, Seconds spent);

  [[nodiscard]] const std::vector<MeasuredCandidate>& candidates() const { return candidates_; }
  /// Least median of those with a time; absent before the first time.
  [[nodiscard]] ELBOWROOM_API std::optional<std::size_t> best() const;
  /// What to take: of those that nothing tells from best(), the one that sets the fewest controls.
  [[nodiscard]] ELBOWROOM_API std::optional<std::size_t> choice() const;
  /// What to measure afresh beside choice(). Of the plans of no baseline with screening_rounds trials it is the one whose interval
  /// ends lowest. That must be lower than the choice's by kLeastGain. Of a plan with two modes a median says little, and one that
  /// is always good may be left behind. Three trials may miss a mode: it is a proposal, for fresh rounds to decide.
  [[nodiscard]] ELBOWROOM_API std::optional<std::size_t> steadiest() const;
  [[nodiscard]] TunerEnding ending() const { return ending_; }
  [[nodiscard]] Seconds spent() const { return spent_; }
  [[nodiscard]] int trials() const { return trials_; }

  /// An `elbowroom.tuning/1` document: everything that resume() needs to go on as if nothing had happened. `subject` says what is
  /// being tuned.
  [[nodiscard]] ELBOWROOM_API std::string state(std::string_view subject) const;
  /// Goes on from a state. `invalid_input` when it is damaged, of another subject or of another seed.
  ELBOWROOM_API static Result<Tuner> resume(TunerOptions options, Neighbours neighbours, std::string_view state,
                                            std::string_view subject, const std::string& source);

 private:
  Tuner(TunerOptions options, Neighbours neighbours) : options_(options), neighbours_(std::move(neighbours)) {}

  /// Whether there is no answer yet although the time limit is over: a baseline was never run, which is then asked for next, or
  /// nothing was.
  [[nodiscard]] bool owes_a_trial();
  void begin_wave(std::vector<std::size_t> wave, int rounds);
  void begin_round();
  void end_trial(Seconds spent);
  void drop_losers();
  void next_wave();
  [[nodiscard]] std::vector<std::size_t> admit_newcomers(std::size_t leader);
  void narrow(std::size_t leader);
  /// Up to where a median is as good as `least`, for every purpose.
  [[nodiscard]] Microseconds same_as(Microseconds least) const;

  TunerOptions options_;
  Neighbours neighbours_;
  std::vector<MeasuredCandidate> candidates_;
  std::vector<std::size_t> wave_;   ///< compared side by side
  std::vector<std::size_t> queue_;  ///< of the current round, the next one last
  int rounds_left_ = 0;             ///< of the wave, after the current round
  std::uint64_t rounds_ = 0;
  Seconds spent_{0};
  int trials_ = 0;
  TunerEnding ending_ = TunerEnding::running;
};

}  // namespace elbowroom
