#include "elbowroom/experiment/tune_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string_view>

#include "elbowroom/report/scenario_line.hpp"
#include "elbowroom/trace/overlap_metrics.hpp"
#include "elbowroom/trace/rank_interval.hpp"
#include "elbowroom/trace/summary.hpp"
#include "plan/candidate_json.hpp"
#include "plan/overlap_plan_json.hpp"
#include "report/case_lines.hpp"
#include "report/energy_json.hpp"
#include "report/json_values.hpp"
#include "report/schedule_words.hpp"
#include "report/schemas.hpp"
#include "report/wrapped_text.hpp"

namespace elbowroom {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string milliseconds(Microseconds time) { return fmt::format("{:.3f}", time.count() / 1000); }

std::optional<double> efficiency(const TunedCase& tuned) {
  if (!tuned.can_overlap) { return std::nullopt; }
  return overlap_metrics(tuned.choice.time, tuned.sequential, tuned.critical_path).overlap_efficiency;
}

std::vector<const MeasuredCandidate*> by_time(const TunedCase& tuned) {
  std::vector<const MeasuredCandidate*> sorted;
  for (const MeasuredCandidate& measured : tuned.candidates) {
    if (!measured.times.empty()) { sorted.push_back(&measured); }
  }
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto* a, const auto* b) { return a->interval().median < b->interval().median; });
  return sorted;
}

constexpr std::string_view kReasonTitle = "how";

std::size_t widest_reason(const std::vector<const MeasuredCandidate*>& candidates) {
  std::size_t width = kReasonTitle.size();
  for (const MeasuredCandidate* measured : candidates) { width = std::max(width, in_words(measured->candidate.reason).size()); }
  return width;
}

/// Of simulated trials it is the model's: they agree with each other whatever it is worth.
RankInterval interval_of(const MeasuredCandidate& measured, const std::optional<ModelWidth>& model) {
  return model ? widened(measured.interval(), model->width) : measured.interval();
}

/// What a row begins with in any width.
std::string row_head(const MeasuredCandidate& measured, const StoredChoice& choice, const std::optional<ModelWidth>& model) {
  const Candidate& candidate = measured.candidate;
  const RankInterval interval = interval_of(measured, model);
  const bool chosen = candidate.scheme == choice.scheme && candidate.plan == choice.plan;
  return fmt::format("{} {:>9} {:>19}", chosen ? '*' : ' ', milliseconds(interval.median),
                     milliseconds(interval.low) + ".." + milliseconds(interval.high));
}

std::string plan_of_row(const MeasuredCandidate& measured) {
  return detail::schedule_words(to_string(measured.candidate.scheme), measured.candidate.plan);
}

std::string row(const MeasuredCandidate& measured, const StoredChoice& choice, const std::optional<ModelWidth>& model,
                std::size_t reason_width) {
  const Candidate& candidate = measured.candidate;
  return fmt::format("{} {:>6} {:>9}  {:<{}} {}\n", row_head(measured, choice, model), measured.times.size(),
                     candidate.predicted ? milliseconds(*candidate.predicted) : "-", in_words(candidate.reason), reason_width,
                     plan_of_row(measured));
}

std::string rows(const std::vector<const MeasuredCandidate*>& sorted, const StoredChoice& choice,
                 const std::optional<ModelWidth>& model, std::size_t width) {
  const std::size_t reason_width = widest_reason(sorted);
  std::string text = fmt::format("#   time ms         interval ms trials predicted  {:<{}} plan\n", kReasonTitle, reason_width);
  std::size_t widest = 0;
  for (const MeasuredCandidate* measured : sorted) {
    const std::string line = row(*measured, choice, model, reason_width);
    widest = std::max(widest, line.size() - 1);
    text += line;
  }
  if (widest <= width) { return text; }
  text = "#   time ms         interval ms  plan (--wide adds trials, predicted, how)\n";
  for (const MeasuredCandidate* measured : sorted) {
    const std::string head = row_head(*measured, choice, model) + "  ";
    text += detail::wrapped(head, plan_of_row(*measured), head.size(), width);
  }
  return text;
}

OrderedJson measured_json(const MeasuredCandidate& measured, const std::optional<ModelWidth>& model) {
  OrderedJson json = detail::candidate_json(measured.candidate);
  json["trials"] = measured.times.size();
  json["time_us"] = OrderedJson();
  if (!measured.times.empty()) {
    const RankInterval interval = interval_of(measured, model);
    json["time_us"] = {{"median", interval.median.count()}, {"low", interval.low.count()}, {"high", interval.high.count()}};
  }
  json["dropped"] = measured.dropped ? OrderedJson(*measured.dropped) : OrderedJson();
  return json;
}

OrderedJson schedule_json(const TimedSchedule& schedule) {
  OrderedJson json = OrderedJson::object();
  json["schedule"] = schedule.label;
  json["plan"] = detail::plan_json(schedule.plan);
  json["times_us"] = OrderedJson::array();
  for (const Microseconds time : schedule.times) { json["times_us"].push_back(time.count()); }
  return json;
}

/// Of the schedules afresh that it is of: the last ones.
void add_energy(OrderedJson& json, const TunedCase& tuned) {
  if (tuned.objective == Objective::time) { return; }
  json["objective"] = to_string(tuned.objective);
  const std::size_t first = tuned.afresh.size() - tuned.energy.size();
  for (std::size_t at = 0; at < tuned.energy.size(); ++at) {
    json["afresh"][first + at]["energy"] = detail::energy_json(tuned.energy[at]);
  }
}

