#include "experiment/scheme_results.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "elbowroom/plan/compute_facts.hpp"
#include "elbowroom/plan/occupancy.hpp"
#include "elbowroom/trace/overlap_metrics.hpp"
#include "elbowroom/trace/summary.hpp"
#include "experiment/case_error.hpp"
#include "experiment/case_summary.hpp"
#include "experiment/library_note.hpp"
#include "experiment/yardsticks.hpp"

namespace elbowroom::detail {
namespace {

class SchemeResults {
 public:
  SchemeResults(const Backend& backend, CaseTrials& trials, std::span<const CaseEntry> entries, std::uint64_t seed,
                CaseMeasurement& measurement)
      : backend_(backend), trials_(trials), entries_(entries), seed_(seed), measurement_(measurement) {}

  Status write() {
    CaseResult& result = measurement_.result;
    for (const auto& [at, to] : {std::pair{kComputeAlone, &result.compute_alone}, {kCommAlone, &result.comm_alone}}) {
      Result<Summary> alone = summary_of(entries_[at]);
      if (!alone) { return alone.error(); }
      *to = *alone;
    }
    Result<Yardsticks> yardsticks = yardsticks_of(trials_, result.compute_alone->median, result.comm_alone->median);
    if (!yardsticks) { return in_case(name_of(trials_.what()), yardsticks.error()); }
    result.critical_path = yardsticks->critical_path;
    result.hardware_limit = yardsticks->hardware_limit;
    for (const CaseEntry& entry : entries_.subspan(kSequential)) {
      Result<SchemeResult> scheme = result_of(entry, *yardsticks);
      if (!scheme) { return scheme.error(); }
      result.results.push_back(std::move(*scheme));
      if (!measurement_.no_record_reason) { measurement_.timelines.push_back({label_of(entry), seen(entry).recordings.back()}); }
    }
    return {};
  }

 private:
  /// Where the entry's times are.
  [[nodiscard]] const CaseEntry& seen(const CaseEntry& entry) const { return entry.same_as ? entries_[*entry.same_as] : entry; }

  [[nodiscard]] Result<Summary> summary_of(const CaseEntry& entry) const { return summary_on(backend_, entry.times, seed_); }

  Result<SchemeResult> result_of(const CaseEntry& entry, const Yardsticks& yardsticks) const {
    const CaseEntry& sequential = entries_[kSequential];
    const CaseEntry& ran = seen(entry);
    Result<Summary> time = summary_of(ran);
    if (!time) { return time.error(); }
    const Result<Summary> reference = summarize(sequential.times, seed_);
    if (!reference) { return reference.error(); }

    SchemeResult result;
    result.scheme = entry.label;
    result.plan = entry.plan;
    result.time = *time;
    result.metrics = yardsticks.metrics(time->median, reference->median);
    if (&entry != &sequential) {
      Result<RatioSummary> ratio = ratio_on(backend_, ran.times, sequential.times, seed_);
      if (!ratio) { return ratio.error(); }
      result.ratio = *ratio;
    }
    if (!measurement_.no_record_reason) {
      result.metrics.compute_inflation = inflation(ran.recordings, entries_[kComputeAlone].recordings, SpanKind::compute);
      result.metrics.overlap_rate = overlap_rate(ran.recordings);
      // Copies and kernels are not the same work.
      if (!entry.plan.copy_engine) {
        result.metrics.comm_inflation = inflation(ran.recordings, entries_[kCommAlone].recordings, SpanKind::communication);
      }
    }
    result.limited_by = limiting_resources(entry.plan);
    result.energy = ran.energy;
    const std::optional<std::string> part = trials_.where_it_acts(entry.plan);
    for (const auto& words : {entry.note, shared_note(entry), part, library_note(entry.plan, ran.recordings)}) {
      if (words) { result.note = result.note ? fmt::format("{}; {}", *result.note, *words) : *words; }
    }
    return result;
  }

  [[nodiscard]] std::optional<std::string> shared_note(const CaseEntry& entry) const {
    if (!entry.same_as) { return std::nullopt; }
    return fmt::format("the schedule of {}, measured once", name_in_case(seen(entry)));
  }

  /// What limits the compute kernel's residency, in the names of the contract: "registers", "threads+blocks".
  [[nodiscard]] std::optional<std::string> limiting_resources(const OverlapPlan& plan) const {
    std::optional<KernelFootprint> footprint = trials_.compute().footprint;
    // A step has many kernels, each with its own.
    if (!footprint || std::holds_alternative<Step>(trials_.what())) { return std::nullopt; }
    footprint->dynamic_shared += plan.pad;
    const Result<Occupancy> found = occupancy(trials_.device(), *footprint);
    if (!found) { return std::nullopt; }
    std::string names;
    for (const Resource resource : kResources) {
      if (!found->limited_by.contains(resource)) { continue; }
      names += fmt::format("{}{}", names.empty() ? "" : "+", to_string(resource));
    }
    return names;
  }

  [[nodiscard]] static std::string name_in_case(const CaseEntry& entry) {
    const std::string cap = entry.plan.blocks_per_sm ? fmt::format(" {}/SM", entry.plan.blocks_per_sm->count()) : "";
    return entry.label + cap;
  }
  [[nodiscard]] std::string label_of(const CaseEntry& entry) const {
    return fmt::format("{} {}", name_of(trials_.what()), name_in_case(entry));
  }

  const Backend& backend_;
  CaseTrials& trials_;
  std::span<const CaseEntry> entries_;
  std::uint64_t seed_;
  CaseMeasurement& measurement_;
};

}  // namespace

Status write_results(const Backend& backend, CaseTrials& trials, std::span<const CaseEntry> entries, std::uint64_t seed,
                     CaseMeasurement& measurement) {
  return SchemeResults(backend, trials, entries, seed, measurement).write();
}

}  // namespace elbowroom::detail
