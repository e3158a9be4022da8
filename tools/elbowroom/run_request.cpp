#include "run_request.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/driver_version.hpp"
#include "command_recording.hpp"
#include "console.hpp"
#include "elbowroom/report/run_report.hpp"
#include "elbowroom/tune/profile.hpp"
#include "elbowroom/tune/profile_file.hpp"
#include "output.hpp"
#include "preload/choices.hpp"
#include "preload/offer.hpp"
#include "profile_option.hpp"
#include "rank_session.hpp"
#include "run_backend.hpp"
#include "run_python.hpp"
#include "run_xla.hpp"
#include "tune/choice_memory.hpp"

namespace elbowroom {
namespace {

namespace fs = std::filesystem;

void say_notice(std::string_view line) { print_notice(kRun, line); }

Result<run::Policy> asked_policy(const std::string& word) {
  if (const std::optional<run::Policy> policy = run::parse_policy(word)) { return *policy; }
  return invalid_input(fmt::format("--policy: '{}', expected one of {}", word, fmt::join(run::kPolicyWords, ", ")));
}

Status check_files(const RunArguments& arguments) {
  const std::optional<std::string> profile_file = profile_path(arguments.profile_file);
  const NamedFile report("--report", arguments.report_file);
  const std::array files{NamedFile("--profile", profile_file), NamedFile("--record", arguments.record_file), report};
  if (Status distinct = check_distinct(files); !distinct) { return distinct; }
  if (arguments.record_file && is_one_of_ranks()) {
    return invalid_input(
        "--record: started as one of several ranks, expected the launcher behind --: elbowroom run -- torchrun ...");
  }
  if (arguments.record_file) {
    if (Status free = check_recording_file(*arguments.record_file); !free) { return free; }
  }
  return check_outputs(std::array{OutputFile{report, kRunSchema}});
}

/// What is asked, as far as it can be told without a profile.
Result<preload::Asked> asked_of(const RunArguments& arguments, run::Policy policy) {
  const Result<preload::RunBackend> backend = choose_run_backend(arguments.backend);
  if (!backend) { return backend.error(); }
  Result<preload::Controls> controls = preload::read_controls(arguments.controls);
  if (!controls) { return controls.error(); }
  preload::Asked asked{.policy = policy,
                       .backend = *backend,
                       .names_backend = arguments.backend != "auto",
                       .controls = *std::move(controls),
                       .same_bits = arguments.same_bits,
                       .gradient_views = arguments.gradient_views,
                       .memory = !arguments.no_memory};
  if (Status possible = check(asked); !possible) { return possible.error(); }
  return asked;
}

/// A profile that the environment names is a default: where it cannot be read the run goes on.
Result<Profile> asked_profile(const RunArguments& arguments) {
  const std::optional<std::string> path = profile_path(arguments.profile_file);
  if (!path) { return Profile(); }
  std::error_code unknown;
  if (!arguments.profile_file) { return load_profile_or_none(*path, say_notice); }
  if (!fs::exists(*path, unknown)) { return invalid_input(fmt::format("--profile: '{}', expected a file that exists", *path)); }
  return load_profile(*path);
}

preload::Here here_for(preload::RunBackend backend) {
  const bool hip = backend == preload::RunBackend::hip;
  std::string driver = detail::version_in(hip ? detail::kAmdDriver : detail::kNvidiaDriver);
  return {own_environment(), driver.empty() ? std::nullopt : std::optional(std::move(driver)), find_python_hook()};
}

std::string remembered_choices(const preload::Given& given) {
  if (!given.memory) { return ""; }
  return preload::choices_text(detail::load_choices_or_none(*given.memory, say_notice), given.surroundings);
}

}  // namespace

preload::Variables own_environment() {
  preload::Variables variables;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::size_t equals = text.find('=');
    if (equals != std::string_view::npos) { variables.emplace_back(text.substr(0, equals), text.substr(equals + 1)); }
  }
  return variables;
}

Result<RunRequest> run_request(const RunArguments& arguments, const std::optional<std::vector<std::string>>& command) {
  if (!command || command->empty()) { return invalid_input("expected -- and a command after the options"); }
  const Result<run::Policy> policy = asked_policy(arguments.policy);
  if (!policy) { return policy.error(); }
  if (Status files = check_files(arguments); !files) { return files.error(); }
  Result<preload::Asked> asked = asked_of(arguments, *policy);
  if (!asked) { return asked.error(); }
  Result<Profile> profile = asked_profile(arguments);
  if (!profile) { return profile.error(); }
  const std::optional<std::string> profile_file = profile_path(arguments.profile_file);
  const preload::Offer offer{*std::move(profile), profile_file};
  preload::Here here = here_for(asked->backend);
  Result<preload::Variables> xla = xla_environment(*command, here.environment, asked->controls);
  if (!xla) { return xla.error(); }
  Result<preload::Given> given = give(*asked, offer, here, say_notice);
  if (!given) { return given.error(); }
  return RunRequest{.command = *command,
                    .policy = asked->policy,
                    .backend = asked->backend,
                    .environment = std::move(here.environment),
                    .given = *given,
                    .xla = *std::move(xla),
                    .rules = rules_text(given->rules),
                    .choices = remembered_choices(*given),
                    .report_file = arguments.report_file,
                    .record_file = arguments.record_file,
                    .verbose = arguments.verbose,
                    .quiet = arguments.quiet,
                    .gradient_views = arguments.gradient_views,
                    .energy = arguments.energy,
                    .speaks = speaks_for_all()};
}

}  // namespace elbowroom
