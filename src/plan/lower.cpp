#include "elbowroom/plan/lower.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "elbowroom/plan/controls.hpp"
#include "elbowroom/plan/program.hpp"
#include "plan/control_name.hpp"
#include "plan/launch_order.hpp"
#include "plan/program_nodes.hpp"

namespace elbowroom {
namespace {

using detail::LaunchOrder;

bool kept(Order order, const Operation& operation) {
  if (order == Order::compute_only) { return computes(operation); }
  return order != Order::comm_only || !computes(operation);
}

/// Launches of a step on lanes by name, with no settings yet.
class Draft {
 public:
  Draft(const Step& step, Order order, const RankClasses& classes) : step_(step), order_(order), classes_(classes) {
    for (const Operation& operation : step.operations) {
      lanes_.push_back(kept(order, operation) ? std::optional(number_of(name_of(operation))) : std::nullopt);
    }
  }

  Program made(const std::vector<int>& order_of_operations) {
    std::vector<Ends> previous(step_.operations.size(), none());
    for (int repeat = 0; repeat < step_.repeats; ++repeat) {
      std::vector<Ends> ends(step_.operations.size(), none());
      for (const int operation : order_of_operations) { add(operation, repeat, previous, ends); }
      previous = std::move(ends);
    }
    return std::move(program_);
  }

 private:
  /// By lane and class of ranks the latest launch that must have ended; absent: none.
  using Ends = std::vector<std::optional<int>>;

  [[nodiscard]] std::string_view name_of(const Operation& operation) const {
    return order_ == Order::sequential ? "compute" : lane_of(operation);
  }

  int number_of(std::string_view name) {
    std::vector<Lane>& lanes = program_.lanes;
    const auto found = std::ranges::find(lanes, name, &Lane::name);
    if (found != lanes.end()) { return static_cast<int>(found - lanes.begin()); }
    lanes.push_back({std::string(name), false, std::nullopt});
    return static_cast<int>(lanes.size()) - 1;
  }

  [[nodiscard]] Ends none() const { return Ends(program_.lanes.size() * static_cast<std::size_t>(classes_.count)); }
  [[nodiscard]] std::size_t slot(int lane, int one) const { return detail::slot_of(lane, one, classes_.count); }

  void add(int at, int repeat, const std::vector<Ends>& previous, std::vector<Ends>& ends) {
    const auto index = static_cast<std::size_t>(at);
    Ends& end = ends[index];
    for (const Dependency& before : step_.operations[index].after) {
      const Ends& waited = (before.of_previous ? previous : ends)[static_cast<std::size_t>(before.operation)];
      for (const std::vector<int>& together : classes_.of_operation[index]) {
        for (const int one : together) {
          for (int lane = 0; lane < static_cast<int>(program_.lanes.size()); ++lane) {
            // An absent one is before all others.
            end[slot(lane, one)] = std::max(end[slot(lane, one)], waited[slot(lane, one)]);
          }
        }
      }
    }
    // What is left out hands on what it waits for.
    if (const std::optional<int> lane = lanes_[index]) { end = launch(at, repeat, *lane, end); }
  }

  Ends launch(int at, int repeat, int lane, const Ends& waited) {
    Launch launch;
    launch.operation = at;
    launch.repeat = repeat;
    launch.lane = lane;
    for (const std::optional<int>& before : waited) {
      if (before && program_.launches[static_cast<std::size_t>(*before)].lane != lane) { launch.after.push_back(*before); }
    }
    std::ranges::sort(launch.after);
    launch.after.erase(std::ranges::unique(launch.after).begin(), launch.after.end());
    Ends own = none();
    for (const std::vector<int>& together : classes_.of_operation[static_cast<std::size_t>(at)]) {
      for (const int one : together) { own[slot(lane, one)] = static_cast<int>(program_.launches.size()); }
    }
    program_.launches.push_back(std::move(launch));
    return own;
  }

