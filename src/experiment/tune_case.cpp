#include "elbowroom/experiment/tune_case.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <iterator>
#include <memory>
#include <span>
#include <utility>

#include "elbowroom/experiment/prediction.hpp"
#include "elbowroom/experiment/search.hpp"
#include "elbowroom/experiment/stored_plans.hpp"
#include "elbowroom/plan/compute_facts.hpp"
#include "elbowroom/plan/controls.hpp"
#include "elbowroom/plan/program.hpp"
#include "experiment/baselines.hpp"
#include "experiment/case_error.hpp"
#include "experiment/energy_trials.hpp"
#include "experiment/energy_verdict.hpp"
#include "experiment/search_state.hpp"
#include "experiment/yardsticks.hpp"

namespace elbowroom {
namespace {

using detail::in_case;

using Clock = std::chrono::steady_clock;

// Both sides alone, five baselines, two finalists.
constexpr int kUsualSchedules = 9;
// Of the search's time limit, for predictions besides: most cases need a second, the largest minutes.
constexpr double kShareOfPredictions = 0.25;
// Of the search's time limit, for caps of the baselines that the search did not run.
constexpr double kShareOfBaselines = 0.25;

/// Predicts until that took `most` in all; what is asked for later has no prediction.
Predictor bounded(Predictor predict, Seconds most) {
  return [predict = std::move(predict), left = most](Scheme scheme, const OverlapPlan& plan) mutable -> Result<Microseconds> {
    if (left <= Seconds(0)) { return unavailable("the time for predictions is over"); }
    const auto begin = Clock::now();
    Result<Microseconds> time = predict(scheme, plan);
    left -= Clock::now() - begin;
    return time;
  };
}

std::string as_json(const Case& what) {
  return std::visit([](const auto& one) { return to_json(one, -1); }, what);
}

class TuneRun {
 public:
  TuneRun(Backend& backend, const Case& what, const TuneSettings& settings, const TuneProgress& progress)
      : backend_(backend), what_(what), settings_(settings), progress_(progress) {}

  Result<TunedCase> run() {
    if (Status goes_on = progress_("preparing", nullptr, std::nullopt); !goes_on) { return goes_on.error(); }
    Result<CaseTrials> trials = CaseTrials::prepare(backend_, what_);
    if (!trials) { return in_case(name_of(what_), trials.error()); }
    trials_.emplace(std::move(*trials));
    tuned_.what = what_;
    tuned_.choice.key = profile_key(what_, trials_->compute().footprint, surroundings_of(backend_));
    if (const auto* scenario = std::get_if<Scenario>(&what_)) { tuned_.choice.made_for = case_size(*scenario); }
    for (Status (TuneRun::* const step)() :
         {&TuneRun::find_counters, &TuneRun::search, &TuneRun::measure_afresh, &TuneRun::verify}) {
      if (Status done = (this->*step)(); !done) { return in_case(name_of(what_), done.error()); }
    }
    return std::move(tuned_);
  }

 private:
  /// Who wants the least energy is told before a search that there is no counter.
  Status find_counters() {
    tuned_.objective = settings_.objective;
    if (settings_.objective == Objective::time) { return {}; }
    const auto before = [this](std::string_view what) { return progress_(what, nullptr, std::nullopt); };
    Result<detail::EnergyTrials> energy = detail::EnergyTrials::begin(*settings_.energy, backend_, *trials_, before);
    if (!energy) { return Error{energy.error().kind, fmt::format("no energy: {}", energy.error().message)}; }
    energy_.emplace(*std::move(energy));
    return {};
  }

  Status search() {
    if (Status goes_on = progress_("ranking candidates", nullptr, std::nullopt); !goes_on) { return goes_on; }
    Result<ControlSite> site = trials_->site();
    if (!site) { return site.error(); }
    const auto accepts = [this, plain = plain_plan(*site)](const OverlapPlan& plan) {
      const Status free = sets_nothing_left_out(plan, plain);
      return free ? trials_->accepts(plan) : free;
    };
    space_ = std::make_unique<CandidateSpace>(std::move(*site), accepts);
    if (settings_.prior) {
      const Predictor simulated = simulated_times(what_, trials_->device());
      if (simulated) { predict_ = bounded(simulated, settings_.tuner.time_limit * kShareOfPredictions); }
    }
    detail::SearchState state(settings_.state_for, subject(), settings_.notice);
    std::optional<Tuner> tuner = state.resume(settings_.tuner, neighbours_in(*space_, predict_));
    if (!tuner) { tuner = begin_search(settings_.tuner, *space_, predict_); }
    const auto after = [&](const Tuner& told) {
      state.save(told);
      const Seconds left = settings_.tuner.time_limit - told.spent() + time_afresh(told.spent() / std::max(1, told.trials()));
      Status goes_on = progress_("searching", &told, left);
      if (!goes_on) { state.keep(told); }
      return goes_on;
    };
    if (Status searched = elbowroom::search(*tuner, *trials_, after); !searched) { return searched; }
    state.remove();
    return keep(*tuner);
  }

