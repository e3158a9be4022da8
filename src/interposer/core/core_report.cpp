#include <algorithm>
#include <array>

#include "interposer/core/core_state.hpp"
#include "interposer/core/report_writer.hpp"
#include "run/process_report.hpp"
#include "run/trial_words.hpp"

namespace elbowroom::interposer {
namespace {

constexpr std::size_t kMostKernels = 256;
static_assert(kRefusalWords.back() != nullptr, "each refusal has its words");
/// By state of a trial.
constexpr std::array<const char*, 3> kStateWords{run::kTrialWaiting, run::kTrialTrying, run::kTrialSettled};

template <class Counts>
void write_refused(ReportWriter& out, const Counts& refused) {
  out.key("refused").begin_object();
  for (std::size_t i = 1; i < kRefusals; ++i) {
    if (refused[i] != 0) { out.key(text(static_cast<Refusal>(i))).number(refused[i]); }
  }
  out.end_object();
}

void write_applied(ReportWriter& out, const AppliedCounts& counts) {
  out.key("applied").begin_object();
  out.key("gate").number(counts.gate).key("shape").number(counts.shape);
  out.key("priority").number(counts.priority).key("sm_target").number(counts.sm_target);
  out.end_object();
}

void write_texts(ReportWriter& out, const char* const* texts, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) { out.text(texts[i]); }
}

void write_process(ReportWriter& out, const ProcessFacts& process, const Rules& rules) {
  out.key("schema").text(run::kProcessReportSchema);
  out.key("pid").number(static_cast<std::uint64_t>(process.pid)).key("program").text(process.program);
  out.key("policy").text(text(rules.policy));
  out.key("device_count_seen").number(static_cast<std::uint64_t>(std::max(process.device_count, 0)));
  out.key("begun_us").microseconds(process.begun_ns);
  out.key("driver_entries").begin_array();
  write_texts(out, process.driver_entries, process.driver_entry_count);
  out.end_array();
}

void write_gpus(ReportWriter& out, const Knowledge& known) {
  out.key("gpus").begin_array();
  for (std::size_t device = 0; device < known.devices.size(); ++device) {
    const bool met = (known.devices_known >> device & 1U) != 0;
    if (met && known.devices[device].bus_id[0] != '\0') { out.text(known.devices[device].bus_id.data()); }
  }
  out.end_array();
}

void write_steps(ReportWriter& out, const StepStretch& longest) {
  out.key("steps").begin_object().key("repetitions").number(longest.repetitions);
  out.key("collectives").number(longest.collectives);
  out.key("begin_us").microseconds(longest.begin_ns).key("end_us").microseconds(longest.end_ns).end_object();
}

void write_launches(ReportWriter& out, const Knowledge& known) {
  const Totals& totals = known.totals;
  out.key("launches").begin_object();
  out.key("total").number(totals.launches).key("at_rest").number(totals.at_rest).key("captured").number(0);
  out.key("graph_launches").number(totals.graph_launches);
  out.key("in_window").number(totals.in_window).key("in_order_only").number(totals.in_order_only);
  out.key("untracked").number(0).key("collectives_forgotten").number(0);
  out.end_object();
}

void write_collectives(ReportWriter& out, Knowledge& known) {
  out.key("collectives").begin_array();
  known.kinds.for_each([&](std::uint64_t, const CollectiveKind& kind) {
    out.begin_object().key("name").text(known.kernels[kind.kernel].name.data()).key("size_class").number(kind.size_class);
    out.key("count").number(kind.launches).end_object();
  });
  out.end_array();
}

void write_kernel(ReportWriter& out, Knowledge& known, std::uint16_t index) {
  const KernelRecord& kernel = known.kernels[index];
  out.begin_object().key("name").text(kernel.name.data());
  out.key("footprint").begin_object();
  out.key("threads").number(kernel.threads).key("registers").number(kernel.registers);
  out.key("static_shared").number(kernel.static_shared).key("dynamic_shared").number(kernel.dynamic_shared);
  out.key("cluster").number(kernel.cluster).end_object();
  out.key("launches").number(kernel.launches).key("in_window").number(kernel.in_window);
  write_applied(out, kernel.applied);
  write_refused(out, kernel.refused);
  out.end_object();
}

void write_kernels(ReportWriter& out, Knowledge& known) {
  auto& order = known.report_order;
  std::size_t count = 0;
  for (std::size_t i = 1; i < known.kernel_count; ++i) {
    if (!known.kernels[i].communication) { order[count++] = static_cast<std::uint16_t>(i); }
  }
  std::sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count), [&](std::uint16_t a, std::uint16_t b) {
    const KernelRecord& first = known.kernels[a];
    const KernelRecord& second = known.kernels[b];
    if (first.in_window != second.in_window) { return first.in_window > second.in_window; }
    return first.launches != second.launches ? first.launches > second.launches : a < b;
  });
  out.key("kernels").begin_array();
  for (std::size_t i = 0; i < std::min(count, kMostKernels); ++i) { write_kernel(out, known, order[i]); }
  out.end_array();
}

