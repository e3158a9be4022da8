#include "experiment/case_entries.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "elbowroom/plan/compute_facts.hpp"
#include "elbowroom/plan/control_site.hpp"
#include "elbowroom/plan/occupancy.hpp"
#include "elbowroom/plan/program.hpp"
#include "elbowroom/plan/shape.hpp"

namespace elbowroom::detail {
namespace {

constexpr std::size_t kScreeningRounds = 2;

class EntryChoice {
 public:
  EntryChoice(CaseTrials& trials, const BenchSettings& settings, CaseObserver& observer)
      : trials_(trials), settings_(settings), observer_(observer) {}

  Result<CaseEntries> choose() {
    expect_all();
    OverlapPlan plain;
    plain.comm_blocks = fixed().comm_blocks;
    plain.cluster = fixed().cluster;
    add("compute_only", Order::compute_only, plain);
    add("comm_only", Order::comm_only, plain);
    add(std::string(to_string(Scheme::sequential)), Order::sequential, plain);
    for (const Scheme scheme : settings_.schemes) {
      if (scheme == Scheme::sequential) { continue; }
      if (Status chosen = scheme == Scheme::tuned ? choose_tuned() : choose_plans(scheme); !chosen) { return chosen.error(); }
    }
    if (Status given = choose_given(); !given) { return given.error(); }
    mark_refusals();
    if (Status shared = share_schedules(); !shared) { return shared.error(); }
    return std::move(chosen_);
  }

 private:
  void add(std::string label, Order order, const OverlapPlan& plan, std::optional<std::string> note = std::nullopt) {
    CaseEntry entry;
    entry.label = std::move(label);
    entry.order = order;
    entry.plan = plan;
    entry.note = std::move(note);
    chosen_.entries.push_back(std::move(entry));
  }

  /// The collective whose budget is the user's, of a step the greatest.
  [[nodiscard]] Collective fixed() const {
    if (const auto* scenario = std::get_if<Scenario>(&trials_.what())) { return scenario->collective; }
    const Result<ControlSite> site = trials_.site();
    return site ? site->collective : Collective();
  }

  /// What is to come, as long as nothing is refused on the way. A scheme of which one plan is chosen is screened and becomes one
  /// entry.
  void expect_all() {
    std::size_t entries = kSequential + 1 + settings_.plans.size();
    std::size_t screened = kScreeningRounds * settings_.plans.size();
    for (const Scheme scheme : settings_.schemes) {
      if (scheme == Scheme::sequential) { continue; }
      const bool tuned = scheme == Scheme::tuned;
      const Result<std::vector<OverlapPlan>> plans = tuned ? std::vector<OverlapPlan>() : possible_plans(scheme);
      if (!plans) { continue; }
      const bool one = tuned || is_screened(scheme);
      entries += one ? 1 : plans->size();
      screened += one ? kScreeningRounds * plans->size() : 0;
    }
    observer_.expect(CaseStep::screen, screened);
    expect_measurement(observer_, settings_, entries);
  }

  /// Where a plan of the user's cannot act it is refused, as a scheme would be.
  Status choose_given() {
    const Result<ControlSite> site = trials_.site();
    if (!site) { return settings_.plans.empty() ? Status() : Status(site.error()); }
    for (std::size_t at = 0; at < settings_.plans.size(); ++at) {
      const std::string label = fmt::format("plan {}", at + 1);
      const Result<OverlapPlan> plan = plan_of(*site, settings_.plans[at]);
      // What links or drivers lack shows only in a run.
      const Result<std::vector<OverlapPlan>> ran = plan ? screen({*plan}) : plan.error();
      if (!ran && ran.error().kind == ErrorKind::failed) { return ran.error(); }
      if (ran) {
        add(label, Order::concurrent, *plan, in_words(*plan));
      } else {
        chosen_.refusals.push_back({label, ran.error().message, /*asked_for=*/true});
      }
    }
    return {};
  }

  Status choose_plans(Scheme scheme) {
    Result<std::vector<OverlapPlan>> plans = plans_of(scheme);
    if (!plans && plans.error().kind != ErrorKind::invalid_input) { return plans.error(); }
    if (!plans) {
      chosen_.refusals.push_back({std::string(to_string(scheme)), plans.error().message});
      return {};
    }
    // A control may have no effect on this driver, which only the backend knows.
    Status accepted;
    std::erase_if(*plans, [&](const OverlapPlan& plan) {
      const Status here = trials_.accepts(plan);
      if (!here) { accepted = here; }
      return !here;
    });
    if (!accepted && accepted.error().kind == ErrorKind::failed) { return accepted; }
    if (!accepted && plans->empty()) { chosen_.refusals.push_back({std::string(to_string(scheme)), accepted.error().message}); }
    for (const OverlapPlan& plan : *plans) { add(std::string(to_string(scheme)), Order::concurrent, plan); }
    return {};
  }

