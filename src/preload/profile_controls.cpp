#include "preload/profile_controls.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <functional>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>

#include "elbowroom/model/comm_environment.hpp"
#include "elbowroom/model/device_catalog.hpp"
#include "elbowroom/plan/controls.hpp"
#include "elbowroom/tune/profile.hpp"
#include "plan/control_name.hpp"
#include "preload/rules.hpp"
#include "run/limits.hpp"

namespace elbowroom::preload {
namespace {

/// A control's value in a plan; absent: off.
using Get = std::function<std::optional<std::int64_t>(const OverlapPlan&)>;

template <class Unit>
Get count_of(std::optional<Quantity<Unit>> ComputeSettings::* member) {
  return [member](const OverlapPlan& plan) {
    return plan.*member ? std::optional<std::int64_t>((plan.*member)->count()) : std::nullopt;
  };
}

using Plans = std::vector<OverlapPlan>;
using Choices = std::vector<StoredChoice>;

/// What a run sets itself, whatever it was when a choice was measured.
bool set_by_run(std::string_view variable) {
  return orders_sums(variable) || comm_variable_fixes(variable, CommVariable::Fixes::cluster);
}

using Settings = std::set<std::string>;

/// Those that no run sets, each with its value as one word.
Settings left_alone(const Variables& settings) {
  Settings left;
  for (const auto& [variable, value] : settings) {
    if (!set_by_run(variable)) { left.insert(fmt::format("{}={}", variable, value)); }
  }
  return left;
}

/// Why a choice is none for a program with these settings; absent: it is one.
std::optional<std::string> unfit(const StoredChoice& choice, const Settings& here) {
  const Surroundings& there = choice.key.surroundings;
  if (there.provenance != Provenance::measured) { return "made by the simulator"; }
  if (std::holds_alternative<StepKey>(choice.key.what)) { return "for a whole step, of which a program's kernels know nothing"; }
  if (choice.plan.symmetric) {
    return "on symmetric memory, which a program gives its collectives itself; tune --for-run goes without";
  }
  if (choice.plan.copy_engine) { return "with copy engines, which a program's own collectives lack; tune --for-run goes without"; }
  if (!find_device(there.device)) { return fmt::format("on {}, which tells no device by its name", there.device); }
  const Settings settings = there.comm_library ? left_alone(there.comm_library->settings) : Settings();
  if (settings == here) { return std::nullopt; }
  return fmt::format("made {}, unlike this environment",
                     settings.empty() ? "without settings of the library" : fmt::format("with {}", fmt::join(settings, " ")));
}

/// The measured choices that can be for a program; says of the others why they are none.
Choices usable_choices(const Profile& profile, const Settings& here, std::vector<std::string>& left) {
  Choices usable;
  std::map<std::string, int> others;
  for (const StoredChoice& choice : profile.choices()) {
    if (const std::optional<std::string> reason = unfit(choice, here)) {
      ++others[*reason];
    } else {
      usable.push_back(choice);
    }
  }
  for (const auto& [reason, count] : others) {
    left.push_back(fmt::format("{} choice{} {}", count, count == 1 ? "" : "s", reason));
  }
  return usable;
}

/// The value that every plan has; where they differ, says so in `left`. A plan without the control is a value of its own.
std::optional<std::int64_t> agreed(const Plans& plans, std::string_view name, const Get& get, std::vector<std::string>& left) {
  std::set<std::optional<std::int64_t>> values;
  for (const OverlapPlan& plan : plans) { values.insert(get(plan)); }
  if (values.size() == 1) { return *values.begin(); }
  if (values.empty()) { return std::nullopt; }
  std::vector<std::string> texts;
  texts.reserve(values.size());
  for (const std::optional<std::int64_t>& value : values) { texts.push_back(value ? std::to_string(*value) : "none"); }
  left.push_back(fmt::format("{} ({})", name, fmt::join(texts, ", ")));
  return std::nullopt;
}

/// The plans of the choices on a device for which `what` is the same; choices without are left out.
template <class What>
auto plans_by(const Choices& choices, What what) {
  using Same = typename std::invoke_result_t<What, const ProfileKey&>::value_type;
  std::vector<std::pair<std::pair<std::string, Same>, Plans>> groups;
  for (const StoredChoice& choice : choices) {
    const std::optional<Same> same = what(choice.key);
    if (!same) { continue; }
    const std::pair<std::string, Same> group{choice.key.surroundings.device, *same};
    auto found = std::ranges::find(groups, group, &std::pair<std::pair<std::string, Same>, Plans>::first);
    if (found == groups.end()) { found = groups.insert(groups.end(), {group, {}}); }
    found->second.push_back(choice.plan);
  }
  return groups;
}

template <class Rule>
void keep_what_fits(std::vector<Rule>& rules, std::size_t most, std::string_view name, std::vector<std::string>& left) {
  if (rules.size() <= most) { return; }
  left.push_back(
      fmt::format("{} of the last {} of {} kernels, expected at most {}", name, rules.size() - most, rules.size(), most));
  rules.resize(most);
}

void add_caps(const Choices& choices, ProfileControls& found) {
  for (const auto& [kernel, plans] : plans_by(choices, footprint_of)) {
    const auto& [device, block] = kernel;
    const auto blocks =
        agreed(plans, fmt::format("{} of {}", residency_control().name, block_text(block)), residency_control().get, found.left);
    if (blocks) { found.controls.footprint_caps.push_back({device, block, BlocksPerSm(*blocks)}); }
  }
  keep_what_fits(found.controls.footprint_caps, run::kMostFootprints, residency_control().name, found.left);
}

void add_targets(const Choices& choices, ProfileControls& found) {
  const std::string_view target = detail::name_of<&OverlapPlan::sm_target>();
  for (const auto& [kind, plans] : plans_by(choices, product_of)) {
    const auto& [device, product] = kind;
    const auto sms =
        agreed(plans, fmt::format("{} of {}", target, products_text(product)), count_of(&ComputeSettings::sm_target), found.left);
    if (sms) { found.controls.product_targets.push_back({device, product, Sms(*sms)}); }
  }
  keep_what_fits(found.controls.product_targets, run::kMostProducts, target, found.left);
}

/// The same for what a process sets once for all its collectives: a plan that means only some has no such value.
std::optional<std::int64_t> agreed_everywhere(const Plans& plans, const Control& control, std::vector<std::string>& left) {
  const std::optional<std::int64_t> value = agreed(plans, control.name, control.get, left);
  if (!value || control.acts_on == ActsOn::process || std::ranges::none_of(plans, &OverlapPlan::windows_only)) { return value; }
  left.push_back(fmt::format("{} ({} in windows only)", control.name, *value));
  return std::nullopt;
}

}  // namespace

Result<ProfileControls> controls_of(const Profile& profile, const Variables& environment) {
  ProfileControls found;
  const Choices choices = usable_choices(profile, left_alone(comm_settings(environment)), found.left);
  Plans plans;
  std::ranges::transform(choices, std::back_inserter(plans), &StoredChoice::plan);
  for (const Control& control : controls()) {
    if (!control.of_run || control.of_process == nullptr) { continue; }
    const std::optional<std::int64_t> value = agreed_everywhere(plans, control, found.left);
    if (!value) { continue; }
    if (Status added = add_setting(fmt::format("{}={}", control.name, *value), found.controls); !added) { return added.error(); }
  }
  add_targets(choices, found);
  add_caps(choices, found);
  return found;
}

Controls completed(Controls asked, const Controls& offered) {
  asked.footprint_caps = offered.footprint_caps;
  if (!asked.sm_target) { asked.product_targets = offered.product_targets; }
  for (const auto& [variable, value] : offered.comm_library) {
    if (!value_of(asked.comm_library, variable)) { asked.comm_library.emplace_back(variable, value); }
  }
  return asked;
}

}  // namespace elbowroom::preload
