#include "run_profile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <utility>

namespace headroom {
namespace {

template <class Unit>
std::optional<std::int64_t> number(const std::optional<Quantity<Unit>>& value) {
  return value ? std::optional(value->count()) : std::nullopt;
}

std::optional<std::int64_t> number(const std::optional<int>& value) {
  return value ? std::optional<std::int64_t>(*value) : std::nullopt;
}

using Plans = std::vector<OverlapPlan>;

Plans measured_plans(const Profile& profile) {
  Plans plans;
  for (const StoredChoice& choice : profile.choices()) {
    if (choice.key.surroundings.provenance == Provenance::measured) plans.push_back(choice.plan);
  }
  return plans;
}

/// The value that every plan has; where they differ, says so in `left`. A plan without the control is a value of its own.
template <class Member>
std::optional<std::int64_t> agreed(const Plans& plans, std::string_view name, Member member, std::vector<std::string>& left) {
  std::set<std::optional<std::int64_t>> values;
  for (const OverlapPlan& plan : plans) values.insert(number(plan.*member));
  if (values.size() == 1) return *values.begin();
  if (values.empty()) return std::nullopt;
  std::vector<std::string> texts;
  texts.reserve(values.size());
  for (const std::optional<std::int64_t>& value : values) texts.push_back(value ? std::to_string(*value) : "none");
  left.push_back(fmt::format("{} ({})", name, fmt::join(texts, ", ")));
  return std::nullopt;
}

/// What a plan presumes of its collectives that a program's own do not have; empty: nothing.
std::string_view presumes(const OverlapPlan& plan) {
  if (plan.symmetric) return "on symmetric memory";
  if (plan.copy_engine) return "beside copy engines";
  return plan.windows_only ? "in windows only" : "";
}

/// The same for what a process sets once for all its collectives: a plan that means only some, or others than it has, has no such
/// value.
template <class Member>
std::optional<std::int64_t> agreed_everywhere(const Plans& plans, std::string_view name, Member member,
                                              std::vector<std::string>& left) {
  const std::optional<std::int64_t> value = agreed(plans, name, member, left);
  const auto other = std::ranges::find_if(plans, [](const OverlapPlan& plan) { return !presumes(plan).empty(); });
  if (!value || other == plans.end()) return value;
  left.push_back(fmt::format("{} ({} {})", name, *value, presumes(*other)));
  return std::nullopt;
}

bool has(const RunControls& controls, const std::string& variable) {
  return std::ranges::find(controls.comm_library, variable, &std::pair<std::string, std::string>::first) !=
         controls.comm_library.end();
}

}  // namespace

Result<ProfileControls> controls_of(const Profile& profile) {
  const Plans plans = measured_plans(profile);
  ProfileControls found;
  const std::pair<std::string_view, std::optional<std::int64_t>> settings[] = {
      {"comm_blocks", agreed_everywhere(plans, "comm_blocks", &OverlapPlan::comm_blocks, found.left)},
      {"cluster", agreed_everywhere(plans, "cluster", &OverlapPlan::cluster, found.left)},
      {"comm_threads", agreed(plans, "comm_threads", &OverlapPlan::comm_threads, found.left)}};
  for (const auto& [name, value] : settings) {
    if (!value) continue;
    Result<std::vector<std::pair<std::string, std::string>>> variables = parse_setting(fmt::format("{}={}", name, *value));
    if (!variables) return variables.error();
    found.controls.comm_library.insert(found.controls.comm_library.end(), variables->begin(), variables->end());
  }
  if (const auto sms = agreed(plans, "sm_target", &OverlapPlan::sm_target, found.left)) found.controls.sm_target = Sms(*sms);
  if (const auto blocks = agreed(plans, "blocks_per_sm", &OverlapPlan::blocks_per_sm, found.left)) {
    found.controls.caps.push_back({"*", BlocksPerSm(*blocks)});
  }
  for (const auto& [control, member] :
       {std::pair{"symmetric", &OverlapPlan::symmetric}, {"copy_engine", &OverlapPlan::copy_engine}}) {
    if (std::ranges::any_of(plans, member))
      found.left.push_back(fmt::format("{} (a program's own collectives cannot have it)", control));
  }
  return found;
}

RunControls completed(RunControls asked, const RunControls& offered) {
  if (asked.caps.empty()) asked.caps = offered.caps;
  if (!asked.sm_target) asked.sm_target = offered.sm_target;
  for (const auto& [variable, value] : offered.comm_library) {
    if (!has(asked, variable)) asked.comm_library.emplace_back(variable, value);
  }
  return asked;
}

}  // namespace headroom