  /// A stored choice is how to run a case; that may be a baseline.
  Status choose_tuned() {
    if (!settings_.tuned) { return invalid_input("tuned: no profile was looked up"); }
    const Result<TunedPlan> tuned = settings_.tuned(trials_);
    if (!tuned) { return tuned.error(); }
    add(std::string(to_string(Scheme::tuned)), order_of(tuned->scheme), tuned->plan, tuned->note);
    return {};
  }

  Result<std::vector<OverlapPlan>> plans_of(Scheme scheme) {
    Result<std::vector<OverlapPlan>> plans = possible_plans(scheme);
    return plans && is_screened(scheme) ? screen(*plans) : plans;
  }

  /// One of several plans is then the scheme's.
  [[nodiscard]] bool is_screened(Scheme scheme) const {
    return is_peer(scheme) || (is_shaped(scheme) && settings_.residency.kind == ResidencyChoice::Kind::best);
  }

  [[nodiscard]] Result<std::vector<OverlapPlan>> possible_plans(Scheme scheme) const {
    const ComputeFacts& compute = trials_.compute();
    if (is_shaped(scheme) && compute.shape_refusal) { return invalid_input(*compute.shape_refusal); }
    Result<std::vector<OverlapPlan>> plans = scheme_plans(scheme, trials_.device(), compute.footprint, fixed());
    const bool fixed = is_shaped(scheme) && settings_.residency.kind == ResidencyChoice::Kind::fixed;
    return plans && fixed ? at_fixed_residency(std::move(*plans)) : plans;
  }

  Result<std::vector<OverlapPlan>> at_fixed_residency(std::vector<OverlapPlan> plans) const {
    const BlocksPerSm wanted = settings_.residency.blocks_per_sm;
    // Says why where no pad gives it; the kernel's own residency needs none and is no shape.
    if (const Result<OverlapPlan> shape = shape_to(trials_.device(), *trials_.compute().footprint, wanted); !shape) {
      return shape.error();
    }
    std::erase_if(plans, [&](const OverlapPlan& plan) { return plan.blocks_per_sm != wanted; });
    if (plans.empty()) {
      return invalid_input(fmt::format("{} blocks per SM is what the kernel has without a cap", wanted.count()));
    }
    return plans;
  }

  /// The plan with the least time. Each scheme is screened for itself, so that none runs at the values that suit another. What the
  /// backend refuses is left out; when it refuses all, the scheme is refused for the first one's reason.
  Result<std::vector<OverlapPlan>> screen(const std::vector<OverlapPlan>& plans) {
    const OverlapPlan* best = nullptr;
    Microseconds least{std::numeric_limits<double>::infinity()};
    std::optional<Error> refusal;
    for (std::size_t round = 0; round < kScreeningRounds; ++round) {
      for (const OverlapPlan& plan : plans) {
        if (Status goes_on = observer_.begin(CaseStep::screen, "screening"); !goes_on) { return goes_on.error(); }
        const Result<Microseconds> time = trials_.run(Order::concurrent, plan);
        if (!time && time.error().kind == ErrorKind::failed) { return time.error(); }
        if (!time && !refusal) { refusal = invalid_input(time.error().message); }
        if (!time || *time >= least) { continue; }
        least = *time;
        best = &plan;
      }
    }
    if (best == nullptr) { return *refusal; }
    return std::vector{*best};
  }

  /// Who asked for schemes none of which can act is not served by sequential, which is always run.
  void mark_refusals() {
    if (!settings_.schemes_asked_for || chosen_.entries.size() > kSequential + 1) { return; }
    for (Refusal& refusal : chosen_.refusals) { refusal.asked_for = true; }
  }

  /// A stored choice may be another scheme's schedule: two measurements of one would differ by chance.
  Status share_schedules() {
    for (CaseEntry& tuned : chosen_.entries) {
      if (tuned.label != to_string(Scheme::tuned)) { continue; }
      const Result<const Program*> own = trials_.program_of(tuned.order, tuned.plan);
      if (!own) { return own.error(); }
      const Program program = **own;
      for (std::size_t at = kSequential; at < chosen_.entries.size() && !tuned.same_as; ++at) {
        const CaseEntry& other = chosen_.entries[at];
        if (&other == &tuned) { continue; }
        const Result<const Program*> others = trials_.program_of(other.order, other.plan);
        if (others && **others == program) { tuned.same_as = at; }
      }
    }
    return {};
  }

  CaseTrials& trials_;
  const BenchSettings& settings_;
  CaseObserver& observer_;
  CaseEntries chosen_;
};

}  // namespace

void expect_measurement(CaseObserver& observer, const BenchSettings& settings, std::size_t entries) {
  observer.expect(CaseStep::verify, entries);
  observer.expect(CaseStep::run, entries * static_cast<std::size_t>(warm_up_rounds(settings.trials) + settings.trials));
  observer.expect(CaseStep::record, entries * kRecordings);
}

Result<CaseEntries> choose_entries(CaseTrials& trials, const BenchSettings& settings, CaseObserver& observer) {
  return EntryChoice(trials, settings, observer).choose();
}

}  // namespace elbowroom::detail
