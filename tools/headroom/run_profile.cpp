#include "run_profile.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <set>
#include <string_view>
#include <type_traits>
#include <utility>

#include "headroom/model/device_catalog.hpp"

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
using Choices = std::vector<StoredChoice>;

// What the interposer holds of each.
constexpr std::size_t kMostRules = 32;

Choices measured_choices(const Profile& profile) {
  Choices choices;
  std::ranges::copy_if(profile.choices(), std::back_inserter(choices),
                       [](const StoredChoice& choice) { return choice.key.surroundings.provenance == Provenance::measured; });
  return choices;
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

/// The name by which the interposer knows devices like the one of the choice; empty for one that is in no catalog.
std::string device_of(const StoredChoice& choice) {
  const std::string& device = choice.key.surroundings.device;
  return find_device(device) ? device : "";
}

/// The plans of the choices for which `what` is the same, in the order of what it gives; choices without are left out.
template <class What>
auto plans_by(const Choices& choices, What what) {
  using Same = typename std::invoke_result_t<What, const ProfileKey&>::value_type;
  std::vector<std::pair<std::pair<std::string, Same>, Plans>> groups;
  for (const StoredChoice& choice : choices) {
    const std::optional<Same> same = what(choice.key);
    if (!same) continue;
    const std::pair<std::string, Same> group{device_of(choice), *same};
    auto found = std::ranges::find(groups, group, &std::pair<std::pair<std::string, Same>, Plans>::first);
    if (found == groups.end()) found = groups.insert(groups.end(), {group, {}});
    found->second.push_back(choice.plan);
  }
  return groups;
}

template <class Rule>
void keep_what_fits(std::vector<Rule>& rules, std::string_view name, std::vector<std::string>& left) {
  if (rules.size() <= kMostRules) return;
  left.push_back(fmt::format("{} (of {} kernels, expected at most {})", name, rules.size(), kMostRules));
  rules.erase(rules.begin() + kMostRules, rules.end());
}

void add_caps(const Choices& choices, ProfileControls& found) {
  for (const auto& [kernel, plans] : plans_by(choices, footprint_of)) {
    const auto& [device, block] = kernel;
    const std::string name = fmt::format("blocks_per_sm of {}x{} {}+{}", block.threads.count(), block.registers_per_thread.count(),
                                         block.static_shared.count(), block.dynamic_shared.count());
    const auto blocks = agreed(plans, name, &OverlapPlan::blocks_per_sm, found.left);
    if (blocks) found.controls.footprint_caps.push_back({device, block, BlocksPerSm(*blocks)});
  }
  keep_what_fits(found.controls.footprint_caps, "blocks_per_sm", found.left);
}

void add_targets(const Choices& choices, ProfileControls& found) {
  for (const auto& [kind, plans] : plans_by(choices, product_of)) {
    const auto& [device, product] = kind;
    const std::string name = fmt::format("sm_target of {} products of 2^{} flop", to_string(product.dtype), product.flop_exponent);
    const auto sms = agreed(plans, name, &OverlapPlan::sm_target, found.left);
    if (sms) found.controls.product_targets.push_back({device, product, Sms(*sms)});
  }
  keep_what_fits(found.controls.product_targets, "sm_target", found.left);
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
  const Choices choices = measured_choices(profile);
  Plans plans;
  std::ranges::transform(choices, std::back_inserter(plans), &StoredChoice::plan);
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
  add_targets(choices, found);
  add_caps(choices, found);
  for (const auto& [control, member] :
       {std::pair{"symmetric", &OverlapPlan::symmetric}, {"copy_engine", &OverlapPlan::copy_engine}}) {
    if (std::ranges::any_of(plans, member))
      found.left.push_back(fmt::format("{} (a program's own collectives cannot have it)", control));
  }
  return found;
}

RunControls completed(RunControls asked, const RunControls& offered) {
  asked.footprint_caps = offered.footprint_caps;
  if (!asked.sm_target) asked.product_targets = offered.product_targets;
  for (const auto& [variable, value] : offered.comm_library) {
    if (!has(asked, variable)) asked.comm_library.emplace_back(variable, value);
  }
  return asked;
}

}  // namespace headroom
