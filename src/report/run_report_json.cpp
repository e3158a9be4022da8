#include <fmt/format.h>

#include <optional>
#include <utility>

#include "elbowroom/report/run_report.hpp"
#include "model/json_document.hpp"
#include "model/json_fields.hpp"
#include "model/json_members.hpp"
#include "report/json_values.hpp"
#include "run/process_report.hpp"

namespace elbowroom {
namespace {

using detail::OrderedJson;
using nlohmann::json;

using Members = detail::JsonMembers;

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

OrderedJson json_of(const AppliedControls& applied) {
  OrderedJson written = OrderedJson::object();
  written["priority"] = applied.priority;
  written["gate"] = applied.gate;
  written["shape"] = applied.shape;
  written["sm_target"] = applied.sm_target;
  return written;
}

OrderedJson json_of(const std::map<std::string, std::int64_t>& counts) {
  OrderedJson written = OrderedJson::object();
  for (const auto& [key, count] : counts) written[key] = count;
  return written;
}

/// A duration that nobody learned is null, not zero.
OrderedJson learned(Microseconds expected) { return expected.count() > 0 ? OrderedJson(expected.count()) : OrderedJson(); }

OrderedJson json_of(const KernelActivity& kernel) {
  OrderedJson written = OrderedJson::object();
  written["name"] = kernel.name;
  OrderedJson& footprint = written["footprint"] = OrderedJson::object();
  footprint["threads"] = kernel.footprint.threads.count();
  footprint["registers"] = kernel.footprint.registers_per_thread.count();
  footprint["static_shared"] = kernel.footprint.static_shared.count();
  footprint["dynamic_shared"] = kernel.footprint.dynamic_shared.count();
  footprint["cluster"] = kernel.footprint.cluster;
  written["launches"] = kernel.launches;
  written["in_window"] = kernel.in_window;
  written["expected_us"] = learned(kernel.expected);
  written["applied"] = json_of(kernel.applied);
  written["refused"] = json_of(kernel.refused);
  return written;
}

OrderedJson json_of(const RunActivity::Launches& launches) {
  OrderedJson written = OrderedJson::object();
  written["total"] = launches.total;
  written["captured"] = launches.captured;
  written["graph_launches"] = launches.graph_launches;
  written["in_window"] = launches.in_window;
  written["in_order_only"] = launches.in_order_only;
  written["untracked"] = launches.untracked;
  written["collectives_forgotten"] = launches.collectives_forgotten;
  written["at_rest"] = launches.at_rest;
  return written;
}

OrderedJson json_of(const RunActivity& activity) {
  OrderedJson written = OrderedJson::object();
  written["launches"] = json_of(activity.launches);
  OrderedJson& collectives = written["collectives"] = OrderedJson::array();
  for (const CollectiveActivity& collective : activity.collectives) {
    OrderedJson& row = collectives.emplace_back(OrderedJson::object());
    row["name"] = collective.name;
    row["size_class"] = collective.size_class;
    row["count"] = collective.count;
    row["expected_us"] = learned(collective.expected);
  }
  OrderedJson& kernels = written["kernels"] = OrderedJson::array();
  for (const KernelActivity& kernel : activity.kernels) kernels.push_back(json_of(kernel));
  written["applied"] = json_of(activity.applied);
  written["refused"] = json_of(activity.refused);
  written["relaunched"] = activity.relaunched;
  written["passed_through"] = json_of(activity.passed_through);
  OrderedJson& overhead = written["overhead"] = OrderedJson::object();
  overhead["nanoseconds"] = activity.overhead.time.count();
  overhead["calls"] = activity.overhead.calls;
  overhead["nanoseconds_per_launch_outside"] = activity.overhead.per_launch_outside.count() * 1000;
  overhead["nanoseconds_per_launch_inside"] = activity.overhead.per_launch_inside.count() * 1000;
  return written;
}

ProcessReport::Trial trial_of(Members members) {
  ProcessReport::Trial trial{
      members.text("state"), members.text("arm"), members.count("decisions"), members.count("collectives_per_repetition"), {}};
  members.each("arms", [&](Members arm) {
    trial.arms.push_back(
        {arm.text("arm"), Microseconds(arm.amount("us")), arm.number("gain_percent"), arm.number("low"), arm.number("high")});
  });
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
  report.trial = trial_of(members.object("ab"));
  if (failure) return invalid_input(fmt::format("{}: {}", source, *failure));
  report.document = text;
  return report;
}

std::string to_json(const RunReport& report, int indent) {
  OrderedJson written = OrderedJson::object();
  written["schema"] = kRunSchema;
  written["provenance"] = "measured";
  written["command"] = report.command;
  written["backend"] = report.backend;
  written["policy"] = report.policy;
  written["exit_code"] = report.exit_code;
  written["wall_s"] = report.wall.count();
  OrderedJson& processes = written["processes"] = OrderedJson::array();
  for (const ProcessReport& process : report.processes) {
    OrderedJson& row = processes.emplace_back(OrderedJson::parse(process.document, nullptr, /*allow_exceptions=*/false));
    if (process.symmetric_memory.empty() || !row.is_object()) continue;
    row["symmetric_memory"] = OrderedJson::parse(process.symmetric_memory, nullptr, /*allow_exceptions=*/false);
  }
  written["damaged_reports"] = report.damaged;
  written["total"] = json_of(total_activity(report.processes));
  return detail::dump(written, indent) + "\n";
}

}  // namespace elbowroom