  const Step& step_;
  Order order_;
  const RankClasses& classes_;
  std::vector<std::optional<int>> lanes_;  ///< by operation; absent: it is left out
  Program program_;
};

const Operation& operation_of(const Step& step, const Launch& launch) {
  return step.operations[static_cast<std::size_t>(launch.operation)];
}

/// Nothing but what the user fixed and what a process cannot change.
OverlapPlan outside_windows(const OverlapPlan& plan) {
  OverlapPlan outside;
  for (const Control& control : controls()) {
    if (control.acts_on == ActsOn::process) { control.put(outside, control.get(plan)); }
  }
  return outside;
}

LaunchSettings settings_of(const Operation& operation, const OverlapPlan& plan) {
  if (computes(operation)) { return static_cast<const ComputeSettings&>(plan); }
  auto settings = static_cast<const CommSettings&>(plan);
  if (const auto* collective = std::get_if<Collective>(&operation.what)) {
    if (!settings.comm_blocks) { settings.comm_blocks = collective->comm_blocks; }
    if (!settings.cluster) { settings.cluster = collective->cluster; }
  }
  return settings;
}

/// Gives each launch its stream: a lane is one for each SM partition that its computations run in, and urgent where it only
/// communicates.
class Streams {
 public:
  Streams(const Step& step, const StepPlan& plan, const Program& draft) : plan_(plan), draft_(draft) {
    computing_.assign(draft.lanes.size(), false);
    urgent_.assign(draft.lanes.size(), false);
    for (const Launch& launch : draft.launches) {
      const auto lane = static_cast<std::size_t>(launch.lane);
      if (computes(operation_of(step, launch))) {
        computing_[lane] = true;
      } else if (plan.of(launch.operation).priority) {
        urgent_[lane] = true;
      }
    }
  }

  /// The number of the stream among `lanes`, to which it is added where it is new.
  int of(const Launch& launch, bool as_planned, std::vector<Lane>& lanes) const {
    const auto at = static_cast<std::size_t>(launch.lane);
    Lane lane = draft_.lanes[at];
    if (computing_[at]) {
      if (as_planned) { lane.leaving_out = plan_.of(launch.operation).comm_sms; }
    } else {
      lane.urgent = urgent_[at];
    }
    const auto found = std::ranges::find(lanes, lane);
    if (found != lanes.end()) { return static_cast<int>(found - lanes.begin()); }
    lanes.push_back(std::move(lane));
    return static_cast<int>(lanes.size()) - 1;
  }

