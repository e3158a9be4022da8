#include "run_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <string_view>
#include <utility>

#include "child_process.hpp"
#include "elbowroom/report/run_report.hpp"
#include "elbowroom/tune/profile_file.hpp"
#include "exit_code.hpp"
#include "output.hpp"
#include "run/environment.hpp"
#include "run/process_report.hpp"
#include "run_backend.hpp"
#include "run_controls.hpp"
#include "run_durations.hpp"
#include "run_preload.hpp"
#include "run_profile.hpp"
#include "run_python.hpp"
#include "run_tuner.hpp"
#include "tuned_plans.hpp"

namespace elbowroom {
namespace {

namespace fs = std::filesystem;

struct RunArguments {
  std::string policy = "auto";
  std::string backend = "auto";
  std::string profile_file;
  bool learn = false;
  std::string report_file;
  bool verbose = false;
  std::vector<std::string> settings;
  std::vector<std::string> caps;
  std::vector<std::string> off;
  std::optional<int> sm_target;
};

struct RunRequest {
  std::vector<std::string> command;
  RunControls controls;
  std::string rules;  ///< the same as the interposer reads it
  run::Policy policy = run::Policy::automatic;
  RunBackend backend = RunBackend::cuda;
  std::string durations;    ///< what earlier runs learned, as the interposer reads it
  std::string learn_into;   ///< the profile that takes what this one learns; empty: none
  std::string report_file;  ///< empty: none
  bool verbose = false;
  std::optional<std::string> hook;  ///< the folder for Python programs; none: they are left as they are

  [[nodiscard]] bool wants_report() const { return verbose || !report_file.empty() || !learn_into.empty(); }
};

/// A folder of this process alone, removed with what is in it.
class TemporaryFolder {
 public:
  static Result<TemporaryFolder> make() {
    std::error_code unknown;
    const fs::path root = fs::temp_directory_path(unknown);
    std::string name = ((unknown ? fs::path("/tmp") : root) / "elbowroom-run-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) return failed(fmt::format("{}: cannot be made: {}", name, std::strerror(errno)));
    return TemporaryFolder(std::move(name));
  }
  TemporaryFolder(TemporaryFolder&& other) noexcept : path_(std::exchange(other.path_, {})) {}
  TemporaryFolder& operator=(TemporaryFolder&&) = delete;
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }

  [[nodiscard]] const fs::path& path() const { return path_; }

