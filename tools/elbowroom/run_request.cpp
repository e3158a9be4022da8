#include "run_request.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "console.hpp"
#include "elbowroom/report/run_report.hpp"
#include "elbowroom/tune/profile_file.hpp"
#include "output.hpp"
#include "profile_option.hpp"
#include "run_bits.hpp"
#include "run_durations.hpp"
#include "run_profile.hpp"
#include "run_python.hpp"

namespace elbowroom {
namespace {

namespace fs = std::filesystem;

Result<run::Policy> asked_policy(const std::string& word) {
  if (const std::optional<run::Policy> policy = run::parse_policy(word)) return *policy;
  return invalid_input(fmt::format("--policy: '{}', expected one of {}", word, fmt::join(run::kPolicyWords, ", ")));
}

/// A control that the policy never applies would be ignored without a word.
Status check_for_policy(run::Policy policy, const RunControls& controls) {
  const bool shapes = policy == run::Policy::shape;
  if (shapes && controls.caps.empty() && controls.footprint_caps.empty()) {
    return invalid_input("--policy: shape needs a --cap [NAME=]N or a profile with a choice that caps a kernel");
  }
  if (!shapes && !controls.caps.empty())
    return invalid_input(fmt::format("--cap: not applied by {}, expected --policy shape", text(policy)));
  if (controls.sm_target && (policy == run::Policy::observe || policy == run::Policy::priority)) {
    return invalid_input(fmt::format("--sm-target: not applied by {}, expected --policy auto, gate or shape", text(policy)));
  }
  return {};
}

Result<RunControls> asked_controls(const RunArguments& arguments) {
  RunControls controls;
  if (Status named = check_communication(arguments.communication); !named) return named.error();
  controls.communication = arguments.communication;
  Result<std::vector<KernelCap>> caps = parse_caps(arguments.caps);
  if (!caps) return caps.error();
  controls.caps = *std::move(caps);
  for (const std::string& text : arguments.settings) {
    if (Status added = add_setting(text, controls); !added) return added.error();
  }
  if (Status possible = check_settings(controls); !possible) return possible.error();
  for (const std::string& text : arguments.off) {
    Result<std::string> part = parse_off(text);
    if (!part) return part.error();
    controls.off.push_back(*std::move(part));
  }
  if (arguments.sm_target) controls.sm_target = Sms(*arguments.sm_target);
  return controls;
}

/// A profile that the environment names is a default: where it cannot be read the run goes on. One that is to learn may be made by
/// that.
Result<Profile> asked_profile(const RunArguments& arguments) {
  const std::optional<std::string> path = profile_path(arguments.profile_file);
  if (!path) {
    return arguments.learn ? Result<Profile>(invalid_input("--learn: no profile, expected --profile or ELBOWROOM_PROFILE"))
                           : Profile();
  }
  if (const Status storable = arguments.learn ? can_store_in(*path) : Status(); !storable) {
    return invalid_input(fmt::format("--learn: {}", storable.error().message));
  }
  std::error_code unknown;
  if (arguments.profile_file.empty()) return load_profile_or_none(*path, [](std::string_view line) { print_notice(kRun, line); });
  if (!arguments.learn && !fs::exists(*path, unknown)) {
    return invalid_input(fmt::format("--profile: '{}', expected a file that exists", *path));
  }
  return load_profile(*path);
}

bool is_off(const RunArguments& arguments, std::string_view part) {
  return std::ranges::find(arguments.off, part) != arguments.off.end();
}

/// What the profile offers to the policy.
Result<RunControls> offered_controls(const RunArguments& arguments, run::Policy policy, const Profile& profile) {
  if (policy == run::Policy::observe) return RunControls();
  Result<ProfileControls> found = controls_of(profile, own_surroundings());
  if (!found) return found.error();
  if (!found->left.empty()) {
    print_notice(
        kRun, fmt::format("{}: not applied: {}", profile_path(arguments.profile_file).value_or(""), fmt::join(found->left, "; ")));
  }
  const bool shapes = policy == run::Policy::shape || policy == run::Policy::automatic;
  if (!shapes || is_off(arguments, "shape")) found->controls.footprint_caps.clear();
  if (policy == run::Policy::priority || is_off(arguments, "sm_target")) found->controls.product_targets.clear();
  return std::move(found->controls);
}

/// `offered` without what may change the bits of a result, where somebody asks for the same.
RunControls with_same_bits(const std::optional<std::string>& asked_by, RunControls offered) {
  if (!asked_by) return offered;
  const std::optional<std::string> left = leave_other_bits(offered);
  if (left) print_notice(kRun, fmt::format("{}: not applied, for the same results to the bit: {}", *asked_by, *left));
  return offered;
}

/// The file of what `auto` chose: other policies choose nothing, and `--off ab` compares nothing.
std::optional<std::string> asked_memory(const RunArguments& arguments, run::Policy policy) {
  const bool chooses = policy == run::Policy::automatic && !is_off(arguments, "ab");
  return chooses && !arguments.no_memory ? choices_file() : std::nullopt;
}

std::string remembered_choices(const std::optional<std::string>& memory, const ChoiceSurroundings& surroundings) {
  if (!memory) return "";
  return choices_text(detail::load_choices_or_none(*memory, [](std::string_view line) { print_notice(kRun, line); }), surroundings);
}

/// Nobody asked for the backend that refuses: a program for CUDA may be started where its driver is not.
Error with_other_backend(const RunArguments& arguments, Error refused) {
  if (arguments.backend != "auto") return refused;
  refused.message += " (hip, because CUDA's driver cannot be loaded here; --backend cuda runs the command all the same)";
  return refused;
}

}  // namespace

Result<RunRequest> run_request(const RunArguments& arguments, const std::optional<std::vector<std::string>>& command) {
  if (!command || command->empty()) return invalid_input("expected -- and a command after the options");
  const Result<run::Policy> policy = asked_policy(arguments.policy);
  if (!policy) return policy.error();
  const std::string profile_file = profile_path(arguments.profile_file).value_or("");
  const std::array files{NamedFile("--profile", profile_file), NamedFile("--report", arguments.report_file)};
  if (Status distinct = check_distinct(files); !distinct) return distinct.error();
  const std::array outputs{OutputFile{files.back(), kRunSchema}};
  if (Status writable = check_outputs(outputs); !writable) return writable.error();
  const Result<RunBackend> backend = choose_run_backend(arguments.backend);
  if (!backend) return backend.error();
  Result<RunControls> asked = asked_controls(arguments);
  if (!asked) return asked.error();
  if (Status valid = check_run_backend(*backend, *policy, *asked); !valid) { return with_other_backend(arguments, valid.error()); }
  if (Status possible = arguments.same_bits ? check_same_bits(*asked) : Status(); !possible) return possible.error();
  const auto same_bits = *policy == run::Policy::observe ? std::nullopt : same_bits_asked_by(arguments.same_bits);
  const Result<Profile> profile = asked_profile(arguments);
  if (!profile) return profile.error();
  Result<RunControls> offered = offered_controls(arguments, *policy, *profile);
  if (!offered) return offered.error();
  const bool leaves_memory = *policy == run::Policy::observe || *backend == RunBackend::hip || is_off(arguments, "symmetric");
  const RunControls possible_offer = with_same_bits(same_bits, possible_controls(*backend, *std::move(offered)));
  RunControls controls = completed(*std::move(asked), possible_offer);
  if (Status valid = check_for_policy(*policy, controls); !valid) return valid.error();
  const bool left_out = leaves_memory || same_bits;
  if (arguments.gradient_views && left_out) {
    return invalid_input(
        "--gradient-views: symmetric memory is left out here; expected no --policy observe, --same-bits or --off symmetric");
  }
  const std::optional<std::string> hook = left_out ? std::nullopt : find_python_hook();
  if (arguments.gradient_views && !hook) {
    return invalid_input("--gradient-views: the Python part is not installed beside this program; expected share/elbowroom/python");
  }
  Result<run::Rules> rules = run_rules(controls);
  if (!rules) return rules.error();
  // The hook gives gathers the buffers that copy engines need. Nothing else of a communicator changes by it.
  rules->symmetric_copies = hook.has_value();
  const std::optional<std::string> memory = asked_memory(arguments, *policy);
  BudgetQuestions budgets = budget_questions(*policy, *backend, controls, same_bits);
  ChoiceSurroundings here = choice_surroundings(*backend, *rules, controls, budgets);
  return RunRequest{.command = *command,
                    .controls = std::move(controls),
                    .rules = rules_text(*rules),
                    .policy = *policy,
                    .backend = *backend,
                    .durations = durations_text(*profile),
                    .choices = remembered_choices(memory, here),
                    .memory = memory,
                    .surroundings = std::move(here),
                    .budgets = std::move(budgets),
                    .same_bits = same_bits,
                    .learn_into = arguments.learn ? profile_path(arguments.profile_file) : std::nullopt,
                    .report_file = arguments.report_file,
                    .verbose = arguments.verbose,
                    .quiet = arguments.quiet,
                    .hook = hook,
                    .gradient_views = arguments.gradient_views,
                    .energy = arguments.energy};
}

}  // namespace elbowroom
