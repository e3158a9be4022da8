#include "elbowroom/experiment/bench_case.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>

#include "elbowroom/experiment/timed_rounds.hpp"
#include "elbowroom/plan/lower.hpp"
#include "elbowroom/plan/occupancy.hpp"
#include "elbowroom/plan/order_check.hpp"
#include "elbowroom/plan/shape.hpp"
#include "elbowroom/trace/overlap_metrics.hpp"
#include "elbowroom/trace/summary.hpp"
#include "experiment/case_error.hpp"
#include "experiment/case_summary.hpp"
#include "experiment/energy_trials.hpp"
#include "experiment/library_note.hpp"
#include "experiment/yardsticks.hpp"
#include "run/limits.hpp"

namespace elbowroom {
namespace {

using detail::in_case;

constexpr std::size_t kScreeningRounds = 2;
// One recording is one sample; its figures are medians of these.
constexpr int kRecordings = 3;

/// One schedule that is run again and again.
struct Entry : TimedSchedule {
  std::optional<std::string> note;
  std::vector<Timeline> recordings;
  std::optional<SchemeEnergy> energy = std::nullopt;
};

/// Positions of the entries that every case has.
constexpr std::size_t kComputeAlone = 0;
constexpr std::size_t kCommAlone = 1;
constexpr std::size_t kSequential = 2;

class CaseRun {
 public:
  CaseRun(Backend& backend, const Case& what, const BenchSettings& settings, CaseObserver& observer)
      : backend_(backend), what_(what), settings_(settings), observer_(observer) {}

  Result<CaseMeasurement> run() {
    observer_.expect(CaseStep::prepare, 1);
    if (Status goes_on = observer_.begin(CaseStep::prepare, "preparing"); !goes_on) return goes_on.error();
    Result<CaseTrials> trials = CaseTrials::prepare(backend_, what_);
    if (!trials) return in_case(name_of(what_), trials.error());
    trials_.emplace(std::move(*trials));
    measurement_.result.what = what_;
    for (Status (CaseRun::* const step)() :
         {&CaseRun::choose_entries, &CaseRun::verify, &CaseRun::time, &CaseRun::record, &CaseRun::measure_energy}) {
      if (Status done = (this->*step)(); !done) return in_case(name_of(what_), done.error());
    }
    if (Status summarized = summarize_all(); !summarized) return summarized.error();
    mark_refusals();
    return std::move(measurement_);
  }

 private:
  [[nodiscard]] const DeviceLimits& limits() const { return backend_.devices().front().limits; }

  /// The collective whose budget is the user's, of a step the greatest.
  [[nodiscard]] Collective fixed() const {
    if (const auto* scenario = std::get_if<Scenario>(&what_)) return scenario->collective;
    const Result<ControlSite> site = trials_->site();
    return site ? site->collective : Collective();
  }

  /// What is to come, as long as nothing is refused on the way. A scheme of which one plan is chosen is screened and becomes one
  /// entry.
  void expect_all() {
    std::size_t entries = kSequential + 1 + settings_.plans.size();
    std::size_t screened = kScreeningRounds * settings_.plans.size();
    for (const Scheme scheme : settings_.schemes) {
      if (scheme == Scheme::sequential) continue;
      const bool tuned = scheme == Scheme::tuned;
      const Result<std::vector<OverlapPlan>> plans = tuned ? std::vector<OverlapPlan>() : possible_plans(scheme);
      if (!plans) continue;
      const bool one = tuned || is_screened(scheme);
      entries += one ? 1 : plans->size();
      screened += one ? kScreeningRounds * plans->size() : 0;
    }
    observer_.expect(CaseStep::screen, screened);
    expect_measurement(entries);
  }

  void expect_measurement(std::size_t entries) {
    observer_.expect(CaseStep::verify, entries);
    observer_.expect(CaseStep::run, entries * static_cast<std::size_t>(warm_up_rounds(settings_.trials) + settings_.trials));
    observer_.expect(CaseStep::record, entries * kRecordings);
  }

  Status choose_entries() {
    expect_all();
    OverlapPlan plain;
    plain.comm_blocks = fixed().comm_blocks;
    plain.cluster = fixed().cluster;
    entries_.push_back({{"compute_only", Order::compute_only, plain, {}}, {}, {}});
    entries_.push_back({{"comm_only", Order::comm_only, plain, {}}, {}, {}});
    entries_.push_back({{std::string(to_string(Scheme::sequential)), Order::sequential, plain, {}}, {}, {}});
    for (const Scheme scheme : settings_.schemes) {
      if (scheme == Scheme::sequential) continue;
      if (Status chosen = scheme == Scheme::tuned ? choose_tuned() : choose_plans(scheme); !chosen) return chosen;
    }
    return choose_given();
  }