 private:
  explicit TemporaryFolder(std::string path) : path_(std::move(path)) {}
  fs::path path_;
};

/// Said before hours of work, not after them.
bool can_be_written(const std::string& path) {
  std::error_code unknown;
  const fs::path folder = fs::path(path).has_parent_path() ? fs::path(path).parent_path() : fs::path(".");
  return fs::is_directory(folder, unknown) && !fs::is_directory(path, unknown);
}

Status check_report_file(const std::string& path) {
  if (path.empty() || path == "-" || can_be_written(path)) return {};
  return invalid_input(fmt::format("--report: '{}', expected a file in a folder that exists, or -", path));
}

Result<run::Policy> asked_policy(const std::string& word) {
  if (const std::optional<run::Policy> policy = run::parse_policy(word)) return *policy;
  return invalid_input(fmt::format("--policy: '{}', expected one of {}", word, fmt::join(run::kPolicyWords, ", ")));
}

/// A control that the policy never applies would be ignored without a word.
Status check_controls(run::Policy policy, const RunControls& controls) {
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
  if (arguments.sm_target && (*arguments.sm_target < 1 || *arguments.sm_target > static_cast<int>(run::kGreatestSms))) {
    return invalid_input(fmt::format("--sm-target: {}, expected 1 to {} SMs", *arguments.sm_target, run::kGreatestSms));
  }
  if (arguments.sm_target) controls.sm_target = Sms(*arguments.sm_target);
  return controls;
}

void warn(std::string_view line) { fmt::print(stderr, "elbowroom run: {}\n", line); }

/// A profile that the environment names is a default: where it cannot be read the run goes on. One that is to learn may be made by that.
Result<Profile> asked_profile(const RunArguments& arguments) {
  const std::string path = profile_path(arguments.profile_file);
  if (path.empty()) {
    return arguments.learn ? Result<Profile>(invalid_input("--learn: no profile, expected --profile or ELBOWROOM_PROFILE"))
                           : Profile();
  }
  if (const Status storable = arguments.learn ? can_store_in(path) : Status(); !storable) {
    return invalid_input(fmt::format("--learn: {}", storable.error().message));
  }
  std::error_code unknown;
  if (arguments.profile_file.empty()) return load_profile_or_none(path, [&](Severity, std::string_view line) { warn(line); });
  if (!arguments.learn && !fs::exists(path, unknown)) {
    return invalid_input(fmt::format("--profile: '{}', expected a file that exists", path));
  }
  return load_profile(path);
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
    warn(fmt::format("{}: not applied: {}", profile_path(arguments.profile_file), fmt::join(found->left, "; ")));
  }
  const bool shapes = policy == run::Policy::shape || policy == run::Policy::automatic;
  if (!shapes || is_off(arguments, "shape")) found->controls.footprint_caps.clear();
  if (policy == run::Policy::priority || is_off(arguments, "sm_target")) found->controls.product_targets.clear();
  return std::move(found->controls);
}

/// Nobody asked for the backend that refuses: a program for CUDA may be started where its driver is not.
Error with_other_backend(const RunArguments& arguments, Error refused) {
  if (arguments.backend != "auto") return refused;
  refused.message += " (hip, because CUDA's driver cannot be loaded here; --backend cuda runs the command all the same)";
  return refused;
}

Result<RunRequest> request_of(const RunArguments& arguments, const std::optional<std::vector<std::string>>& command) {
  if (!command || command->empty()) return invalid_input("expected -- and a command after the options");
  const Result<run::Policy> policy = asked_policy(arguments.policy);
  if (!policy) return policy.error();
  if (Status valid = check_report_file(arguments.report_file); !valid) return valid.error();
  const std::string profile_file = profile_path(arguments.profile_file);
  const std::array files{NamedFile("--profile", profile_file), NamedFile("--report", arguments.report_file)};
  if (Status distinct = check_distinct(files); !distinct) return distinct.error();
  const Result<RunBackend> backend = choose_run_backend(arguments.backend);
  if (!backend) return backend.error();
  Result<RunControls> asked = asked_controls(arguments);
  if (!asked) return asked.error();
  if (Status valid = check_run_backend(*backend, *policy, *asked); !valid) { return with_other_backend(arguments, valid.error()); }
  const Result<Profile> profile = asked_profile(arguments);
  if (!profile) return profile.error();
  Result<RunControls> offered = offered_controls(arguments, *policy, *profile);
  if (!offered) return offered.error();
  const bool leaves_memory = *policy == run::Policy::observe || *backend == RunBackend::hip || is_off(arguments, "symmetric");
  RunControls controls = completed(*std::move(asked), possible_controls(*backend, *std::move(offered)));
  if (Status valid = check_controls(*policy, controls); !valid) return valid.error();
  const Result<run::Rules> rules = run_rules(controls);
  if (!rules) return rules.error();
  return RunRequest{.command = *command,
                    .controls = std::move(controls),
                    .rules = rules_text(*rules),
                    .policy = *policy,
                    .backend = *backend,
                    .durations = durations_text(*profile),
                    .learn_into = arguments.learn ? profile_path(arguments.profile_file) : "",
                    .report_file = arguments.report_file,
                    .verbose = arguments.verbose,
                    .hook = leaves_memory ? std::nullopt : find_python_hook()};
}

class Run {
 public:
  explicit Run(RunRequest request) : request_(std::move(request)) {}

