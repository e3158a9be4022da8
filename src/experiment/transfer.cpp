#include "elbowroom/experiment/transfer.hpp"

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <utility>
#include <variant>

#include "elbowroom/experiment/bench_case.hpp"
#include "elbowroom/experiment/stored_plans.hpp"
#include "elbowroom/experiment/timed_rounds.hpp"
#include "elbowroom/plan/candidates.hpp"
#include "elbowroom/plan/compute_facts.hpp"
#include "elbowroom/plan/controls.hpp"
#include "elbowroom/plan/plan_text.hpp"
#include "experiment/baselines.hpp"
#include "experiment/case_error.hpp"
#include "experiment/case_summary.hpp"

namespace elbowroom {
namespace {

using detail::in_case;

// For caps of the shaped baselines.
constexpr std::chrono::duration<double> kCapScreening{60};

/// Whether both are blocks of known footprint, or kernels of one kind.
bool same_kind(const KernelKey& one, const KernelKey& other) {
  const auto* named = std::get_if<NamedKernel>(&one);
  const auto* other_named = std::get_if<NamedKernel>(&other);
  if ((named == nullptr) != (other_named == nullptr)) { return false; }
  return named == nullptr || named->kind == other_named->kind;
}

/// How many powers of two lie between the sizes of both keys.
int apart(const PairKey& one, const PairKey& other) {
  return std::abs(one.compute_class.exponent - other.compute_class.exponent) +
         std::abs(one.collective_class.exponent - other.collective_class.exponent);
}

/// The controls that a plan sets: its pad is a matter of the kernel that it was made for.
std::vector<ControlSetting> settings_of(const OverlapPlan& plan) {
  std::vector<ControlSetting> settings;
  for (const Control& control : elbowroom::controls()) {
    if (const auto value = control.get(plan)) { settings.push_back({std::string(control.name), value}); }
  }
  return settings;
}

class CaseTransfer {
 public:
  CaseTransfer(Backend& backend, const TransferSettings& settings, const std::function<Status(std::string_view)>& before,
               CaseTrials trials)
      : backend_(backend), settings_(settings), before_(before), trials_(std::move(trials)) {}

  Result<TransferCase> run() {
    const Result<ControlSite> site = trials_.site();
    if (!site) { return site.error(); }
    found_.scenario = trials_.scenario();
    if (Status known = add_baselines(*site); !known) { return known.error(); }
    const ProfileKey key = profile_key(trials_.scenario(), trials_.compute().footprint, surroundings_of(backend_));
    for (const NamedProfile& profile : settings_.profiles) {
      if (Status offered = add_offered(*site, key, profile); !offered) { return offered.error(); }
    }
    if (Status timed = time_all(); !timed) { return timed.error(); }
    if (Status compared = compare_all(); !compared) { return compared.error(); }
    return std::move(found_);
  }

 private:
  Status add_baselines(const ControlSite& site) {
    const CandidateSpace space(site, [this](const OverlapPlan& plan) { return trials_.accepts(plan); });
    const auto before = [this] { return before_("running the baselines"); };
    const Result<std::vector<Candidate>> sides = detail::baseline_candidates(space, trials_, {}, kCapScreening, before);
    if (!sides) { return sides.error(); }
    for (const Candidate& side : *sides) {
      found_.baselines.push_back({side.scheme, side.plan, {}});
      schedules_.push_back({std::string(to_string(side.scheme)), order_of(side.scheme), side.plan, {}});
    }
    return {};
  }

  Status add_offered(const ControlSite& site, const ProfileKey& key, const NamedProfile& from) {
    Transferred& row = found_.transferred.emplace_back();
    row.profile = from.name;
    const StoredChoice* choice = nearest_choice(from.profile, key);
    if (choice == nullptr) {
      row.refused = "the profile has no choice for such a kernel and operation";
      return {};
    }
    row.scheme = choice->scheme;
    row.differs = differences(key, choice->key);
    if (Status goes_on = before_("trying the plan of " + from.name); !goes_on) { return goes_on; }
    const Result<OverlapPlan> plan = plan_of(site, settings_of(choice->plan));
    const Status accepted = plan ? trials_.accepts(*plan) : Status(plan.error());
    Status verified = accepted ? trials_.verify(order_of(row.scheme), *plan) : accepted;
    if (!verified && verified.error().kind == ErrorKind::failed) { return verified; }
    if (!verified) {
      row.refused = verified.error().message;
      return {};
    }
    row.plan = *plan;
    schedules_.push_back({from.name, order_of(row.scheme), row.plan, {}});
    return {};
  }

