#include <optional>
#include <utility>

#include "elbowroom/report/run_closing.hpp"
#include "elbowroom/report/run_report.hpp"
#include "report/comm_library.hpp"
#include "report/counts.hpp"
#include "report/energy_json.hpp"
#include "report/json_values.hpp"

namespace elbowroom {
namespace {

using detail::OrderedJson;

OrderedJson parsed(const std::string& document) { return OrderedJson::parse(document, nullptr, /*allow_exceptions=*/false); }

OrderedJson json_of(const AppliedControls& applied) {
  OrderedJson written = OrderedJson::object();
  written["priority"] = applied.priority;
  written["gate"] = applied.gate;
  written["shape"] = applied.shape;
  written["sm_target"] = applied.sm_target;
  return written;
}

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
  written["applied"] = json_of(kernel.applied);
  written["refused"] = kernel.refused;
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
    row["size_class"] = collective.size_class.value_or(0);
    row["count"] = collective.count;
  }
  OrderedJson& kernels = written["kernels"] = OrderedJson::array();
  for (const KernelActivity& kernel : activity.kernels) { kernels.push_back(json_of(kernel)); }
  written["applied"] = json_of(activity.applied);
  written["refused"] = activity.refused;
  written["relaunched"] = activity.relaunched;
  written["passed_through"] = activity.passed_through;
  written["nccl"] = detail::json_of(activity.library);
  OrderedJson& overhead = written["overhead"] = OrderedJson::object();
  overhead["nanoseconds"] = activity.overhead.time.count();
  overhead["calls"] = activity.overhead.calls;
  overhead["nanoseconds_per_launch_outside"] = detail::nanoseconds_of(activity.overhead.per_launch_outside);
  overhead["nanoseconds_per_launch_inside"] = detail::nanoseconds_of(activity.overhead.per_launch_inside);
  return written;
}

}  // namespace

std::string to_json(const RunReport& report, int indent) {
  OrderedJson written = OrderedJson::object();
  written["schema"] = kRunSchema;
  written["provenance"] = "measured";
  written["command"] = report.command;
  written["backend"] = report.backend;
  written["policy"] = report.policy;
  written["exit_code"] = report.exit_code;
  written["wall_s"] = report.wall.count();
  written["same_bits"] = detail::text_or_null(report.same_bits);
  written["closing"] = closing_line(closing_facts(report));
  written["settings"] = report.settings;
  written["energy"] = report.energy ? detail::energy_json(*report.energy) : OrderedJson();
  OrderedJson& processes = written["processes"] = OrderedJson::array();
  for (const ProcessReport& process : report.processes) {
    OrderedJson& row = processes.emplace_back(parsed(process.document));
    if (!row.is_object()) { continue; }
    if (process.symmetric_memory) { row["symmetric_memory"] = parsed(*process.symmetric_memory); }
    if (process.jax) { row["jax"] = true; }
  }
  OrderedJson& without_driver = written["without_driver"] = OrderedJson::array();
  for (const std::string& document : report.without_driver) { without_driver.push_back(parsed(document)); }
  written["damaged_reports"] = report.damaged;
  written["total"] = json_of(total_activity(report.processes));
  return detail::dump(written, indent) + "\n";
}

}  // namespace elbowroom