  /// Who asked for schemes none of which can act is not served by sequential, which is always run.
  void mark_refusals() {
    if (!settings_.schemes_asked_for || entries_.size() > kSequential + 1) return;
    for (Refusal& refusal : measurement_.result.refusals) refusal.asked_for = true;
  }

  /// Where a plan of the user's cannot act it is refused, as a scheme would be.
  Status choose_given() {
    const Result<ControlSite> site = trials_->site();
    if (!site) return settings_.plans.empty() ? Status() : Status(site.error());
    for (std::size_t at = 0; at < settings_.plans.size(); ++at) {
      const std::string label = fmt::format("plan {}", at + 1);
      const Result<OverlapPlan> plan = plan_of(*site, settings_.plans[at]);
      // What links or drivers lack shows only in a run.
      const Result<std::vector<OverlapPlan>> ran = plan ? screen({*plan}) : plan.error();
      if (!ran && ran.error().kind == ErrorKind::failed) return ran.error();
      if (ran) {
        entries_.push_back({{label, Order::concurrent, *plan, {}}, in_words(*plan), {}});
      } else {
        measurement_.result.refusals.push_back({label, ran.error().message, /*asked_for=*/true});
      }
    }
    return {};
  }

  Status choose_plans(Scheme scheme) {
    Result<std::vector<OverlapPlan>> plans = plans_of(scheme);
    if (!plans && plans.error().kind != ErrorKind::invalid_input) return plans.error();
    if (!plans) {
      measurement_.result.refusals.push_back({std::string(to_string(scheme)), plans.error().message});
      return {};
    }
    // A control may have no effect on this driver, which only the backend knows.
    Status accepted;
    std::erase_if(*plans, [&](const OverlapPlan& plan) {
      const Status here = trials_->accepts(plan);
      if (!here) accepted = here;
      return !here;
    });
    if (!accepted && accepted.error().kind == ErrorKind::failed) return accepted;
    if (!accepted && plans->empty())
      measurement_.result.refusals.push_back({std::string(to_string(scheme)), accepted.error().message});
    for (const OverlapPlan& plan : *plans)
      entries_.push_back({{std::string(to_string(scheme)), Order::concurrent, plan, {}}, {}, {}});
    return {};
  }

  /// A stored choice is how to run a case; that may be a baseline.
  Status choose_tuned() {
    if (!settings_.tuned) return invalid_input("tuned: no profile was looked up");
    const Result<TunedPlan> tuned = settings_.tuned(*trials_);
    if (!tuned) return tuned.error();
    entries_.push_back({{std::string(to_string(Scheme::tuned)), order_of(tuned->scheme), tuned->plan, {}}, tuned->note, {}});
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
    const ComputeFacts& compute = trials_->compute();
    if (is_shaped(scheme) && compute.shape_refusal) return invalid_input(*compute.shape_refusal);
    Result<std::vector<OverlapPlan>> plans = scheme_plans(scheme, limits(), compute.footprint, fixed());
    const bool fixed = is_shaped(scheme) && settings_.residency.kind == ResidencyChoice::Kind::fixed;
    return plans && fixed ? at_fixed_residency(std::move(*plans)) : plans;
  }

  Result<std::vector<OverlapPlan>> at_fixed_residency(std::vector<OverlapPlan> plans) const {
    const BlocksPerSm wanted = settings_.residency.blocks_per_sm;
    // Says why where no pad gives it; the kernel's own residency needs none and is no shape.
    if (const Result<OverlapPlan> shape = shape_to(limits(), *trials_->compute().footprint, wanted); !shape) return shape.error();
    std::erase_if(plans, [&](const OverlapPlan& plan) { return plan.blocks_per_sm != wanted; });
    if (plans.empty()) return invalid_input(fmt::format("{} blocks per SM is what the kernel has without a cap", wanted.count()));
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
        if (Status goes_on = observer_.begin(CaseStep::screen, "screening"); !goes_on) return goes_on.error();
        const Result<Microseconds> time = trials_->run(Order::concurrent, plan);
        if (!time && time.error().kind == ErrorKind::failed) return time.error();
        if (!time && !refusal) refusal = invalid_input(time.error().message);
        if (!time || *time >= least) continue;
        least = *time;
        best = &plan;
      }
    }
    if (best == nullptr) return *refusal;
    return std::vector{*best};
  }

