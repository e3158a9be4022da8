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
using nlohmann::json;

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
  read.expected = Microseconds(kernel.amount("expected_us"));
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
    read.collectives.push_back({collective.text("name"), collective.count("size_class"), collective.count("count"),
                                Microseconds(collective.amount("expected_us"))});
  });
  document.each("kernels", [&](Members kernel) { read.kernels.push_back(kernel_of(std::move(kernel))); });
  read.applied = applied_of(document.object("applied"));
  read.refused = document.counts("refused");
  for (const std::string& function : document.texts("passed_through")) read.passed_through[function] = 1;
  read.relaunched = document.count("relaunched");
  Members overhead = document.object("overhead");
  read.overhead.time = Nanoseconds(overhead.count("nanoseconds"));
  read.overhead.calls = overhead.count("calls");
  read.overhead.per_launch_outside = Microseconds(overhead.amount("nanoseconds_per_launch_outside") / 1000);
  read.overhead.per_launch_inside = Microseconds(overhead.amount("nanoseconds_per_launch_inside") / 1000);
  return read;
}

ProcessReport::Trial::Budget budget_of(Members members) {
  ProcessReport::Trial::Budget budget;
  budget.state = members.text("state");
  budget.reason = members.text("reason");
  budget.decides_here = members.text("decides") == "this process";
  if (members.has("blocks")) budget.blocks = members.count("blocks");
  budget.decisions = members.count("decisions");
  if (members.has("remembered")) budget.remembered = members.count("remembered");
  members.each("arms", [&](Members arm) {
    budget.arms.push_back(
        {arm.count("blocks"), Microseconds(arm.amount("us")), arm.number("gain_percent"), arm.number("low"), arm.number("high")});
  });
  return budget;
}

ProcessReport::Trial trial_of(Members members) {
  ProcessReport::Trial trial;
  trial.state = members.text("state");
  trial.decides = members.text("decides");
  trial.why_alone = members.text("why_alone");
  trial.arm = members.text("arm");
  trial.decisions = members.count("decisions");
  trial.repetition = members.count("collectives_per_repetition");
  members.each("arms", [&](Members arm) {
    trial.arms.push_back(
        {arm.text("arm"), Microseconds(arm.amount("us")), arm.number("gain_percent"), arm.number("low"), arm.number("high")});
  });
  trial.remembered = members.text("remembered");
  members.each("choices", [&](Members choice) {
    trial.choices.push_back({choice.text("sequence"), choice.text("arm"), choice.number("gain_percent"), choice.number("low"),
                             choice.number("high"), choice.count("decisions")});
  });
  if (members.has("budget")) trial.budget = budget_of(members.object("budget"));
  return trial;
}

}  // namespace

Result<ProcessReport> parse_process_report(std::string_view text, const std::string& source) {
  const Result<json> document = detail::read_json_object(text, source, fmt::format("an {} document", run::kProcessReportSchema));
  if (!document) return document.error();
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
  report.device = members.text("device");
  members.each("durations", [&](Members duration) {
    report.durations.push_back(
        {duration.text("kind"), duration.text("kernel"), Microseconds(duration.amount("us")), duration.count("launches")});
  });
  Members steps = members.object("steps");
  report.steps = {steps.count("repetitions"), steps.count("collectives"), Microseconds(steps.amount("begin_us")),
                  Microseconds(steps.amount("end_us"))};
  report.gpus = members.texts("gpus");
  report.begun = Microseconds(members.amount("begun_us"));
  Members trial = members.object("ab");
  report.activity.library = detail::comm_library_of(members.object("nccl"), report.activity.collectives);
  report.activity.library.version = trial.count("library_version");
  report.trial = trial_of(std::move(trial));
  if (failure) return invalid_input(fmt::format("{}: {}", source, *failure));
  report.document = text;
  return report;
}

}  // namespace elbowroom