  /// All that times and candidates depend on: those of another search are of no use to this one.
  [[nodiscard]] std::string subject() const {
    std::string words = fmt::format("{} {} {} {}", to_string(tuned_.choice.key), as_json(what_), fmt::join(settings_.left_out, ","),
                                    settings_.prior);
    for (const auto& [name, version] : backend_.versions()) { words += fmt::format(" {}={}", name, version); }
    return words;
  }

  [[nodiscard]] Status sets_nothing_left_out(const OverlapPlan& plan, const OverlapPlan& plain) const {
    for (const std::string& name : settings_.left_out) {
      if (control(name).get(plan) != control(name).get(plain)) { return invalid_input(fmt::format("{}: left out", name)); }
    }
    return {};
  }

  /// About what the fresh rounds take, if a run takes so long.
  [[nodiscard]] Seconds time_afresh(Seconds run) const {
    const Seconds round = run * static_cast<double>(kUsualSchedules);
    return round * static_cast<double>(confirming_rounds(round, settings_.tuner.time_limit));
  }

  Status keep(const Tuner& tuner) {
    tuned_.candidates = tuner.candidates();
    tuned_.ending = tuner.ending();
    tuned_.spent = tuner.spent();
    tuned_.choice.trials = tuner.trials();
    const std::optional<std::size_t> best = tuner.choice();
    if (!best) { return failed(fmt::format("nothing could be run: {}", tuned_.candidates.front().dropped.value_or(""))); }
    winner_time_ = tuned_.candidates[*best].interval().median;
    for (const std::optional<std::size_t>& at : {best, tuner.steadiest()}) {
      if (at && tuned_.candidates[*at].candidate.scheme == Scheme::tuned) {
        finalists_.push_back({tuned_.candidates[*at].candidate, {}});
      }
    }
    if (energy_) { add_other_ways(); }
    return {};
  }

  /// The fastest schedule need not be the one that takes the least energy.
  void add_other_ways() {
    std::vector<Candidate> known;
    known.reserve(finalists_.size());
    for (const Finalist& finalist : finalists_) { known.push_back(finalist.candidate); }
    for (const Candidate& other : detail::fastest_of_other_ways(tuned_.candidates, known)) { finalists_.push_back({other, {}}); }
  }

  /// Everything that is reported, in fresh rounds. Times that chose a winner flatter it, and what was measured before a search was
  /// measured on a cooler device.
  Status measure_afresh() {
    const Seconds limit = settings_.tuner.time_limit;
    const auto before_side = [&] { return progress_("running the baselines", nullptr, time_afresh(winner_time_)); };
    const Result<std::vector<Candidate>> found =
        detail::baseline_candidates(*space_, *trials_, tuned_.candidates, limit * kShareOfBaselines, before_side);
    if (!found) { return found.error(); }
    const std::vector<Candidate>& sides = *found;
    const OverlapPlan none = plain_plan(space_->site());
    std::vector<TimedSchedule>& all = tuned_.afresh;
    all = {{"compute_only", Order::compute_only, none, {}}, {"comm_only", Order::comm_only, none, {}}};
    const std::size_t alone = all.size();
    for (const Candidate& side : sides) {
      all.push_back({std::string(to_string(side.scheme)), order_of(side.scheme), side.plan, {}});
    }
    for (const Finalist& finalist : finalists_) { all.push_back({"tuned", Order::concurrent, finalist.candidate.plan, {}}); }
    std::vector<TimedSchedule*> schedules;
    std::ranges::transform(all, std::back_inserter(schedules), [](TimedSchedule& schedule) { return &schedule; });

    const int count = confirming_rounds(winner_time_ * static_cast<double>(schedules.size()), limit);
    const Rounds rounds{0, count, settings_.tuner.seed};
    const auto begun = Clock::now();
    const auto before_run = [&](int over) {
      const Seconds spent = Clock::now() - begun;
      const Seconds round = over > 0 ? spent / over : Seconds(winner_time_ * static_cast<double>(schedules.size()));
      return progress_("measuring the choice afresh", nullptr, round * static_cast<double>(count - over));
    };
    if (Status timed = time_in_rounds(*trials_, schedules, rounds, before_run); !timed) { return timed; }
    for (std::size_t at = 0; at < finalists_.size(); ++at) { finalists_[at].times = all[alone + sides.size() + at].times; }
    const std::span<const TimedSchedule> plain(all.data() + alone, sides.size());
    tuned_.compute_alone = rank_interval(all[0].times).median;
    tuned_.comm_alone = rank_interval(all[1].times).median;
    tuned_.sequential = rank_interval(plain.front().times).median;
    Result<detail::Yardsticks> yardsticks = detail::yardsticks_of(*trials_, tuned_.compute_alone, tuned_.comm_alone);
    if (!yardsticks) { return yardsticks.error(); }
    tuned_.critical_path = yardsticks->critical_path;
    tuned_.hardware_limit = yardsticks->hardware_limit;
    tuned_.can_overlap = yardsticks->can_overlap;
    if (const auto* scenario = std::get_if<Scenario>(&what_)) {
      tuned_.limited_by = limiting_resource(space_->site(), scenario->compute, tuned_.compute_alone, tuned_.comm_alone);
    }
    if (energy_) { return choose_by_energy(sides); }
    // The least of several medians is a little too good: an opponent that is hard to beat.
    const auto best =
        std::ranges::min_element(plain, {}, [](const TimedSchedule& side) { return rank_interval(side.times).median; });
    return choose({sides[static_cast<std::size_t>(best - plain.begin())], best->times});
  }