  Status verify() {
    observer_.expect(CaseStep::screen, 0);
    expect_measurement(entries_.size());
    for (const Entry& entry : entries_) {
      if (Status goes_on = observer_.begin(CaseStep::verify, "verifying " + entry.label); !goes_on) return goes_on;
      if (Status verified = trials_->verify(entry.order, entry.plan); !verified) {
        return Error{verified.error().kind, fmt::format("{}: {}", entry.label, verified.error().message)};
      }
    }
    return {};
  }

  Status time() {
    const Rounds rounds{warm_up_rounds(settings_.trials), settings_.trials, settings_.seed};
    std::vector<TimedSchedule*> schedules;
    schedules.reserve(entries_.size());
    for (Entry& entry : entries_) schedules.push_back(&entry);
    return time_in_rounds(*trials_, schedules, rounds, [&](int over) {
      return observer_.begin(CaseStep::run, over < rounds.warm_up ? "warming up" : "timing");
    });
  }

  Status record() {
    for (int round = 0; round < kRecordings; ++round) {
      for (Entry& entry : entries_) {
        if (Status goes_on = observer_.begin(CaseStep::record, "recording " + entry.label); !goes_on) return goes_on;
        Result<Timeline> timeline = trials_->record(entry.order, entry.plan);
        Status complete = timeline ? check_recording(entry, *timeline) : Status(timeline.error());
        if (!complete && complete.error().kind == ErrorKind::unavailable) {
          measurement_.no_record_reason = complete.error().message;
          return {};
        }
        if (!complete) return complete;
        entry.recordings.push_back(std::move(*timeline));
      }
    }
    return {};
  }

  /// A case without counters is still a case: it says why there are none.
  Status measure_energy() {
    if (settings_.energy == nullptr) return {};
    const auto before = [this](std::string_view what) { return observer_.begin(CaseStep::energy, what); };
    observer_.expect(CaseStep::energy, entries_.size() - kSequential + 1);
    Result<detail::EnergyTrials> energy = detail::EnergyTrials::begin(*settings_.energy, backend_, *trials_, before);
    for (std::size_t at = kSequential; energy && at < entries_.size(); ++at) {
      Entry& entry = entries_[at];
      Result<SchemeEnergy> measured = energy->measure(entry.label, entry.order, entry.plan);
      if (!measured)
        energy = measured.error();
      else
        entry.energy = *std::move(measured);
    }
    if (energy) return {};
    if (energy.error().kind == ErrorKind::failed) return energy.error();
    measurement_.result.no_energy = energy.error().message;
    for (Entry& entry : entries_) entry.energy.reset();
    return {};
  }

  /// No result shows whether a collective really waited for its compute; the recording does.
  [[nodiscard]] Status check_recording(const Entry& entry, const Timeline& timeline) const {
    const bool both = entry.order == Order::sequential || entry.order == Order::concurrent;
    // A collective is several copies.
    const auto* scenario = std::get_if<Scenario>(&what_);
    const bool ordered = scenario == nullptr || scenario->pattern == Pattern::pipeline;
    if (!both || !ordered || entry.plan.copy_engine) return {};
    const Result<Program> program = lower(trials_->step(), entry.order, trials_->by_operation(entry.plan));
    const Status kept = program ? check_order(trials_->step(), *program, timeline) : Status(program.error());
    return kept ? kept : Status(Error{kept.error().kind, fmt::format("{}: {}", entry.label, kept.error().message)});
  }

  Status summarize_all() {
    CaseResult& result = measurement_.result;
    for (const auto& [at, to] : {std::pair{kComputeAlone, &result.compute_alone}, {kCommAlone, &result.comm_alone}}) {
      Result<Summary> alone = summary_of(entries_[at]);
      if (!alone) return alone.error();
      *to = *alone;
    }
    Result<detail::Yardsticks> yardsticks =
        detail::yardsticks_of(*trials_, result.compute_alone->median, result.comm_alone->median);
    if (!yardsticks) return in_case(name_of(what_), yardsticks.error());
    result.critical_path = yardsticks->critical_path;
    result.hardware_limit = yardsticks->hardware_limit;
    for (std::size_t at = kSequential; at < entries_.size(); ++at) {
      Result<SchemeResult> scheme = result_of(entries_[at], *yardsticks);
      if (!scheme) return scheme.error();
      result.results.push_back(std::move(*scheme));
      if (!measurement_.no_record_reason) {
        measurement_.timelines.push_back({label_of(entries_[at]), std::move(entries_[at].recordings.back())});
      }
    }
    return {};
  }