  Status time_all() {
    std::vector<TimedSchedule*> all;
    all.reserve(schedules_.size());
    for (TimedSchedule& schedule : schedules_) { all.push_back(&schedule); }
    const Rounds rounds{warm_up_rounds(settings_.trials), settings_.trials, settings_.seed};
    return time_in_rounds(trials_, all, rounds, [this](int) { return before_("timing"); });
  }

  [[nodiscard]] Result<ComparedTime> compared(const TimedSchedule& schedule, const TimedSchedule& best) const {
    const Result<Summary> time = detail::summary_on(backend_, schedule.times, settings_.seed);
    if (!time) { return time.error(); }
    // To itself the best is 1, however far a model may be off.
    const Result<RatioSummary> ratio = &schedule == &best ? summarize_ratio(schedule.times, best.times, settings_.seed)
                                                          : detail::ratio_on(backend_, schedule.times, best.times, settings_.seed);
    if (!ratio) { return ratio.error(); }
    return ComparedTime{*time, *ratio};
  }

  Status compare_all() {
    const TimedSchedule* const own = own_choice();
    const TimedSchedule& best = *std::ranges::min_element(schedules_, {}, [own](const TimedSchedule& schedule) {
      return std::pair(rank_interval(schedule.times).median, &schedule != own);
    });
    auto schedule = schedules_.begin();
    for (TransferBaseline& baseline : found_.baselines) {
      const Result<ComparedTime> beside = compared(*schedule++, best);
      if (!beside) { return beside.error(); }
      baseline.compared = *beside;
    }
    for (Transferred& row : found_.transferred) {
      if (row.refused) { continue; }
      const Result<ComparedTime> beside = compared(*schedule++, best);
      if (!beside) { return beside.error(); }
      row.compared = *beside;
    }
    const Result<Summary> least = detail::summary_on(backend_, best.times, settings_.seed);
    if (!least) { return least.error(); }
    found_.best = best.label;
    found_.best_plan = best.plan;
    found_.best_time = *least;
    return {};
  }

  /// The schedule that was chosen for this very case: of equal times its is the best. Null: there is none.
  [[nodiscard]] const TimedSchedule* own_choice() const {
    for (const Transferred& row : found_.transferred) {
      const auto schedule = std::ranges::find(schedules_, row.profile, &TimedSchedule::label);
      if (row.differs.empty() && !row.refused && schedule != schedules_.end()) { return &*schedule; }
    }
    return nullptr;
  }

  Backend& backend_;
  const TransferSettings& settings_;
  const std::function<Status(std::string_view)>& before_;
  CaseTrials trials_;
  std::vector<TimedSchedule> schedules_;  ///< the baselines, then what is offered and can act
  TransferCase found_;
};

}  // namespace

const StoredChoice* nearest_choice(const Profile& profile, const ProfileKey& key) {
  const StoredChoice* nearest = nullptr;
  std::pair<std::size_t, int> least;
  const auto* wanted = std::get_if<PairKey>(&key.what);
  for (const StoredChoice& choice : profile.choices()) {
    const auto* pair = std::get_if<PairKey>(&choice.key.what);
    if (wanted == nullptr || pair == nullptr) { continue; }
    if (!same_kind(pair->compute, wanted->compute) || pair->collective.op != wanted->collective.op) { continue; }
    const std::pair<std::size_t, int> far{differences(key, choice.key).size(), apart(*wanted, *pair)};
    if (nearest != nullptr && far >= least) { continue; }
    nearest = &choice;
    least = far;
  }
  return nearest;
}

Result<TransferCase> transfer_case(Backend& backend, const Scenario& scenario, const TransferSettings& settings,
                                   const std::function<Status(std::string_view)>& before) {
  Result<CaseTrials> trials = CaseTrials::prepare(backend, scenario);
  if (!trials) { return in_case(scenario.name, trials.error()); }
  Result<TransferCase> found = CaseTransfer(backend, settings, before, std::move(*trials)).run();
  return found ? std::move(found) : Result<TransferCase>(in_case(scenario.name, found.error()));
}

}  // namespace elbowroom
