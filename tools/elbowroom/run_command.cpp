#include "run_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "child_process.hpp"
#include "command_recording.hpp"
#include "console.hpp"
#include "elbowroom/counters/open.hpp"
#include "elbowroom/energy/watch.hpp"
#include "elbowroom/report/run_closing.hpp"
#include "elbowroom/report/run_report.hpp"
#include "elbowroom/tune/profile_file.hpp"
#include "output.hpp"
#include "preload/backend.hpp"
#include "preload/choices.hpp"
#include "preload/controls.hpp"
#include "preload/program_environment.hpp"
#include "program_loader.hpp"
#include "rank_session.hpp"
#include "run/environment.hpp"
#include "run/policy.hpp"
#include "run_folder.hpp"
#include "run_preload.hpp"
#include "run_program.hpp"
#include "run_reports.hpp"
#include "run_request.hpp"
#include "small_stack.hpp"

namespace elbowroom {
namespace {

namespace fs = std::filesystem;

/// A counter moves every 100 ms on most GPUs. An energy span's ends are on a line between moves, so more gains nothing.
constexpr Microseconds kBetweenReadings{20'000};

class Run {
 public:
  explicit Run(RunRequest request) : request_(std::move(request)), kind_(program_kind(request_.command.front())) {}

  Result<int> run() {
    Result<std::string> library = find_library(preload::preloaded_library(request_.backend));
    if (!library) { return library.error(); }
    // Whatever has no place on this machine, the command comes first.
    if (Status ready = hand_over(); !ready) { go_without_folder(ready.error()); }
    prepare(*library);
    prepare_recording();

    const auto begin = std::chrono::steady_clock::now();
    const Result<ChildEnd> end = run_child(request_.command, changes_, removed_, [this] { watch_energy(); });
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
    if (!end) { return end.error(); }
    if (end->problem) {
      print_notice(kRun, *end->problem);
      return end->exit_code;
    }
    keep_recording(wall.count());
    if (folder_ && request_.wants_report()) {
      RunReport collected = read_reports(folder_->path(), request_);
      collected.exit_code = end->exit_code;
      collected.wall = wall;
      if (const auto why = preload::why_unseen(kind_)) {
        collected.unseen_because = fmt::format("'{}' {}", fs::path(request_.command.front()).filename().string(), *why);
      }
      if (watch_) { collected.energy = energy_of_run(collected.processes, watch_->stop()); }
      report(collected);
      remember(collected);
      if (speaks_for_job(collected)) { close(closing_facts(collected)); }
    } else {
      close({.left_alone = {"no folder for reports could be made"}, .unknown = true});
    }
    return end->exit_code;
  }

 private:
  /// The command is running already: opening counters may take a driver seconds.
  void watch_energy() {
    if (request_.energy && folder_) { watch_.emplace(open_every_energy_meter, kBetweenReadings); }
  }

  /// Without a recording the command runs all the same.
  void prepare_recording() {
    if (!request_.record_file) { return; }
    Result<CommandRecording> recording = CommandRecording::prepare(kRecordAfterSeconds);
    if (!recording) {
      print_notice(kRun, fmt::format("--record: {}", recording.error().message));
      return;
    }
    recording_.emplace(*std::move(recording));
    std::ranges::copy(recording_->changes(), std::back_inserter(changes_));
  }

  void keep_recording(double ran_seconds) const {
    if (!recording_) { return; }
    const std::vector<std::string> notes = recording_->notes();
    for (const std::string& note : notes) { print_notice(kRun, note); }
    if (recording_->traces().empty()) {
      if (notes.empty()) { print_notice(kRun, "--record: " + nothing_recorded(ran_seconds, kRecordAfterSeconds)); }
    } else if (const Status kept = recording_->keep(*request_.record_file); !kept) {
      print_notice(kRun, kept.error().message);
    }
  }

  /// Files by which the interposer and this process tell each other something, each named by a variable. What a run around this one
  /// set for itself is taken out.
  Status hand_over() {
    removed_ = {run::kReportDirVariable, run::kRulesVariable, run::kChoicesVariable, preload::kPythonVariable};
    if (!request_.wants_report() && request_.rules.empty()) { return {}; }
    Result<RunFolder> folder = RunFolder::make();
    if (!folder) { return folder.error(); }
    folder_.emplace(*std::move(folder));
    if (Status written = give("choices", run::kChoicesVariable, request_.choices); !written) { return written; }
    if (Status written = give("rules", run::kRulesVariable, request_.rules); !written) { return written; }
    if (request_.wants_report()) { changes_.emplace_back(run::kReportDirVariable, folder_->path().string()); }
    return {};
  }

  Status give(const char* name, const char* variable, const std::string& text) {
    if (text.empty()) { return {}; }
    const std::string file = (folder_->path() / name).string();
    changes_.emplace_back(variable, file);
    return write_new_file(file, text);
  }

  /// A policy without the rules that limit it is not what was asked for.
  void go_without_folder(const Error& why) {
    folder_.reset();
    changes_.clear();
    const bool ruled = !request_.rules.empty();
    if (ruled) {
      request_.policy = run::Policy::observe;
      request_.given.hook.reset();
    }
    print_notice(kRun, fmt::format("{}: the command runs without a report{}", why.message,
                                   ruled ? ", and with policy observe, as its rules cannot be handed over" : ""));
  }

  void prepare(const std::string& library) {
    const preload::Given& given = request_.given;
    std::ranges::copy(given.controls.comm_library, std::back_inserter(changes_));
    std::ranges::copy(request_.xla, std::back_inserter(changes_));
    std::ranges::move(preload::backend_environment(request_.backend, request_.policy, given.controls, request_.environment),
                      std::back_inserter(changes_));
    changes_.emplace_back("LD_PRELOAD", preload::preload_list(library, request_.environment));
    changes_.emplace_back(run::kPolicyVariable, text(request_.policy));
    if (given.hook) {
      std::ranges::move(preload::python_environment(*given.hook, given.controls, request_.gradient_views, request_.environment),
                        std::back_inserter(changes_));
    }
  }

  /// The command is over and its exit code stands: what goes wrong here is said and changes nothing.
  void report(const RunReport& report) const {
    if (request_.verbose) { print_error(printable(to_table(report))); }
    if (!report.damaged.empty() && !request_.verbose) {
      print_notice(kRun, fmt::format("{} of {} process reports could not be read, the first: {}", report.damaged.size(),
                                     report.damaged.size() + report.processes.size(), report.damaged.front()));
    }
    if (report.energy && !request_.quiet && !request_.verbose) { print_notice(kRun, in_words(*report.energy)); }
    if (!request_.report_file) { return; }
    const Status written = write_document(*request_.report_file, kRunSchema, to_json(report));
    if (!written) { print_notice(kRun, written.error().message); }
  }

  /// The last that a run says.
  void close(const ClosingFacts& facts) const {
    if (request_.wants_closing()) { print_error(closing_line(facts) + "\n"); }
  }

  void remember(const RunReport& report) const {
    const preload::Given& given = request_.given;
    if (!given.memory) { return; }
    const detail::NewChoices found = preload::new_choices(report.processes, given.surroundings, seconds_since_1970());
    if (found.kept.empty() && found.disagreed.empty()) { return; }
    const auto notice = [](std::string_view line) { print_notice(kRun, line); };
    if (const Status stored = detail::remember_choices(*given.memory, found, notice); !stored) {
      print_notice(kRun, fmt::format("what auto found is not kept: {}", stored.error().message));
    }
  }

  RunRequest request_;
  preload::ProgramFile::Kind kind_;  ///< of the command
  std::optional<RunFolder> folder_;
  std::optional<EnergyWatch> watch_;
  std::optional<CommandRecording> recording_;
  EnvironmentChanges changes_;
  std::vector<std::string> removed_;
};

/// Without Elbowroom, whose library the command could not start with.
int run_plainly(const std::vector<std::string>& command, const std::string& why, bool quiet) {
  const Result<ChildEnd> end = run_child(command, {}, {}, [] {});
  if (!end) { return complain(kRun, end.error()); }
  if (end->problem) {
    print_notice(kRun, *end->problem);
  } else if (!quiet && speaks_for_all()) {
    print_error(closing_line({.left_alone = {why}}) + "\n");
  }
  return end->exit_code;
}

int run_command(const RunArguments& arguments, const std::optional<std::vector<std::string>>& command) {
  const std::optional<std::string> stack = small_stack();
  if (stack && command && !command->empty()) { return run_plainly(*command, *stack, arguments.quiet); }
  Result<RunRequest> request = run_request(arguments, command);
  if (!request) { return complain(kRun, request.error()); }
  if (const auto loader = foreign_loader(request->command.front())) {
    const std::string program = fs::path(request->command.front()).filename().string();
    return run_plainly(request->command, fmt::format("'{}': its loader is {}, expected glibc's", program, *loader),
                       arguments.quiet);
  }
  const Result<int> code = Run(*std::move(request)).run();
  return code ? *code : complain(kRun, code.error());
}

}  // namespace

SplitCommandLine split_command_line(int argc, char** argv) {
  const int count = std::max(argc, 0);
  const std::string_view called = count < 2 ? "" : argv[1];
  const bool splits = called == "run" || called == "launch" || called == "measure" || called == "explain";
  if (!splits) { return {count, std::nullopt}; }
  char** const end = argv + count;
  char** const cut = std::find_if(argv, end, [](const char* argument) { return std::string_view(argument) == "--"; });
  if (cut == end) { return {count, std::nullopt}; }
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
  run->add_option("--report", arguments->report_file, "Write elbowroom.run/1 to this file; - for standard output");
  run->add_option("--record", arguments->record_file,
                  "Record a few steps once the command is warm, for elbowroom explain: an archive of a trace a process");
  run->add_flag("--energy", arguments->energy,
                "Measure what a step takes of the GPUs' energy, by their counters (NVML, AMD SMI), while the command runs");
  run->add_flag("--no-memory", arguments->no_memory,
                "Neither use what auto chose in earlier runs nor keep what it chooses in this one");
  run->add_flag("--same-bits", arguments->same_bits,
                "Leave out what may change the bits of a result: SM targets, symmetric memory, blocks of a profile");
  run->add_flag("--gradient-views", arguments->gradient_views,
                "Gradients of DistributedDataParallel are views of its buckets, as by its gradient_as_bucket_view=True");
  run->add_flag("--verbose", arguments->verbose, "Show the report as a table on standard error");
  run->add_flag("--quiet", arguments->quiet,
                "Leave out the closing line, which says what was gained or why nothing was changed, and the line of --energy");
  run->add_option("--set", arguments->controls.settings,
                  "Settings of the communication library, equal on all ranks: " + preload::example_settings())
      ->delimiter(',')
      ->take_all();
  run->add_option("--cap", arguments->controls.caps,
                  "Hold kernels whose name has NAME (all without it) at N blocks per SM beside collectives")
      ->type_name("[NAME=]N")
      ->take_all();
  run->add_option("--communication", arguments->controls.communication,
                  "Kernels whose name has NAME communicate: they are left alone, and nothing is made to wait for them")
      ->type_name("NAME")
      ->delimiter(',')
      ->take_all();
  run->add_option("--sm-target", arguments->controls.sm_target, "SMs that a library GEMM beside a collective sizes itself for");
  run->add_option("--off", arguments->controls.off,
                  "Parts to leave out: gate, priority, ab (comparing steps), symmetric (memory of PyTorch's "
                  "collectives); shape, sm_target (a profile's)")
      ->delimiter(',')
      ->take_all();
  run->callback([arguments, command, &chosen] { chosen = [arguments, command] { return run_command(*arguments, command); }; });
}

}  // namespace elbowroom
