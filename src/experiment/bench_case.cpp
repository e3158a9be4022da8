#include "elbowroom/experiment/bench_case.hpp"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <utility>

#include "elbowroom/plan/order_check.hpp"
#include "elbowroom/plan/program.hpp"
#include "experiment/case_entries.hpp"
#include "experiment/case_error.hpp"
#include "experiment/energy_trials.hpp"
#include "experiment/scheme_results.hpp"
#include "run/limits.hpp"

namespace elbowroom {
namespace {

using detail::CaseEntry;
using detail::in_case;

class CaseRun {
 public:
  CaseRun(Backend& backend, const Case& what, const BenchSettings& settings, CaseObserver& observer)
      : backend_(backend), what_(what), settings_(settings), observer_(observer) {}

  Result<CaseMeasurement> run() {
    observer_.expect(CaseStep::prepare, 1);
    if (Status goes_on = observer_.begin(CaseStep::prepare, "preparing"); !goes_on) { return goes_on.error(); }
    Result<CaseTrials> trials = CaseTrials::prepare(backend_, what_);
    if (!trials) { return in_case(name_of(what_), trials.error()); }
    trials_.emplace(std::move(*trials));
    measurement_.result.what = what_;
    for (Status (CaseRun::* const step)() :
         {&CaseRun::choose, &CaseRun::verify, &CaseRun::time, &CaseRun::record, &CaseRun::measure_energy}) {
      if (Status done = (this->*step)(); !done) { return in_case(name_of(what_), done.error()); }
    }
    if (Status written = detail::write_results(backend_, *trials_, entries_, settings_.seed, measurement_); !written) {
      return written.error();
    }
    return std::move(measurement_);
  }

 private:
  Status choose() {
    Result<detail::CaseEntries> chosen = detail::choose_entries(*trials_, settings_, observer_);
    if (!chosen) { return chosen.error(); }
    entries_ = std::move(chosen->entries);
    measurement_.result.refusals = std::move(chosen->refusals);
    for (CaseEntry& entry : entries_) {
      if (!entry.same_as) { run_.push_back(&entry); }
    }
    return {};
  }

  Status verify() {
    observer_.expect(CaseStep::screen, 0);
    detail::expect_measurement(observer_, settings_, run_.size());
    for (const CaseEntry* const entry : run_) {
      if (Status goes_on = observer_.begin(CaseStep::verify, "verifying " + entry->label); !goes_on) { return goes_on; }
      if (Status verified = trials_->verify(entry->order, entry->plan); !verified) {
        return Error{verified.error().kind, fmt::format("{}: {}", entry->label, verified.error().message)};
      }
    }
    return {};
  }

  Status time() {
    const Rounds rounds{warm_up_rounds(settings_.trials), settings_.trials, settings_.seed};
    const std::vector<TimedSchedule*> schedules(run_.begin(), run_.end());
    return time_in_rounds(*trials_, schedules, rounds, [&](int over) {
      return observer_.begin(CaseStep::run, over < rounds.warm_up ? "warming up" : "timing");
    });
  }

  Status record() {
    for (int round = 0; round < detail::kRecordings; ++round) {
      for (CaseEntry* const entry : run_) {
        if (Status goes_on = observer_.begin(CaseStep::record, "recording " + entry->label); !goes_on) { return goes_on; }
        Result<Timeline> timeline = trials_->record(entry->order, entry->plan);
        Status complete = timeline ? check_recording(*entry, *timeline) : Status(timeline.error());
        if (!complete && complete.error().kind == ErrorKind::unavailable) {
          measurement_.no_record_reason = complete.error().message;
          return {};
        }
        if (!complete) { return complete; }
        entry->recordings.push_back(std::move(*timeline));
      }
    }
    return {};
  }

  /// A case without counters is still a case: it says why there are none.
  Status measure_energy() {
    if (settings_.energy == nullptr) { return {}; }
    const auto before = [this](std::string_view what) { return observer_.begin(CaseStep::energy, what); };
    observer_.expect(CaseStep::energy, run_.size() - detail::kSequential + 1);
    Result<detail::EnergyTrials> energy = detail::EnergyTrials::begin(*settings_.energy, backend_, *trials_, before);
    for (std::size_t at = detail::kSequential; energy && at < run_.size(); ++at) {
      CaseEntry& entry = *run_[at];
      Result<SchemeEnergy> measured = energy->measure(entry.label, entry.order, entry.plan);
      if (!measured) {
        energy = measured.error();
      } else {
        entry.energy = *std::move(measured);
      }
    }
    if (energy) { return {}; }
    if (energy.error().kind == ErrorKind::failed) { return energy.error(); }
    measurement_.result.no_energy = energy.error().message;
    for (CaseEntry& entry : entries_) { entry.energy.reset(); }
    return {};
  }

  /// No result shows whether a collective really waited for its compute; the recording does.
  [[nodiscard]] Status check_recording(const CaseEntry& entry, const Timeline& timeline) {
    const bool both = entry.order == Order::sequential || entry.order == Order::concurrent;
    // A collective is several copies.
    const auto* scenario = std::get_if<Scenario>(&what_);
    const bool ordered = scenario == nullptr || scenario->pattern == Pattern::pipeline;
    if (!both || !ordered || entry.plan.copy_engine) { return {}; }
    const Result<const Program*> program = trials_->program_of(entry.order, entry.plan);
    const Status kept = program ? check_order(trials_->step(), **program, timeline) : Status(program.error());
    return kept ? kept : Status(Error{kept.error().kind, fmt::format("{}: {}", entry.label, kept.error().message)});
  }

  Backend& backend_;
  const Case& what_;
  const BenchSettings& settings_;
  CaseObserver& observer_;
  std::optional<CaseTrials> trials_;
  std::vector<CaseEntry> entries_;
  std::vector<CaseEntry*> run_;  ///< those that do not share another one's schedule
  CaseMeasurement measurement_;
};

}  // namespace

Result<ResidencyChoice> parse_residency(std::string_view text) {
  if (text == "best") { return ResidencyChoice{ResidencyChoice::Kind::best, {}}; }
  if (text == "all") { return ResidencyChoice{ResidencyChoice::Kind::every, {}}; }
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