 private:
  const StepPlan& plan_;
  const Program& draft_;
  std::vector<bool> computing_;
  std::vector<bool> urgent_;
};

void add_once(std::vector<int>& to, int launch) {
  const auto behind = std::ranges::lower_bound(to, launch);
  if (behind == to.end() || *behind != launch) { to.insert(behind, launch); }
}

Program finished(const Step& step, const StepPlan& plan, const RankClasses& classes, const Program& draft,
                 const std::vector<bool>& as_planned) {
  const Streams streams(step, plan, draft);
  Program program;
  program.launches = draft.launches;
  std::vector<std::optional<int>> latest(draft.lanes.size() * static_cast<std::size_t>(classes.count));
  for (std::size_t at = 0; at < draft.launches.size(); ++at) {
    Launch& launch = program.launches[at];
    const OverlapPlan& own = plan.of(launch.operation);
    launch.lane = streams.of(draft.launches[at], as_planned[at], program.lanes);
    launch.settings = settings_of(operation_of(step, launch), as_planned[at] ? own : outside_windows(own));
    for (const std::vector<int>& together : classes.of_operation[static_cast<std::size_t>(launch.operation)]) {
      for (const int one : together) {
        std::optional<int>& before = latest[detail::slot_of(draft.launches[at].lane, one, classes.count)];
        // The lane goes on on another stream, behind what it did last.
        if (before && program.launches[static_cast<std::size_t>(*before)].lane != launch.lane) { add_once(launch.after, *before); }
        before = static_cast<int>(at);
      }
    }
  }
  return program;
}

/// Launches that something of the other side may run beside.
std::vector<bool> in_windows(const LaunchOrder& beside, std::size_t launches) {
  std::vector<bool> in_window;
  in_window.reserve(launches);
  for (std::size_t at = 0; at < launches; ++at) { in_window.push_back(beside.meets_other_side(static_cast<int>(at))); }
  return in_window;
}

Status both_kinds(const std::vector<bool>& in_window) {
  const auto inside = std::ranges::count(in_window, true);
  if (inside == 0) { return invalid_input("no computation can run beside a communication"); }
  if (inside == std::ssize(in_window)) { return invalid_input("both sides run at once from the beginning to the end"); }
  return {};
}

bool acts_in_windows(const StepPlan& plan, const Program& draft) {
  return std::ranges::any_of(draft.launches, [&](const Launch& launch) { return plan.of(launch.operation).windows_only; });
}

}  // namespace

Result<Program> lower(const Step& step, Order order, const StepPlan& plan) {
  const Result<std::vector<int>> operations = in_order(step);
  if (!operations) { return operations.error(); }
  const RankClasses classes = rank_classes(step);
  const Program draft = Draft(step, order, classes).made(*operations);
  if (draft.launches.empty()) { return invalid_input(fmt::format("{}: the step has no operation of that side", to_string(order))); }
  std::vector<bool> as_planned(draft.launches.size(), true);
  if (order != Order::concurrent) { return finished(step, plan, classes, draft, as_planned); }

  const LaunchOrder beside(step, draft, classes);
  const std::vector<bool> in_window = in_windows(beside, draft.launches.size());
  if (acts_in_windows(plan, draft)) {
    if (Status possible = both_kinds(in_window); !possible) {
      return invalid_input(detail::refusal_of<&OverlapPlan::windows_only>(possible.error().message));
    }
  }
  for (std::size_t at = 0; at < in_window.size(); ++at) {
    as_planned[at] = in_window[at] || !plan.of(draft.launches[at].operation).windows_only;
  }
  Program program = finished(step, plan, classes, draft, as_planned);
  for (std::size_t at = 0; at < in_window.size(); ++at) {
    const Launch& launch = draft.launches[at];
    if (!in_window[at] || computes(operation_of(step, launch)) || !plan.of(launch.operation).launch_gate) { continue; }
    for (const int gated : beside.next_computations_beside(static_cast<int>(at))) {
      add_once(program.launches[static_cast<std::size_t>(gated)].after_begun, static_cast<int>(at));
    }
  }
  return program;
}

Status windows_possible(const Step& step) {
  const Result<std::vector<int>> operations = in_order(step);
  if (!operations) { return operations.error(); }
  const RankClasses classes = rank_classes(step);
  const Program draft = Draft(step, Order::concurrent, classes).made(*operations);
  return both_kinds(in_windows(LaunchOrder(step, draft, classes), draft.launches.size()));
}

Status gate_possible(const Step& step) {
  const Result<std::vector<int>> operations = in_order(step);
  if (!operations) { return operations.error(); }
  const RankClasses classes = rank_classes(step);
  const Program draft = Draft(step, Order::concurrent, classes).made(*operations);
  const LaunchOrder beside(step, draft, classes);
  bool meets = false;
  for (int at = 0; at < static_cast<int>(draft.launches.size()); ++at) {
    if (computes(operation_of(step, draft.launches[static_cast<std::size_t>(at)]))) { continue; }
    if (!beside.next_computations_beside(at).empty()) { return {}; }
    meets = meets || beside.meets_other_side(at);
  }
  if (meets) { return invalid_input("the collective is launched last, no compute kernel could wait for it"); }
  return invalid_input(
      fmt::format("{} no later compute kernel that could wait", step.repeats == 1 ? "one iteration has" : "the step has"));
}

std::string_view to_string(Order order) {
  switch (order) {
    case Order::compute_only:
      return "compute_only";
    case Order::comm_only:
      return "comm_only";
    case Order::sequential:
      return "sequential";
    case Order::concurrent:
      return "concurrent";
  }
  return "";
}

}  // namespace elbowroom
