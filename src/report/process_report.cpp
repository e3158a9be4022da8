#include "run/process_report.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "elbowroom/report/run_report.hpp"
#include "model/json_document.hpp"
#include "model/json_fields.hpp"
#include "model/json_members.hpp"
#include "report/comm_library.hpp"

namespace elbowroom {
namespace {

using Members = detail::JsonMembers;

using detail::count_if_any;

// In the document 0 and an empty text stand for what the process does not know.

std::optional<Microseconds> time_if_any(Members& members, const char* name) {
  const Microseconds time(members.amount(name));
  return time.count() > 0 ? std::optional(time) : std::nullopt;
}

std::optional<std::string> text_if_any(Members& members, const char* name) {
  std::string text = members.text(name);
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

std::optional<TrialState> state_if_any(Members& members) {
  const std::optional<std::string> word = text_if_any(members, "state");
  return word ? std::optional(TrialState(*word)) : std::nullopt;
}

ArmControls arm_of(Members& members) { return ArmControls(members.text("arm")); }

AppliedControls applied_of(Members applied) {
  return {applied.count("priority"), applied.count("gate"), applied.count("shape"), applied.count("sm_target")};
}

KernelActivity kernel_of(Members kernel) {
  KernelActivity read;
  read.name = kernel.text("name");
  Members footprint = kernel.object("footprint");
  read.footprint = {Threads(footprint.count("threads")), Registers(footprint.count("registers")),
                    Bytes(footprint.count("static_shared")), Bytes(footprint.count("dynamic_shared")),
                    static_cast<int>(footprint.count("cluster"))};
  read.launches = kernel.count("launches");
  read.in_window = kernel.count("in_window");
  read.applied = applied_of(kernel.object("applied"));
  read.refused = kernel.counts("refused");
  return read;
}

RunActivity activity_of(Members& document) {
  RunActivity read;
  Members launches = document.object("launches");
  read.launches = {launches.count("total"),
                   launches.count("captured"),
                   launches.count("graph_launches"),
                   launches.count("in_window"),
                   launches.count("in_order_only"),
                   launches.count("untracked"),
                   launches.count("collectives_forgotten"),
                   launches.count("at_rest")};
  document.each("collectives", [&](Members collective) {
    read.collectives.push_back({collective.text("name"), count_if_any(collective, "size_class"), collective.count("count")});
  });
  document.each("kernels", [&](Members kernel) { read.kernels.push_back(kernel_of(std::move(kernel))); });
  read.applied = applied_of(document.object("applied"));
  read.refused = document.counts("refused");
  for (const std::string& function : document.texts("passed_through")) { read.passed_through[function] = 1; }
  read.relaunched = document.count("relaunched");
  Members overhead = document.object("overhead");
  read.overhead.time = Nanoseconds(overhead.count("nanoseconds"));
  read.overhead.calls = overhead.count("calls");
  const auto of_launch = [&](const char* name) -> std::optional<Microseconds> {
    const double nanoseconds = overhead.amount(name);
    return nanoseconds > 0 ? std::optional(Microseconds(nanoseconds / 1000)) : std::nullopt;
  };
  read.overhead.per_launch_outside = of_launch("nanoseconds_per_launch_outside");
  read.overhead.per_launch_inside = of_launch("nanoseconds_per_launch_inside");
  return read;
}

ProcessReport::Trial trial_of(Members members) {
  ProcessReport::Trial trial;
  trial.state = state_if_any(members);
  trial.decides = parse_decider(members.text("decides"));
  trial.why_alone = text_if_any(members, "why_alone");
  trial.arm = arm_of(members);
  trial.decisions = members.count("decisions");
  trial.repetition = count_if_any(members, "collectives_per_repetition");
  members.each("arms", [&](Members arm) {
    trial.arms.push_back({arm_of(arm), time_if_any(arm, "us"), arm.number("gain_percent"), arm.number("low"), arm.number("high")});
  });
  if (auto remembered = text_if_any(members, "remembered")) { trial.remembered = ArmControls(*std::move(remembered)); }
  members.each("choices", [&](Members choice) {
    trial.choices.push_back({choice.text("sequence"), arm_of(choice), choice.number("gain_percent"), choice.number("low"),
                             choice.number("high"), count_if_any(choice, "decisions")});
  });
  return trial;
}

}  // namespace

Result<ProcessReport> parse_process_report(std::string_view text, const std::string& source) {
  const Result<nlohmann::json> document =
      detail::read_json_object(text, source, fmt::format("an {} document", run::kProcessReportSchema));
  if (!document) { return document.error(); }
  std::optional<std::string> failure;
  Members members(*document, "", failure);
  ProcessReport report;
  if (const std::string schema = members.text("schema"); !failure && schema != run::kProcessReportSchema) {
    failure = fmt::format("schema: {}, expected {}", detail::shown(schema), detail::shown(run::kProcessReportSchema));
  }
  report.pid = members.count("pid");
  report.program = members.text("program");
  report.policy = members.text("policy");
  report.activity = activity_of(members);
  report.device = text_if_any(members, "device");
  Members steps = members.object("steps");
  if (const auto repetitions = count_if_any(steps, "repetitions")) {
    report.steps = {*repetitions, steps.count("collectives"), Microseconds(steps.amount("begin_us")),
                    Microseconds(steps.amount("end_us"))};
  }
  report.gpus = members.texts("gpus");
  report.begun = time_if_any(members, "begun_us");
  Members trial = members.object("ab");
  report.activity.library = detail::comm_library_of(members.object("nccl"), report.activity.collectives);
  report.activity.library.version = count_if_any(trial, "library_version");
  report.trial = trial_of(std::move(trial));
  if (failure) { return invalid_input(fmt::format("{}: {}", source, *failure)); }
  report.document = text;
  return report;
}

}  // namespace elbowroom
