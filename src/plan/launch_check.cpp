#include "elbowroom/plan/launch_check.hpp"

#include <fmt/format.h>

#include "elbowroom/plan/controls.hpp"
#include "elbowroom/plan/launch_settings.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/plan/program.hpp"

namespace elbowroom {
namespace {

/// A plan of nothing but what this launch is asked for.
OverlapPlan asked_of(const Launch& launch, const Lane& lane) {
  OverlapPlan asked;
  asked.priority = lane.urgent;
  asked.launch_gate = !launch.after_begun.empty();
  asked.comm_sms = lane.leaving_out;
  if (const auto* compute = std::get_if<ComputeSettings>(&launch.settings)) {
    static_cast<ComputeSettings&>(asked) = *compute;
  } else {
    static_cast<CommSettings&>(asked) = std::get<CommSettings>(launch.settings);
  }
  return asked;
}

/// The member of the plan that asks for the control; null where none does.
const PlanMember* asking(const Control& control, const OverlapPlan& asked) {
  if (control.get(asked)) { return &control; }
  const PlanMember* const follows = control.consequence;
  return follows != nullptr && follows->get(asked).value_or(0) != 0 ? follows : nullptr;
}

Status refused(const PlanMember& member, const Error& why) {
  return Error{why.kind, fmt::format("{}: {}", member.name, why.message)};
}

}  // namespace

Status check_launch(const LaunchSite& site, const Launch& launch, const Lane& lane) {
  const OverlapPlan asked = asked_of(launch, lane);
  for (const Control& control : controls()) {
    const PlanMember* const member = asking(control, asked);
    if (member == nullptr) { continue; }
    if (control.needs != nullptr && !(site.can.*control.needs)) { return refused(*member, (site.can.*control.needs).error()); }
    if (control.at_launch == nullptr) { continue; }
    if (const Status acts = control.at_launch(site, asked); !acts) { return refused(*member, acts.error()); }
  }
  return {};
}

}  // namespace elbowroom