void write_passed_through(ReportWriter& out, const Knowledge& known, const ProcessFacts& process) {
  out.key("relaunched").number(known.totals.relaunched).key("passed_through").begin_array();
  for (std::size_t i = 1; i < known.kernel_count; ++i) {
    if (known.kernels[i].event_refused) { out.text(known.kernels[i].name.data(), ": a launch with a completion event failed"); }
    if (known.kernels[i].passed_through) { out.text(known.kernels[i].name.data(), ": a launch with a control failed"); }
  }
  write_texts(out, process.passed_through, process.passed_through_count);
  out.end_array();
}

void write_overhead(ReportWriter& out, const ProcessFacts& process) {
  out.key("overhead").begin_object();
  out.key("nanoseconds").number(process.outside.ns + process.inside.ns);
  out.key("calls").number(process.outside.calls + process.inside.calls);
  out.key("nanoseconds_per_launch_outside").number(process.outside.median_ns);
  out.key("nanoseconds_per_launch_inside").number(process.inside.median_ns);
  out.end_object();
}

void write_gain(ReportWriter& out, const AbTrial::Finding& found) {
  out.key("gain_percent").percent(found.gain).key("low").percent(found.low).key("high").percent(found.high);
}

void write_arm(ReportWriter& out, const AbTrial& trial, const Rules& rules, unsigned arm) {
  out.begin_object().key("arm").text(text_of_arm(rules, arm)).key("us").microseconds(trial.step_time(arm));
  if (arm > 0) { write_gain(out, trial.finding(arm)); }
  out.end_object();
}

void write_choices(ReportWriter& out, const Knowledge& known, const Rules& rules) {
  out.key("choices").begin_array();
  known.trial.for_each_choice([&](const AbTrial::Choice& choice) {
    out.begin_object().key("sequence").hexadecimal(choice.pattern);
    out.key("arm").text(text_of_arm(rules, choice.arm));
    write_gain(out, choice.finding);
    out.key("decisions").number(choice.decisions).end_object();
  });
  // What it is worth the process that decides knows.
  if (const auto followed = known.ranks.followed()) {
    out.begin_object().key("sequence").hexadecimal(followed->pattern);
    out.key("arm").text(text_of_arm(rules, followed->arm));
    write_gain(out, {});
    out.key("decisions").number(followed->decisions).end_object();
  }
  out.end_array();
}

bool follows(const Knowledge& known) { return known.ranks.mode() == RanksInStep::Mode::follows; }

// Of one that follows as of the last step: most programs end with other collectives.
AbTrial::State state_of(const Knowledge& known) {
  if (!follows(known)) { return known.trial.state(); }
  if (!known.steps.locked()) { return known.compared; }
  return known.ranks.kept() ? AbTrial::State::settled : AbTrial::State::trying;
}

unsigned kept_arm(const Knowledge& known) {
  if (!follows(known)) { return known.trial.chosen(); }
  return known.ranks.followed().value_or(RanksInStep::Followed{}).arm;
}

void write_deciders(ReportWriter& out, const RanksInStep& ranks) {
  out.key("decides")
      .text(kModeWords[static_cast<std::size_t>(ranks.mode())])
      .key("why_alone")
      .text(kReasonWords[static_cast<std::size_t>(ranks.reason())]);
}

void write_trial(ReportWriter& out, const Knowledge& known, const Rules& rules) {
  const AbTrial& trial = known.trial;
  out.key("ab").begin_object().key("state").text(compares(rules) ? kStateWords[static_cast<std::size_t>(state_of(known))]
                                                                 : run::kTrialOff);
  out.key("arm").text(text_of_arm(rules, compares(rules) ? kept_arm(known) : 0));
  out.key("collectives_per_repetition").number(known.steps.period()).key("decisions").number(trial.decisions());
  out.key("arms").begin_array();
  for (unsigned arm = 0; compares(rules) && trial.step_time(0) > 0 && arm < trial.arms(); ++arm) {
    write_arm(out, trial, rules, arm);
  }
  out.end_array().key("remembered").text(trial.remembered() ? text_of_arm(rules, *trial.remembered()) : "");
  out.key("library_version").number(known.library);
  write_choices(out, known, rules);
  if (compares(rules)) { write_deciders(out, known.ranks); }
  out.end_object();
}

}  // namespace

void Core::report(const ProcessFacts& process, const Sink& sink) {
  const CoreState::Hold hold(*state_);
  Knowledge& known = state_->known;
  ReportWriter out(sink);
  out.begin_object();
  write_process(out, process, state_->rules);
  state_->fast_path.tell_counts(state_->counted());
  write_gpus(out, known);
  write_steps(out, known.stretches.longest());
  write_launches(out, known);
  write_collectives(out, known);
  write_kernels(out, known);
  out.key("device").text(known.models_differ ? "" : known.model.data());
  write_applied(out, known.totals.applied);
  write_refused(out, known.totals.refused);
  write_passed_through(out, known, process);
  write_overhead(out, process);
  write_trial(out, known, state_->rules);
  if (process.write_more != nullptr) { process.write_more(out); }
  out.end_object();
}

}  // namespace elbowroom::interposer
