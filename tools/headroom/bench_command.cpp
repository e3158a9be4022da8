#include "bench_command.hpp"

#include <fmt/format.h>

#include <charconv>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <regex>
#include <string>
#include <utility>
#include <vector>

#include "bench_case.hpp"
#include "exit_code.hpp"
#include "headroom/backend/registry.hpp"
#include "headroom/model/device_catalog.hpp"
#include "headroom/report/result_markdown.hpp"
#include "headroom/report/result_table.hpp"
#include "headroom/report/scenario_line.hpp"
#include "output.hpp"
#include "suites.hpp"
#include "validate_command.hpp"

namespace headroom {
namespace {

struct BenchArguments {
  std::string suite;
  std::string scenario_file;
  std::string validate_file;
  std::string only;
  std::string backend = "auto";
  std::string device = "auto";
  std::optional<int> gpus;
  std::vector<std::string> schemes;
  std::optional<int> trials;
  std::uint64_t seed = 1;
  std::string blocks_per_sm = "best";
  std::optional<double> min_reduction;
  double timeout_s = 120;
  std::string json_file;
  std::string trace_file;
  std::string markdown_file;
  bool dry_run = false;
};

struct BenchRequest {
  std::vector<Scenario> scenarios;
  BenchSettings settings;
};

constexpr int kDefaultGpus = 2;

/// Drops the cases in whose name `pattern` is not found.
Status keep_only(const std::string& pattern, std::vector<Scenario>& scenarios) {
  try {
    const std::regex expression(pattern);
    std::erase_if(scenarios, [&](const Scenario& scenario) { return !std::regex_search(scenario.name, expression); });
  } catch (const std::regex_error&) { return invalid_input(fmt::format("--only: '{}', expected a regular expression", pattern)); }
  if (scenarios.empty()) return invalid_input(fmt::format("--only: '{}', expected to be found in the name of a case", pattern));
  return {};
}

Result<std::vector<Scenario>> scenarios_of(const BenchArguments& arguments, int& trials) {
  std::vector<Scenario> scenarios;
  if (!arguments.scenario_file.empty()) {
    Result<std::string> text = read_file(arguments.scenario_file);
    if (!text) return text.error();
    Result<Scenario> scenario = parse_scenario(*text, arguments.scenario_file);
    if (!scenario) return scenario.error();
    if (arguments.gpus) scenario->gpus = *arguments.gpus;
    scenarios.push_back(std::move(*scenario));
  } else {
    const Result<Suite> suite = find_suite(arguments.suite.empty() ? "quick" : arguments.suite);
    if (!suite) return suite.error();
    trials = suite->trials;
    scenarios = suite->scenarios(arguments.gpus.value_or(kDefaultGpus));
  }
  if (Status kept = keep_only(arguments.only, scenarios); !kept) return kept.error();
  for (const Scenario& scenario : scenarios) {
    if (Status valid = validate(scenario); !valid) {
      return invalid_input(fmt::format("{}: {}", scenario.name, valid.error().message));
    }
  }
  return scenarios;
}

Result<ResidencyChoice> residency_of(const std::string& text) {
  if (text == "best") return ResidencyChoice{ResidencyChoice::Kind::best, {}};
  if (text == "all") return ResidencyChoice{ResidencyChoice::Kind::every, {}};
  int number = 0;
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure == std::errc{} && rest == text.data() + text.size() && number >= 1) {
    return ResidencyChoice{ResidencyChoice::Kind::fixed, BlocksPerSm(number)};
  }
  return invalid_input(fmt::format("--blocks-per-sm: '{}', expected best, all or a number of at least 1", text));
}

Result<BenchRequest> request_of(const BenchArguments& arguments) {
  if (arguments.gpus && (*arguments.gpus < 2 || *arguments.gpus > 8)) {
    return invalid_input(fmt::format("-g: {}, expected 2 to 8", *arguments.gpus));
  }
  if (arguments.trials && (*arguments.trials < 1 || *arguments.trials > 10'000)) {
    return invalid_input(fmt::format("--trials: {}, expected 1 to 10000", *arguments.trials));
  }
  // Written so that NaN is refused.
  if (!(arguments.timeout_s >= 0.001 && arguments.timeout_s <= 86'400)) {
    return invalid_input(fmt::format("--timeout: {}, expected 0.001 to 86400 seconds", arguments.timeout_s));
  }
  if (arguments.min_reduction && !(*arguments.min_reduction >= -1000 && *arguments.min_reduction <= 100)) {
    return invalid_input(fmt::format("--min-reduction: {}, expected -1000 to 100 percent", *arguments.min_reduction));
  }
  if (arguments.device != "auto") {
    if (const Result<DeviceLimits> known = find_device(arguments.device); !known) {
      return invalid_input(fmt::format("--device: {}", known.error().message));
    }
  }
  if ((arguments.json_file == "-") + (arguments.markdown_file == "-") + (arguments.trace_file == "-") > 1) {
    return invalid_input("--json, --markdown, --trace: '-' given twice, expected at most one on standard output");
  }
  BenchRequest request;
  request.settings.seed = arguments.seed;
  Result<std::vector<Scenario>> scenarios = scenarios_of(arguments, request.settings.trials);
  if (!scenarios) return scenarios.error();
  request.scenarios = std::move(*scenarios);
  if (arguments.trials) request.settings.trials = *arguments.trials;
  for (const std::string& name : arguments.schemes) {
    const Result<Scheme> scheme = parse_scheme(name);
    if (!scheme) return scheme.error();
    request.settings.schemes.push_back(*scheme);
  }
  if (arguments.schemes.empty()) request.settings.schemes.assign(schemes().begin(), schemes().end());
  Result<ResidencyChoice> residency = residency_of(arguments.blocks_per_sm);
  if (!residency) return residency.error();
  request.settings.residency = *residency;
  return request;
}

Origin origin_of(const Backend& backend, int gpus, std::uint64_t seed) {
  const DeviceInfo& device = backend.devices().front();
  return {backend.provenance(),
          std::string(backend.name()),
          {device.name, device.limits, gpus, device.memory},
          backend.versions(),
          seed};
}

int dry_run(const BenchRequest& request) {
  for (const Scenario& scenario : request.scenarios) { fmt::print("{}\n", scenario_line(scenario)); }
  std::string names;
  for (const Scheme scheme : request.settings.schemes) names += fmt::format(" {}", to_string(scheme));
  fmt::print("# {} cases; schemes{}; {} warm-up and {} counted rounds each; nothing was run\n", request.scenarios.size(), names,
             warm_up_rounds(request.settings.trials), request.settings.trials);
  return exit_ok;
}

/// The least reduction that every case's best scheme must reach; false and a line for each case that does not.
bool reaches(const ResultDocument& document, double percent) {
  bool all = true;
  for (const CaseResult& result : document.cases) {
    const SchemeResult* best = best_result(result);
    const double reduction = best != nullptr ? 100 * best->metrics.reduction.value_or(0) : 0;
    if (reduction >= percent) continue;
    fmt::print(stderr, "headroom bench: {}: the best reduction is {:.1f} %, expected at least {:g} %\n", result.scenario.name,
               reduction, percent);
    all = false;
  }
  return all;
}

class BenchRun {
 public:
  BenchRun(const BenchArguments& arguments, BenchRequest request) : arguments_(arguments), request_(std::move(request)) {}

  int run() {
    BackendOptions options;
    options.device = arguments_.device;
    options.seed = arguments_.seed;
    options.time_limit = std::chrono::milliseconds(static_cast<std::int64_t>(1000 * arguments_.timeout_s));
    options.notice = [](Severity, std::string_view line) { fmt::print(stderr, "headroom: {}\n", line); };
    Result<std::unique_ptr<Backend>> backend = open_backend(arguments_.backend, options);
    if (!backend) return say(backend.error());

    const int gpus = request_.scenarios.front().gpus;
    if (const std::size_t present = (*backend)->devices().size(); gpus > static_cast<int>(present)) {
      return say(
          invalid_input(fmt::format("gpus: {}, expected at most {} (devices of backend {})", gpus, present, (*backend)->name())));
    }
    results_.origin = origin_of(**backend, gpus, arguments_.seed);
    traces_.origin = results_.origin;
    const int measured = measure(**backend);
    const int written = write_files(Destination::standard_output);
    if (measured != exit_ok) return measured;
    if (written != exit_ok) return written;
    return !arguments_.min_reduction || reaches(results_, *arguments_.min_reduction) ? exit_ok : exit_failed;
  }

 private:
  enum class Destination { files, standard_output };

  /// Tables go where no document goes.
  void show(const std::string& text) const {
    const bool taken = arguments_.json_file == "-" || arguments_.markdown_file == "-" || arguments_.trace_file == "-";
    if (taken) {
      fmt::print(stderr, "{}", text);
    } else {
      // A pipe that was closed early is no reason to lose the documents.
      static_cast<void>(print(text));
    }
  }

  static int say(const Error& error) {
    fmt::print(stderr, "headroom bench: {}\n", error.message);
    return exit_code_of(error.kind);
  }

  /// Stops at the first case that fails. Files are written anew after every case: whatever ends the run, what was measured before
  /// is not lost.
  int measure(Backend& backend) {
    ProgressLine line;
    for (std::size_t at = 0; at < request_.scenarios.size(); ++at) {
      const Scenario& scenario = request_.scenarios[at];
      const Progress progress = [&](std::string_view step, double share) {
        line.show(fmt::format("[{}/{}] {} {:3.0f} % {}", at + 1, request_.scenarios.size(), scenario.name, 100 * share, step));
      };
      Result<CaseMeasurement> measured = run_case(backend, scenario, request_.settings, progress);
      line.clear();
      if (!measured) return say(measured.error());
      keep(std::move(*measured));
      if (const int written = write_files(Destination::files); written != exit_ok) return written;
    }
    return exit_ok;
  }

  void keep(CaseMeasurement measured) {
    const bool first = results_.cases.empty();
    if (first && !measured.no_record_reason.empty()) {
      fmt::print(stderr, "headroom bench: no overlap rate, inflation or trace: {}\n", measured.no_record_reason);
    }
    if (first) show(table_preamble(results_.origin));
    show("\n" + to_table(measured.result, results_.origin.provenance));
    results_.cases.push_back(std::move(measured.result));
    if (arguments_.trace_file.empty()) return;
    for (LabelledTimeline& timeline : measured.timelines) traces_.timelines.push_back(std::move(timeline));
  }

  /// Standard output takes one document, once, whatever ended the run; files are complete after every case.
  int write_files(Destination destination) {
    const auto wanted = [&](const std::string& path) {
      return !path.empty() && (path == "-") == (destination == Destination::standard_output);
    };
    std::vector<Status> written;
    if (wanted(arguments_.json_file)) written.push_back(write_file(arguments_.json_file, to_json(results_) + "\n"));
    if (wanted(arguments_.markdown_file)) written.push_back(write_file(arguments_.markdown_file, to_markdown(results_)));
    if (wanted(arguments_.trace_file)) {
      const Result<std::string> trace = to_chrome_trace(traces_);
      written.push_back(trace ? write_file(arguments_.trace_file, *trace) : Status(trace.error()));
    }
    for (const Status& status : written) {
      if (!status) return say(status.error());
    }
    return exit_ok;
  }

  const BenchArguments& arguments_;
  BenchRequest request_;
  ResultDocument results_;
  TraceDocument traces_;
};

int run_bench(const BenchArguments& arguments) {
  if (!arguments.validate_file.empty()) {
    const std::optional<std::string> json = arguments.json_file.empty() ? std::nullopt : std::optional(arguments.json_file);
    return run_validation(arguments.validate_file, json, arguments.device == "auto" ? "h200" : arguments.device);
  }
  Result<BenchRequest> request = request_of(arguments);
  if (!request) {
    fmt::print(stderr, "headroom bench: {}\n", request.error().message);
    return exit_code_of(request.error().kind);
  }
  if (arguments.dry_run) return dry_run(*request);
  return BenchRun(arguments, std::move(*request)).run();
}

}  // namespace

void add_bench_command(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* command = app.add_subcommand("bench", "Runs scenarios under several schemes and shows how close each comes to ideal");
  const auto arguments = std::make_shared<BenchArguments>();
  CLI::Option* suite = command->add_option("--suite", arguments->suite, "quick (default), paper, controls or library");
  command->add_option("--scenario", arguments->scenario_file, "A headroom.scenario/1 file")->excludes(suite);
  command->add_option("--validate", arguments->validate_file, "Compare the simulator with the measured rows of this CSV file")
      ->excludes(suite);
  command->add_option("--only", arguments->only, "Only the cases in whose name this regular expression is found");
  command->add_option("--backend", arguments->backend, "auto, cuda, hip or sim")->capture_default_str();
  command->add_option("--device", arguments->device, "Catalog name the devices must have, or auto")->capture_default_str();
  command->add_option("-g,--gpus", arguments->gpus, "Number of GPUs instead of the suite's (2) or the file's");
  command
      ->add_option("--scheme", arguments->schemes,
                   "Schemes to run, by comma: sequential,concurrent,priority,shaped,shaped_priority")
      ->delimiter(',');
  command->add_option("--trials", arguments->trials, "Counted trials; half as many before them are warm-up");
  command->add_option("--seed", arguments->seed, "Seed of data and of resampling")->capture_default_str();
  command->add_option("--blocks-per-sm", arguments->blocks_per_sm, "Residency of the shaped schemes: best, all or a number")
      ->capture_default_str();
  command->add_option("--min-reduction", arguments->min_reduction,
                      "Fail (1) unless every case's best scheme saves this many percent");
  command->add_option("--timeout", arguments->timeout_s, "Seconds after which one run is aborted")->capture_default_str();
  command->add_option("--json", arguments->json_file, "Write headroom.result/1 to this file; - for standard output");
  command->add_option("--markdown", arguments->markdown_file, "Write the tables as Markdown to this file");
  command->add_option("--trace", arguments->trace_file, "Write every schedule's kernels as a Chrome trace to this file");
  command->add_flag("--dry-run", arguments->dry_run, "Show what would be run");
  command->callback([=, &chosen] { chosen = [arguments] { return run_bench(*arguments); }; });
}

}  // namespace headroom
