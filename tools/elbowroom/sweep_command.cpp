#include "sweep_command.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "bench_command.hpp"
#include "console.hpp"
#include "elbowroom/experiment/sweep.hpp"
#include "elbowroom/plan/plan_text.hpp"
#include "elbowroom/report/result_table.hpp"
#include "elbowroom/report/scenario_line.hpp"
#include "exit_code.hpp"
#include "interruption.hpp"
#include "output.hpp"
#include "progress_line.hpp"
#include "rank_session.hpp"
#include "report/schemas.hpp"

namespace elbowroom {
namespace {

constexpr int kTrials = 10;

struct SweepRequest {
  std::vector<Case> cases;
  SweepSettings settings;
};

Result<SweepRequest> request_of(const CaseOptions& cases, const SweepArguments& arguments) {
  Result<std::vector<SweepAxis>> axes = parse_sweep(arguments.axes);
  if (!axes) { return invalid_input(fmt::format("--sweep: {}", axes.error().message)); }
  if (arguments.plans.size() > 1) {
    return invalid_input(
        fmt::format("--plan: given {} times with --sweep, expected once: what all cells have", arguments.plans.size()));
  }
  Result<CaseSelection> selection = select_cases(cases);
  if (!selection) { return selection.error(); }
  const int trials = arguments.trials ? *arguments.trials : selection->trials.value_or(kTrials);
  SweepRequest request{cases_of(*std::move(selection)), {std::move(*axes), std::nullopt, trials, cases.seed}};
  if (!arguments.plans.empty()) {
    const Result<std::vector<ControlSetting>> plan = parse_plan(arguments.plans.front());
    if (!plan) { return invalid_input(fmt::format("--plan: {}", plan.error().message)); }
    request.settings.plan = arguments.plans.front();
  }
  const std::array files{NamedFile("--json", arguments.json_file), NamedFile("--scenario", cases.scenario_file)};
  if (Status distinct = check_distinct(files); !distinct) { return distinct.error(); }
  const std::array outputs{OutputFile{files.front(), kSweepSchema}};
  if (Status writable = check_outputs(outputs); !writable) { return writable.error(); }
  return request;
}

/// Shows where the sweep is and keeps each cell.
class KeptSweep : public SweepObserver {
 public:
  KeptSweep(ProgressLine& line, const Interruption& interruption, std::optional<std::string> file)
      : line_(line), interruption_(interruption), file_(std::move(file)) {}

  Status begin(const SweepCase& swept, std::size_t cell) override {
    std::string words;
    const std::vector<std::size_t> at = cell_positions(swept.grid(), cell);
    for (std::size_t axis = 0; axis < at.size(); ++axis) {
      words += fmt::format("{}{}={}", axis == 0 ? "" : ",", swept.axes[axis].name, swept.axes[axis].values[at[axis]]);
    }
    line_.show(std::nullopt, fmt::format("cell {} of {}, {}", cell + 1, swept.cells.size(), words));
    return interruption_.check();
  }
  Status end(const SweepDocument& document) override {
    return file_ ? write_document(*file_, kSweepSchema, to_json(document)) : Status();
  }

 private:
  ProgressLine& line_;
  const Interruption& interruption_;
  std::optional<std::string> file_;
};

class SweepRun {
 public:
  SweepRun(const SweepArguments& arguments, SweepDocument document)
      : to_stdout_(arguments.json_file == "-"),
        file_(to_stdout_ ? std::nullopt : arguments.json_file),
        document_(std::move(document)) {}

  /// Takes what an earlier call left.
  Status resume() {
    std::error_code unknown;
    if (!file_ || !std::filesystem::is_regular_file(*file_, unknown) || std::filesystem::file_size(*file_, unknown) == 0) {
      return {};
    }
    const Result<std::string> text = read_file(*file_);
    if (!text) { return text.error(); }
    if (Status taken = take_cells(document_, *text, *file_); !taken) { return taken; }
    print_notice(kBench, fmt::format("{}: going on after {} of {} cells", *file_, document_.done(), document_.cells()));
    return {};
  }

  int run(Backend& backend) {
    const Interruption interruption(kBench);
    Status swept;
    {
      ProgressLine line(kBench, 1);
      line.begin_case(
          fmt::format("{} cells of {} case{}", document_.cells(), document_.cases.size(), document_.cases.size() == 1 ? "" : "s"));
      KeptSweep observer(line, interruption, file_);
      swept = run_sweep(backend, document_, observer);
      line.end_case();
    }
    // A sweep that was complete before is written again as it was.
    Status written;
    if (to_stdout_ || (swept && file_)) { written = write_document(file_.value_or("-"), kSweepSchema, to_json(document_)); }
    if (!swept && interruption.came()) {
      print_notice(kBench,
                   fmt::format("{}; {} of {} cells are complete", swept.error().message, document_.done(), document_.cells()));
      return interruption.exit_code();
    }
    if (!swept) { return complain(kBench, swept.error()); }
    if (!written) { return complain(kBench, written.error()); }
    return show();
  }

 private:
  [[nodiscard]] int show() const {
    std::string text = table_preamble(document_.origin);
    for (const SweepCase& swept : document_.cases) { text += "\n" + to_table(swept, document_.origin); }
    if (to_stdout_) {
      print_error(text);
      return exit_ok;
    }
    const Status printed = print_table(text);
    return printed ? exit_ok : complain(kBench, printed.error());
  }

  bool to_stdout_;
  std::optional<std::string> file_;
  SweepDocument document_;
};

int show_plan(const SweepDocument& document) {
  std::string lines;
  for (const SweepCase& swept : document.cases) {
    lines += case_line(swept.what) + "\n";
    for (const SweepAxis& axis : swept.axes) { lines += fmt::format("  {}: {}\n", axis.name, fmt::join(axis.values, " ")); }
  }
  lines += fmt::format("# {} cells of {} trials each; nothing was run\n", document.cells(), document.trials);
  const Status printed = print_table(lines);
  return printed ? exit_ok : complain(kBench, printed.error());
}

}  // namespace

int run_sweep_command(const CaseOptions& cases, const SweepArguments& arguments) {
  Result<SweepRequest> request = request_of(cases, arguments);
  if (!request) { return complain(kBench, request.error()); }
  const Result<std::unique_ptr<Backend>> backend = open_on_ranks(cases, most_ranks(request->cases));
  if (!backend) { return complain(kBench, backend.error()); }
  Result<SweepDocument> document = plan_sweep(**backend, request->cases, request->settings);
  if (!document) { return complain(kBench, document.error()); }
  if (arguments.dry_run) { return show_plan(*document); }
  SweepRun run(arguments, std::move(*document));
  if (Status resumed = run.resume(); !resumed) { return complain(kBench, resumed.error()); }
  return run.run(**backend);
}

}  // namespace elbowroom
