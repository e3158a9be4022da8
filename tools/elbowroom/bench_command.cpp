#include "bench_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "case_options.hpp"
#include "console.hpp"
#include "elbowroom/experiment/answers.hpp"
#include "elbowroom/experiment/bench_case.hpp"
#include "elbowroom/experiment/energy_settings.hpp"
#include "elbowroom/report/result_markdown.hpp"
#include "elbowroom/report/result_summary.hpp"
#include "elbowroom/report/result_table.hpp"
#include "elbowroom/report/scenario_line.hpp"
#include "energy_options.hpp"
#include "exit_code.hpp"
#include "interruption.hpp"
#include "output.hpp"
#include "profile_option.hpp"
#include "progress_line.hpp"
#include "rank_session.hpp"
#include "report/progress.hpp"
#include "report/schemas.hpp"
#include "sweep_command.hpp"
#include "terminal.hpp"
#include "transfer_command.hpp"
#include "validate_command.hpp"

namespace elbowroom {
namespace {

struct BenchArguments {
  CaseOptions cases;
  std::optional<std::string> validate_file;
  std::vector<std::string> schemes;
  std::vector<std::string> plans;
  std::optional<int> trials;
  std::string blocks_per_sm = "best";
  std::optional<double> min_reduction;
  std::optional<std::string> profile;
  std::optional<std::string> json_file;
  std::optional<std::string> trace_file;
  std::optional<std::string> markdown_file;
  bool dry_run = false;
  bool wide = false;
  std::optional<std::string> sweep;
  std::vector<std::string> transfer;
  bool energy = false;
  EnergySpanOption energy_span;
};

struct BenchRequest {
  std::vector<Case> cases;
  BenchSettings settings;
  std::optional<EnergySettings> energy;  ///< absent: nobody asked for joules
};

Status check_files(const BenchArguments& arguments) {
  const std::optional<std::string> profile = profile_path(arguments.profile);
  const std::array files{NamedFile("--json", arguments.json_file),
                         NamedFile("--markdown", arguments.markdown_file),
                         NamedFile("--trace", arguments.trace_file),
                         NamedFile("--scenario", arguments.cases.scenario_file),
                         NamedFile("--profile", profile),
                         NamedFile("--validate", arguments.validate_file)};
  if (Status distinct = check_distinct(files); !distinct) { return distinct; }
  const std::array outputs{OutputFile{files[0], arguments.validate_file ? kValidationSchema : kResultSchema},
                           OutputFile{files[1], kMarkdownSchema}, OutputFile{files[2], kTraceSchema}};
  if (Status writable = check_outputs(outputs); !writable) { return writable; }
  if (std::ranges::count(std::span(files).first(3), "-", &NamedFile::second) < 2) { return {}; }
  return invalid_input("--json, --markdown, --trace: '-' given twice, expected at most one on standard output");
}

Status check_trials(std::optional<int> trials) {
  if (!trials || (*trials >= 1 && *trials <= 10'000)) { return {}; }
  return invalid_input(fmt::format("--trials: {}, expected 1 to 10000", *trials));
}

Result<BenchRequest> request_of(const BenchArguments& arguments) {
  if (Status trials = check_trials(arguments.trials); !trials) { return trials.error(); }
  if (arguments.min_reduction && !(*arguments.min_reduction >= -1000 && *arguments.min_reduction <= 100)) {
    return invalid_input(fmt::format("--min-reduction: {}, expected -1000 to 100 percent", *arguments.min_reduction));
  }
  Result<CaseSelection> cases = select_cases(arguments.cases);
  if (!cases) { return cases.error(); }
  BenchRequest request;
  request.settings.seed = arguments.cases.seed;
  request.settings.trials = arguments.trials ? *arguments.trials : cases->trials.value_or(request.settings.trials);
  for (const std::string& name : arguments.schemes) {
    const Result<Scheme> scheme = parse_scheme(name);
    if (!scheme) { return scheme.error(); }
    request.settings.schemes.push_back(*scheme);
  }
  request.settings.schemes_asked_for = !arguments.schemes.empty();
  if (arguments.schemes.empty()) { request.settings.schemes = cases->schemes; }
  for (const std::string& text : arguments.plans) {
    Result<std::vector<ControlSetting>> plan = parse_plan(text);
    if (!plan) { return invalid_input(fmt::format("--plan: {}", plan.error().message)); }
    request.settings.plans.push_back(std::move(*plan));
  }
  const Result<ResidencyChoice> residency = parse_residency(arguments.blocks_per_sm);
  if (!residency) { return invalid_input("--" + residency.error().message); }
  request.settings.residency = *residency;
  if (arguments.energy || arguments.energy_span.seconds) {
    Result<EnergySettings> energy = energy_settings(arguments.energy_span);
    if (!energy) { return energy.error(); }
    request.energy = *std::move(energy);
  }
  if (Status files = check_files(arguments); !files) { return files.error(); }
  request.cases = cases_of(*std::move(cases));
  return request;
}

int dry_run(const BenchRequest& request) {
  std::string lines;
  for (const Case& what : request.cases) { lines += case_line(what) + "\n"; }
  std::string names;
  for (const Scheme scheme : request.settings.schemes) { names += fmt::format(" {}", to_string(scheme)); }
  if (!request.settings.plans.empty()) { names += fmt::format(" and {} plans", request.settings.plans.size()); }
  lines +=
      fmt::format("# {} case{}; schemes{}; {} warm-up and {} counted rounds each; nothing was run\n", request.cases.size(),
                  request.cases.size() == 1 ? "" : "s", names, warm_up_rounds(request.settings.trials), request.settings.trials);
  const Status printed = print_table(lines);
  return printed ? exit_ok : complain(kBench, printed.error());
}

/// Whether nothing is to be said.
bool silent(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) { print_notice(kBench, line); }
  return lines.empty();
}

/// Tells the progress line how long a case will take, and the case when somebody wants it to end.
class ShownCase : public CaseObserver {
 public:
  ShownCase(ProgressLine& line, const Interruption& interruption) : line_(line), interruption_(interruption) {}

  void expect(CaseStep step, std::size_t count) override {
    estimate_.expect(static_cast<std::size_t>(step), static_cast<int>(count));
  }
  Status begin(CaseStep step, std::string_view what) override {
    const Microseconds now = ProgressLine::now();
    estimate_.begin(static_cast<std::size_t>(step), now);
    line_.show(estimate_.left(now), what);
    return interruption_.check();
  }

 private:
  ProgressLine& line_;
  const Interruption& interruption_;
  // A span of half a minute beside a run of some ten milliseconds.
  static constexpr double kEnergyInRuns = 1000;
  // Beside one run: results are compared on the host, a recording is a run and its reading. Nothing follows from preparing.
  ProgressEstimate estimate_{{0, 1, 3, 1, 2, kEnergyInRuns}, ProgressLine::now()};
};

class BenchRun {
 public:
  BenchRun(const BenchArguments& arguments, BenchRequest request, const Interruption& interruption)
      : arguments_(arguments), request_(std::move(request)), interruption_(interruption) {
    if (request_.energy) { request_.settings.energy = &*request_.energy; }
  }

  int run() {
    Result<std::unique_ptr<Backend>> backend = open_on_ranks(arguments_.cases, most_ranks(request_.cases));
    if (!backend) { return say(backend.error()); }
    const auto& schemes = request_.settings.schemes;
    if (std::find(schemes.begin(), schemes.end(), Scheme::tuned) != schemes.end()) {
      request_.settings.tuned = stored_plans(**backend, profile_path(arguments_.profile), notices());
    }
    const int gpus = ranks_of(request_.cases.front());
    results_.origin = origin_of(**backend, gpus, arguments_.cases.seed);
    traces_.origin = results_.origin;
    const int measured = measure(**backend);
    if (results_.cases.size() > 1) { show("\n" + summary_table(results_)); }
    const int written = write_files(Destination::standard_output);
    if (measured != exit_ok) { return measured; }
    if (written != exit_ok) { return written; }
    if (!shown_) { return say(shown_.error()); }
    if (!silent(refused_requests(results_))) { return exit_failed; }
    return !arguments_.min_reduction || silent(cases_below(results_, *arguments_.min_reduction)) ? exit_ok : exit_failed;
  }

 private:
  enum class Destination { files, standard_output };

  /// Tables go where no document goes.
  void show(const std::string& text) {
    const bool taken = arguments_.json_file == "-" || arguments_.markdown_file == "-" || arguments_.trace_file == "-";
    if (taken) {
      print_error(text);
    } else if (Status printed = print_table(text, arguments_.wide); !printed) {
      shown_ = printed;
    }
  }

  static int say(const Error& error) { return complain(kBench, error); }

  /// Stops at the first case that fails. Files are written anew after every case: whatever ends the run, what was measured before
  /// is not lost.
  int measure(Backend& backend) {
    ProgressLine line(kBench, request_.cases.size());
    for (const Case& what : request_.cases) {
      line.begin_case(name_of(what));
      ShownCase observer(line, interruption_);
      Result<CaseMeasurement> measured = bench_case(backend, what, request_.settings, observer);
      line.end_case();
      if (!measured && interruption_.came()) { return say_interrupted(); }
      if (!measured) { return say(measured.error()); }
      keep(std::move(*measured));
      if (const int written = write_files(Destination::files); written != exit_ok) { return written; }
    }
    return exit_ok;
  }

  [[nodiscard]] int say_interrupted() const {
    print_notice(kBench, fmt::format("{}; {} of {} cases are complete", interruption_.check().error().message,
                                     results_.cases.size(), request_.cases.size()));
    return interruption_.exit_code();
  }

  void keep(CaseMeasurement measured) {
    const bool first = results_.cases.empty();
    if (first && measured.no_record_reason) {
      print_notice(kBench, fmt::format("no overlap rate, inflation or trace: {}", *measured.no_record_reason));
    }
    if (first) { show(table_preamble(results_.origin)); }
    show("\n" + to_table(measured.result, results_.origin, table_columns(arguments_.wide)));
    results_.cases.push_back(std::move(measured.result));
    if (!arguments_.trace_file) { return; }
    for (LabelledTimeline& timeline : measured.timelines) { traces_.timelines.push_back(std::move(timeline)); }
  }

  /// Standard output takes one document, once, whatever ended the run; files are complete after every case.
  int write_files(Destination destination) {
    const auto wanted = [&](const std::optional<std::string>& path) {
      return path && (*path == "-") == (destination == Destination::standard_output);
    };
    std::vector<Status> written;
    if (wanted(arguments_.json_file)) {
      written.push_back(write_document(*arguments_.json_file, kResultSchema, to_json(results_) + "\n"));
    }
    if (wanted(arguments_.markdown_file)) {
      written.push_back(write_document(*arguments_.markdown_file, kMarkdownSchema, to_markdown(results_)));
    }
    if (wanted(arguments_.trace_file)) {
      const Result<std::string> trace = to_chrome_trace(traces_);
      written.push_back(trace ? write_document(*arguments_.trace_file, kTraceSchema, *trace) : Status(trace.error()));
    }
    for (const Status& status : written) {
      if (!status) { return say(status.error()); }
    }
    return exit_ok;
  }

  const BenchArguments& arguments_;
  BenchRequest request_;
  const Interruption& interruption_;
  ResultDocument results_;
  TraceDocument traces_;
  Status shown_;  ///< why a table is not where it should be
};

int run_bench(const BenchArguments& arguments) {
  if (arguments.validate_file) {
    if (Status good = check_files(arguments); !good) { return complain(kBench, good.error()); }
    return run_validation(kBench, *arguments.validate_file, arguments.json_file, arguments.cases.device);
  }
  if (arguments.sweep) {
    if (Status trials = check_trials(arguments.trials); !trials) { return complain(kBench, trials.error()); }
    return run_sweep_command(arguments.cases,
                             {*arguments.sweep, arguments.plans, arguments.trials, arguments.json_file, arguments.dry_run});
  }
  if (!arguments.transfer.empty()) {
    if (Status trials = check_trials(arguments.trials); !trials) { return complain(kBench, trials.error()); }
    return run_transfer_command(
        arguments.cases, {arguments.transfer, arguments.trials, arguments.json_file, arguments.markdown_file, arguments.dry_run});
  }
  Result<BenchRequest> request = request_of(arguments);
  if (!request) { return complain(kBench, request.error()); }
  if (arguments.dry_run) { return dry_run(*request); }
  const Interruption interruption(kBench);
  return BenchRun(arguments, std::move(*request), interruption).run();
}

}  // namespace

void add_bench_command(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* command =
      app.add_subcommand("bench", "Runs scenarios under several schemes and shows how close each comes to the critical path");
  const auto arguments = std::make_shared<BenchArguments>();
  add_case_options(*command, arguments->cases);
  CLI::Option* validate =
      command->add_option("--validate", arguments->validate_file, "Compare the simulator with the measured rows of this CSV file");
  std::string names;
  for (const Scheme scheme : schemes()) { names += fmt::format("{}{}", names.empty() ? "" : ", ", to_string(scheme)); }
  command->add_option("--scheme", arguments->schemes, "Schemes to run, by comma: " + names)->delimiter(',');
  command
      ->add_option("--plan", arguments->plans, "A plan to run beside the schemes: controls by comma, as in priority,comm_blocks=8")
      ->allow_extra_args(false);
  command->add_option("--profile", arguments->profile, "Where the scheme tuned finds its plans; ELBOWROOM_PROFILE by default");
  command->add_option("--trials", arguments->trials, "Counted trials; half as many before them are warm-up");
  command->add_option("--blocks-per-sm", arguments->blocks_per_sm, "Residency of the shaped schemes: best, all or a number")
      ->capture_default_str();
  command->add_option("--min-reduction", arguments->min_reduction,
                      "Fail (1) unless every case's best scheme saves this many percent");
  command->add_option("--json", arguments->json_file, "Write elbowroom.result/1 to this file; - for standard output");
  command->add_option("--markdown", arguments->markdown_file, "Write the tables as Markdown to this file");
  command->add_option("--trace", arguments->trace_file, "Write every schedule's kernels as a Chrome trace to this file");
  command->add_flag("--energy", arguments->energy,
                    "Measure the energy of every schedule too, by the GPUs' counters: half a minute each on most GPUs");
  add_energy_span(*command, arguments->energy_span);
  command->add_flag("--dry-run", arguments->dry_run, "Show what would be run");
  command->add_flag("--wide", arguments->wide, "All columns on a terminal that has fewer");
  CLI::Option* sweep =
      command->add_option("--sweep", arguments->sweep,
                          "One or two axes by comma, each a control or a member of the scenario with values by colon, "
                          "as in blocks_per_sm,comm_blocks=4:8:16; --plan is what all cells have");
  for (const char* name :
       {"--scheme", "--profile", "--blocks-per-sm", "--min-reduction", "--markdown", "--trace", "--energy", "--energy-span"}) {
    sweep->excludes(command->get_option(name));
  }
  CLI::Option* transfer = command->add_option("--transfer", arguments->transfer,
                                              "Profiles made elsewhere: what their plans cost here beside the best that is known");
  for (const char* name : {"--scheme", "--plan", "--profile", "--blocks-per-sm", "--min-reduction", "--trace", "--sweep",
                           "--energy", "--energy-span"}) {
    transfer->excludes(command->get_option(name));
  }
  command->footer(
      "--sweep and --transfer make schedules of their own: they go without each other, --scheme, --profile, --blocks-per-sm,\n"
      "--min-reduction, --trace and --energy. --validate goes with --device and --json alone.");
  // What a validation runs is in its file.
  for (CLI::Option* option : command->get_options()) {
    const std::string name = option->get_name();
    if (name != "--validate" && name != "--json" && name != "--device" && name != "--help") { validate->excludes(option); }
  }
  command->callback(
      [=, &chosen] { chosen = [arguments] { return in_ranks(kBench, arguments->cases, [&] { return run_bench(*arguments); }); }; });
}

}  // namespace elbowroom