  Result<int> run() {
    Result<std::string> library = find_library(preloaded_library(request_.backend));
    if (!library) return library.error();
    Result<TemporaryFolder> folder = TemporaryFolder::make();
    if (!folder) return folder.error();
    if (Status written = prepare(*library, folder->path()); !written) return written.error();

    const auto begin = std::chrono::steady_clock::now();
    const Result<ChildEnd> end = run_child(request_.command, changes_, removed_);
    // A reader of the report that has gone must not take the command's exit code with it.
    std::signal(SIGPIPE, SIG_IGN);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    if (!end) return end.error();
    if (!end->problem.empty()) {
      fmt::print(stderr, "elbowroom run: {}\n", end->problem);
      return end->exit_code;
    }
    if (request_.wants_report()) {
      const RunReport collected = collect(folder->path(), end->exit_code, wall);
      report(collected);
      learn(collected);
    }
    return end->exit_code;
  }

 private:
  /// Sets what the interposer reads. What a run around this one set for itself is replaced or taken out.
  Status prepare(const std::string& library, const fs::path& folder) {
    changes_ = request_.controls.comm_library;
    std::ranges::move(backend_environment(request_.backend, request_.policy, request_.controls), std::back_inserter(changes_));
    std::ranges::move(tuner_environment(request_.controls, library, folder.filename().string()), std::back_inserter(changes_));
    changes_.emplace_back("LD_PRELOAD", preload_list(library));
    changes_.emplace_back(run::kPolicyVariable, text(request_.policy));
    if (request_.hook) std::ranges::move(python_environment(*request_.hook, request_.controls), std::back_inserter(changes_));
    removed_ = {run::kReportDirVariable, run::kRulesVariable, run::kDurationsVariable, kPythonVariable, kPythonBlocksVariable};
    if (request_.wants_report()) changes_.emplace_back(run::kReportDirVariable, folder.string());
    if (Status written = hand_over(folder / "durations", run::kDurationsVariable, request_.durations); !written) return written;
    return hand_over(folder / "rules", run::kRulesVariable, request_.rules);
  }

  /// A file for the interposer, named by a variable; neither where there is nothing to say.
  Status hand_over(const fs::path& file, const char* variable, const std::string& text) {
    if (text.empty()) return {};
    changes_.emplace_back(variable, file.string());
    return write_file(file.string(), text);
  }

  [[nodiscard]] RunReport collect(const fs::path& folder, int exit_code, std::chrono::duration<double> wall) const {
    RunReport report{request_.command, text(request_.policy), exit_code, wall, {}, {}, std::string(name(request_.backend))};
    std::vector<fs::path> files;
    std::error_code unknown;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder, unknown)) {
      if (entry.path().extension() == run::kProcessReportSuffix) files.push_back(entry.path());
    }
    std::ranges::sort(files);
    for (const fs::path& file : files) {
      const Result<std::string> text = read_file(file.string());
      Result<ProcessReport> process = text ? parse_process_report(*text, file.filename().string()) : text.error();
      if (process) {
        if (request_.hook) process->symmetric_memory = symmetric_memory_of(folder, *process);
        report.processes.push_back(*std::move(process));
      } else {
        report.damaged.push_back(process.error().message);
      }
    }
    std::ranges::stable_sort(report.processes, {}, &ProcessReport::pid);
    return report;
  }

  /// The command is over and its exit code stands: what goes wrong here is said and changes nothing.
  void report(const RunReport& report) const {
    if (request_.verbose) fmt::print(stderr, "{}", to_table(report));
    if (!report.damaged.empty() && !request_.verbose) {
      fmt::print(stderr, "elbowroom run: {} of {} process reports could not be read, the first: {}\n", report.damaged.size(),
                 report.damaged.size() + report.processes.size(), report.damaged.front());
    }
    if (request_.report_file.empty()) return;
    const Status written = write_file(request_.report_file, to_json(report));
    if (!written) fmt::print(stderr, "elbowroom run: {}\n", written.error().message);
  }

  void learn(const RunReport& report) const {
    if (request_.learn_into.empty()) return;
    Profile more;
    for (StoredDuration& duration : learned_durations(report.processes, seconds_since_1970())) more.put(std::move(duration));
    if (more.durations().empty()) return warn("nothing was learned: no kernel was launched eight times with a timing");
    const Status stored = add_to_profile(request_.learn_into, more, [](Severity, std::string_view line) { warn(line); });
    if (!stored) warn(stored.error().message);
  }

  RunRequest request_;
  EnvironmentChanges changes_;
  std::vector<std::string> removed_;
};