std::string energy_lines(const TunedCase& tuned) {
  std::string text;
  const std::size_t first = tuned.afresh.size() - tuned.energy.size();
  for (std::size_t at = 0; at < tuned.energy.size(); ++at) {
    const TimedSchedule& schedule = tuned.afresh[first + at];
    const JoulesPerIteration& one = tuned.energy[at].per_iteration;
    text += fmt::format("# energy of an iteration: {:.4g} J ({:.4g}..{:.4g}), idle {:.4g} J, {}: {}\n", one.joules.value,
                        one.low.value, one.high.value, tuned.energy[at].idle.value, schedule.label, in_words(schedule.plan));
  }
  return text;
}

OrderedJson case_json(const TunedCase& tuned, const std::optional<ModelWidth>& model) {
  OrderedJson json = OrderedJson::object();
  detail::add_case(json, tuned.what);
  json["scheme"] = to_string(tuned.choice.scheme);
  json["plan"] = detail::plan_json(tuned.choice.plan);
  if (tuned.acts_on) { json["acts_on"] = *tuned.acts_on; }
  json["reason"] = tuned.choice.reason;
  json["limited_by"] = tuned.limited_by.value_or("");
  json["time_us"] = tuned.choice.time.count();
  json["baseline"] = to_string(tuned.choice.baseline);
  json["baseline_time_us"] = tuned.choice.baseline_time.count();
  json["compute_alone_us"] = tuned.compute_alone.count();
  json["comm_alone_us"] = tuned.comm_alone.count();
  json["sequential_us"] = tuned.sequential.count();
  json["critical_path_us"] = tuned.critical_path.count();
  detail::add_hardware_limit(json, tuned.hardware_limit);
  const std::optional<double> reached = efficiency(tuned);
  json["overlap_efficiency"] = reached ? OrderedJson(*reached) : OrderedJson();
  json["rounds"] = tuned.afresh.front().times.size();
  json["afresh"] = OrderedJson::array();
  for (const TimedSchedule& schedule : tuned.afresh) { json["afresh"].push_back(schedule_json(schedule)); }
  add_energy(json, tuned);
  json["ratio"] = OrderedJson();
  if (tuned.confirmed) {
    const RatioSummary ratio = model ? widened(*tuned.confirmed, model->width) : *tuned.confirmed;
    json["ratio"] = {{"median", ratio.median}, {"low", ratio.low}, {"high", ratio.high}, {"confidence", ratio.confidence}};
  }
  json["ending"] = to_string(tuned.ending);
  json["trials"] = tuned.choice.trials;
  json["spent_s"] = tuned.spent.count();
  json["candidates"] = OrderedJson::array();
  for (const MeasuredCandidate& measured : tuned.candidates) { json["candidates"].push_back(measured_json(measured, model)); }
  return json;
}

}  // namespace

std::string to_table(const TunedCase& tuned, const Origin& origin, std::size_t width) {
  const std::vector<const MeasuredCandidate*> sorted = by_time(tuned);
  std::string text = fmt::format("# {}: {}\n", to_string(origin.provenance), case_line(tuned.what));
  text += fmt::format("# {} candidates, {} trials, {:.1f} s: {}\n", sorted.size(), tuned.choice.trials, tuned.spent.count(),
                      to_string(tuned.ending));
  text += rows(sorted, tuned.choice, origin.device.model, width);
  for (const MeasuredCandidate& measured : tuned.candidates) {
    if (measured.times.empty() && measured.dropped) {
      text += fmt::format("# refused: {}: {}\n", in_words(measured.candidate.plan), *measured.dropped);
    }
  }
  text += fmt::format("# afresh: compute alone {} ms, comm alone {} ms, in turn {} ms; critical path {} ms{}{}\n",
                      milliseconds(tuned.compute_alone), milliseconds(tuned.comm_alone), milliseconds(tuned.sequential),
                      milliseconds(tuned.critical_path), efficiency(tuned) ? "" : detail::kNoOverlap,
                      tuned.limited_by ? "; limited by " + *tuned.limited_by : "");
  if (const std::optional<HardwareLimit>& limit = tuned.hardware_limit) {
    text += fmt::format("# hardware limit {} ms: {}\n", milliseconds(limit->time), in_words(*limit));
  }
  text += energy_lines(tuned);
  const std::optional<double> reached = efficiency(tuned);
  text += fmt::format("# chosen: {}: {}, {} ms{}\n", to_string(tuned.choice.scheme), in_words(tuned.choice.plan),
                      milliseconds(tuned.choice.time),
                      reached ? fmt::format(", {:.1f} % of what the critical path saves", 100 * *reached) : "");
  if (tuned.acts_on) { text += fmt::format("# acts on a part: {}\n", *tuned.acts_on); }
  return text + fmt::format("# because: {}\n", tuned.choice.reason);
}

std::string to_json(const Origin& origin, const std::vector<std::string>& left_out, const std::vector<TunedCase>& cases) {
  OrderedJson json = OrderedJson::object();
  json["schema"] = kTuneSchema;
  json["provenance"] = to_string(origin.provenance);
  json["backend"] = origin.backend;
  json["device"] = origin.device.limits.name;
  json["versions"] = detail::versions_json(origin);
  json["model"] = detail::model_json(origin);
  json["seed"] = origin.seed;
  json["without"] = left_out;
  json["cases"] = OrderedJson::array();
  for (const TunedCase& tuned : cases) { json["cases"].push_back(case_json(tuned, origin.device.model)); }
  return json.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace elbowroom
