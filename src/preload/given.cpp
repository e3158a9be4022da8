#include "preload/given.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "preload/offer.hpp"
#include "preload/profile_controls.hpp"
#include "preload/program_environment.hpp"
#include "preload/rules.hpp"
#include "preload/same_bits.hpp"

namespace elbowroom::preload {
namespace {

/// A control that the policy never applies would be ignored without a word.
Status check_for_policy(run::Policy policy, const Controls& controls) {
  const bool shapes = policy == run::Policy::shape;
  if (shapes && controls.caps.empty() && controls.footprint_caps.empty()) {
    return invalid_input("--policy: shape needs a --cap [NAME=]N or a profile with a choice that caps a kernel");
  }
  if (!shapes && !controls.caps.empty()) {
    return invalid_input(fmt::format("--cap: not applied by {}, expected --policy shape", text(policy)));
  }
  if (controls.sm_target && (policy == run::Policy::observe || policy == run::Policy::priority)) {
    return invalid_input(fmt::format("--sm-target: not applied by {}, expected --policy auto, gate or shape", text(policy)));
  }
  return {};
}

/// What of the offer the policy applies.
Result<Controls> for_policy(const Asked& asked, const Offer& offer, const Variables& environment, const NoticeSink& notice) {
  if (asked.policy == run::Policy::observe) { return Controls(); }
  Result<ProfileControls> found = controls_of(offer.profile, environment);
  if (!found) { return found.error(); }
  if (!found->left.empty()) {
    notice(fmt::format("{}: not applied: {}", offer.file.value_or("profile"), fmt::join(found->left, "; ")));
  }
  const bool shapes = asked.policy == run::Policy::shape || asked.policy == run::Policy::automatic;
  if (!shapes || asked.controls.leaves_out("shape")) { found->controls.footprint_caps.clear(); }
  if (asked.policy == run::Policy::priority || asked.controls.leaves_out("sm_target")) { found->controls.product_targets.clear(); }
  return std::move(found->controls);
}

/// `offered` without what may change the bits of a result, where somebody asks for the same.
Controls with_same_bits(const std::optional<std::string>& asked_by, Controls offered, const NoticeSink& notice) {
  if (!asked_by) { return offered; }
  const std::optional<std::string> left = leave_other_bits(offered);
  if (left) { notice(fmt::format("{}: not applied, for the same results to the bit: {}", *asked_by, *left)); }
  return offered;
}

/// The folder that puts a Python program's buffers on symmetric memory; absent where these are left as they are.
Result<std::optional<std::string>> hook_for(const Asked& asked, bool same_bits, const Here& here) {
  const bool left_out = asked.policy == run::Policy::observe || asked.backend == RunBackend::hip ||
                        asked.controls.leaves_out("symmetric") || same_bits;
  if (asked.gradient_views && left_out) {
    return invalid_input(
        "--gradient-views: symmetric memory is left out here; expected no --policy observe, --same-bits or --off symmetric");
  }
  if (asked.gradient_views && !here.hook) {
    return invalid_input("--gradient-views: the Python part is not installed beside this program; expected share/elbowroom/python");
  }
  return left_out ? std::nullopt : here.hook;
}

/// The file of what `auto` chose: other policies choose nothing, and `--off ab` compares nothing.
std::optional<std::string> memory_of(const Asked& asked, const Variables& environment) {
  const bool chooses = asked.policy == run::Policy::automatic && !asked.controls.leaves_out("ab");
  return chooses && asked.memory ? choices_file(environment) : std::nullopt;
}

/// Nobody asked for the backend that refuses: a program for CUDA may be started where its driver is not.
Error with_other_backend(const Asked& asked, Error refused) {
  if (asked.names_backend) { return refused; }
  refused.message += " (hip, because CUDA's driver cannot be loaded here; --backend cuda runs the command all the same)";
  return refused;
}

}  // namespace

Status check(const Asked& asked) {
  const Status valid = check_run_backend(asked.backend, asked.policy, asked.controls);
  if (!valid) { return with_other_backend(asked, valid.error()); }
  return asked.same_bits ? check_same_bits(asked.controls) : Status();
}

Result<Given> give(const Asked& asked, const Offer& offer, const Here& here, const NoticeSink& notice) {
  const bool observes = asked.policy == run::Policy::observe;
  std::optional<std::string> same_bits = observes ? std::nullopt : same_bits_asked_by(asked.same_bits, here.environment);
  Result<Controls> offered = for_policy(asked, offer, here.environment, notice);
  if (!offered) { return offered.error(); }
  Controls controls =
      completed(asked.controls, with_same_bits(same_bits, possible_controls(asked.backend, *std::move(offered)), notice));
  if (Status valid = check_for_policy(asked.policy, controls); !valid) { return valid.error(); }
  Result<std::optional<std::string>> hook = hook_for(asked, same_bits.has_value(), here);
  if (!hook) { return hook.error(); }
  Result<run::Rules> rules = rules_of(controls);
  if (!rules) { return rules.error(); }
  Controls with_hook = controls;
  if (*hook) { std::ranges::move(copy_engines(controls, here.environment), std::back_inserter(with_hook.comm_library)); }
  ChoiceSurroundings surroundings = choice_surroundings(here.driver, *rules, with_hook, here.environment);
  return Given{.controls = std::move(controls),
               .rules = *rules,
               .same_bits = std::move(same_bits),
               .hook = *std::move(hook),
               .surroundings = std::move(surroundings),
               .memory = memory_of(asked, here.environment)};
}

}  // namespace elbowroom::preload