int say(const Error& error) {
  fmt::print(stderr, "elbowroom run: {}\n", error.message);
  return exit_code_of(error.kind);
}

int run_command(const RunArguments& arguments, const std::optional<std::vector<std::string>>& command) {
  Result<RunRequest> request = request_of(arguments, command);
  if (!request) return say(request.error());
  const Result<int> code = Run(*std::move(request)).run();
  return code ? *code : say(code.error());
}

}  // namespace

SplitCommandLine split_command_line(int argc, char** argv) {
  const int count = std::max(argc, 0);
  if (count < 2 || std::string_view(argv[1]) != "run") return {count, std::nullopt};
  char** const end = argv + count;
  char** const cut = std::find_if(argv, end, [](const char* argument) { return std::string_view(argument) == "--"; });
  if (cut == end) return {count, std::nullopt};
  return {static_cast<int>(cut - argv), std::vector<std::string>(cut + 1, end)};
}

void add_run_command(CLI::App& app, const std::optional<std::vector<std::string>>& command, std::function<int()>& chosen) {
  CLI::App* run = app.add_subcommand("run", "Runs an unmodified program so that its collectives overlap better");
  run->footer("Call: elbowroom run [OPTIONS] -- COMMAND [ARGUMENTS]\nWhat follows the first -- is the command, run as it is.");
  const auto arguments = std::make_shared<RunArguments>();
  run->add_option("--policy", arguments->policy, "auto, observe (change nothing), priority, gate or shape")->capture_default_str();
  run->add_option("--backend", arguments->backend,
                  "Whose launches to act on: auto, cuda or hip; auto is hip where only its runtime can be loaded")
      ->capture_default_str();
  run->add_option(
      "--profile", arguments->profile_file,
      "Take what this profile's measured choices say of kernels, products and collectives; ELBOWROOM_PROFILE when absent");
  run->add_flag("--learn", arguments->learn, "Keep the durations that this run learns in the profile, for later ones");
  run->add_option("--report", arguments->report_file, "Write elbowroom.run/1 to this file; - for standard output");
  run->add_flag("--verbose", arguments->verbose, "Show the report as a table on standard error");
  run->add_option(
         "--set", arguments->settings,
         "Settings of the communication library, equal on all ranks: comm_blocks=8, cluster=1, comm_threads=256, copy_engine=1, "
         "symmetric_blocks=16, budget=8")
      ->delimiter(',')
      ->take_all();
  run->add_option("--cap", arguments->caps,
                  "Hold kernels whose name has NAME (all without it) at N blocks per SM beside collectives")
      ->type_name("[NAME=]N")
      ->take_all();
  run->add_option("--sm-target", arguments->sm_target, "SMs that a library GEMM beside a collective sizes itself for");
  run->add_option(
         "--off", arguments->off,
         "Parts to leave out: gate, priority, timing (learning durations), ab (comparing steps), symmetric (memory of PyTorch's "
         "collectives); shape, sm_target (a profile's)")
      ->delimiter(',')
      ->take_all();
  run->callback([arguments, command, &chosen] { chosen = [arguments, command] { return run_command(*arguments, command); }; });
}

}  // namespace elbowroom