  [[nodiscard]] Result<Summary> summary_of(const Entry& entry) const {
    return detail::summary_on(backend_, entry.times, settings_.seed);
  }

  Result<SchemeResult> result_of(const Entry& entry, const detail::Yardsticks& yardsticks) const {
    const Entry& sequential = entries_[kSequential];
    Result<Summary> time = summary_of(entry);
    if (!time) return time.error();
    const Result<Summary> reference = summarize(sequential.times, settings_.seed);
    if (!reference) return reference.error();

    SchemeResult result;
    result.scheme = entry.label;
    result.plan = entry.plan;
    result.time = *time;
    result.metrics = yardsticks.metrics(time->median, reference->median);
    if (&entry != &sequential) {
      Result<RatioSummary> ratio = summarize_ratio(entry.times, sequential.times, settings_.seed);
      if (!ratio) return ratio.error();
      result.ratio = *ratio;
    }
    if (!measurement_.no_record_reason) {
      result.metrics.compute_inflation = inflation(entry.recordings, entries_[kComputeAlone].recordings, SpanKind::compute);
      result.metrics.overlap_rate = overlap_rate(entry.recordings);
      // Copies and kernels are not the same work.
      if (!entry.plan.copy_engine) {
        result.metrics.comm_inflation = inflation(entry.recordings, entries_[kCommAlone].recordings, SpanKind::communication);
      }
    }
    result.limited_by = limiting_resources(entry.plan);
    result.energy = entry.energy;
    const std::optional<std::string> part = trials_->where_it_acts(entry.plan);
    for (const auto& words : {entry.note, part, detail::library_note(entry.plan, entry.recordings)}) {
      if (words) result.note = result.note ? fmt::format("{}; {}", *result.note, *words) : *words;
    }
    return result;
  }

  /// What limits the compute kernel's residency, in the names of the contract: "registers", "threads+blocks".
  [[nodiscard]] std::optional<std::string> limiting_resources(const OverlapPlan& plan) const {
    std::optional<KernelFootprint> footprint = trials_->compute().footprint;
    // A step has many kernels, each with its own.
    if (!footprint || std::holds_alternative<Step>(what_)) return std::nullopt;
    footprint->dynamic_shared += plan.pad;
    const Result<Occupancy> found = occupancy(limits(), *footprint);
    if (!found) return std::nullopt;
    std::string names;
    for (const Resource resource : kResources) {
      if (!found->limited_by.contains(resource)) continue;
      names += fmt::format("{}{}", names.empty() ? "" : "+", to_string(resource));
    }
    return names;
  }

  [[nodiscard]] std::string label_of(const Entry& entry) const {
    const std::string cap = entry.plan.blocks_per_sm ? fmt::format(" {}/SM", entry.plan.blocks_per_sm->count()) : "";
    return fmt::format("{} {}{}", name_of(what_), entry.label, cap);
  }

  Backend& backend_;
  const Case& what_;
  const BenchSettings& settings_;
  CaseObserver& observer_;
  std::optional<CaseTrials> trials_;
  std::vector<Entry> entries_;
  CaseMeasurement measurement_;
};

}  // namespace

Result<ResidencyChoice> parse_residency(std::string_view text) {
  if (text == "best") return ResidencyChoice{ResidencyChoice::Kind::best, {}};
  if (text == "all") return ResidencyChoice{ResidencyChoice::Kind::every, {}};
  int number = 0;
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure == std::errc{} && rest == text.data() + text.size() && number >= 1 && number <= int{run::kGreatestResidency}) {
    return ResidencyChoice{ResidencyChoice::Kind::fixed, BlocksPerSm(number)};
  }
  return invalid_input(fmt::format("blocks-per-sm: '{}', expected best, all or 1 to {}", text, run::kGreatestResidency));
}

Result<CaseMeasurement> bench_case(Backend& backend, const Case& what, const BenchSettings& settings, CaseObserver& observer) {
  return CaseRun(backend, what, settings, observer).run();
}

}  // namespace elbowroom