  Status choose_by_energy(const std::vector<Candidate>& sides) {
    const std::size_t alone = tuned_.afresh.size() - sides.size() - finalists_.size();
    const std::span<const TimedSchedule> schedules = std::span<const TimedSchedule>(tuned_.afresh).subspan(alone);
    Result<detail::EnergyVerdict> verdict = detail::judge_by(settings_.objective, *energy_, schedules, sides.size());
    if (!verdict) { return verdict.error(); }
    const bool plain = verdict->chosen < sides.size();
    const Candidate& chosen = plain ? sides[verdict->chosen] : finalists_[verdict->chosen - sides.size()].candidate;
    StoredChoice& choice = tuned_.choice;
    choice.scheme = chosen.scheme;
    choice.plan = chosen.plan;
    choice.time = rank_interval(schedules[verdict->chosen].times).median;
    choice.baseline = sides[verdict->baseline].scheme;
    choice.baseline_time = rank_interval(schedules[verdict->baseline].times).median;
    choice.reason = verdict->reason;
    tuned_.energy = std::move(verdict->energy);
    return {};
  }

  Status choose(const Finalist& plain) {
    StoredChoice& choice = tuned_.choice;
    choice.baseline = choice.scheme = plain.candidate.scheme;
    choice.baseline_time = choice.time = rank_interval(plain.times).median;
    choice.plan = plain.candidate.plan;
    choice.reason = fmt::format("{}: no control does better", to_string(choice.scheme));
    if (finalists_.empty()) { return {}; }

    const Result<Verdict> verdict = confirm(finalists_, plain, settings_.tuner.seed);
    if (!verdict) { return verdict.error(); }
    tuned_.confirmed = verdict->ratio;
    choice.scheme = verdict->chosen.scheme;
    choice.plan = verdict->chosen.plan;
    choice.time = verdict->time;
    choice.reason = verdict->reason;
    return {};
  }

  Status verify() {
    if (Status goes_on = progress_("verifying results", nullptr, std::nullopt); !goes_on) { return goes_on; }
    tuned_.acts_on = trials_->where_it_acts(tuned_.choice.plan);
    return trials_->verify(order_of(tuned_.choice.scheme), tuned_.choice.plan);
  }

  Backend& backend_;
  const Case& what_;
  const TuneSettings& settings_;
  const TuneProgress& progress_;
  std::optional<CaseTrials> trials_;
  std::unique_ptr<CandidateSpace> space_;
  Predictor predict_;
  std::vector<Finalist> finalists_;             ///< of the search: its choice and the steadiest, without baselines
  Microseconds winner_time_{0};                 ///< in the search
  std::optional<detail::EnergyTrials> energy_;  ///< where the objective is not time
  TunedCase tuned_;
};

}  // namespace

std::vector<std::string> controls_beyond_run() {
  std::vector<std::string> names;
  for (const Control& control : controls()) {
    if (!control.of_run) { names.emplace_back(control.name); }
  }
  return names;
}

Status check_controls(std::span<const std::string> names) {
  for (const std::string& name : names) {
    if (std::ranges::find(controls(), name, &Control::name) != controls().end()) { continue; }
    std::vector<std::string_view> known;
    std::ranges::transform(controls(), std::back_inserter(known), &Control::name);
    return invalid_input(fmt::format("'{}', expected one of {}", name, fmt::join(known, ", ")));
  }
  return {};
}

Result<TunedCase> tune_case(Backend& backend, const Case& what, const TuneSettings& settings, const TuneProgress& progress) {
  return TuneRun(backend, what, settings, progress).run();
}

}  // namespace elbowroom
