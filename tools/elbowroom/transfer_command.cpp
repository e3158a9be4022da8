#include "transfer_command.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>

#include "bench_command.hpp"
#include "console.hpp"
#include "elbowroom/experiment/transfer.hpp"
#include "elbowroom/report/result_markdown.hpp"
#include "elbowroom/report/result_table.hpp"
#include "elbowroom/report/scenario_line.hpp"
#include "elbowroom/tune/profile_file.hpp"
#include "exit_code.hpp"
#include "interruption.hpp"
#include "output.hpp"
#include "progress_line.hpp"
#include "rank_session.hpp"
#include "report/schemas.hpp"

namespace elbowroom {
namespace {

constexpr std::string_view kTransferOption = "--transfer";

struct TransferRequest {
  std::vector<Scenario> scenarios;
  TransferSettings settings;
};

Result<NamedProfile> named_profile(const std::string& path) {
  std::error_code unknown;
  if (!std::filesystem::exists(path, unknown)) {
    return invalid_input(fmt::format("{}: {}: no such file, expected a profile", kTransferOption, path));
  }
  Result<Profile> profile = load_profile(path);
  if (!profile) { return invalid_input(fmt::format("{}: {}", kTransferOption, profile.error().message)); }
  return NamedProfile{path, std::move(*profile)};
}

Status check_transfer_files(const CaseOptions& cases, const TransferArguments& arguments) {
  std::vector<NamedFile> files{
      {"--json", arguments.json_file}, {"--markdown", arguments.markdown_file}, {"--scenario", cases.scenario_file}};
  const std::array outputs{OutputFile{files[0], kTransferSchema}, OutputFile{files[1], kMarkdownSchema}};
  for (const std::string& profile : arguments.profiles) { files.emplace_back(kTransferOption, profile); }
  if (Status distinct = check_distinct(files); !distinct) { return distinct; }
  if (arguments.json_file == "-" && arguments.markdown_file == "-") {
    return invalid_input("--json, --markdown: '-' given twice, expected at most one on standard output");
  }
  return check_outputs(outputs);
}

Result<TransferRequest> transfer_request(const CaseOptions& cases, const TransferArguments& arguments) {
  if (Status files = check_transfer_files(cases, arguments); !files) { return files.error(); }
  Result<CaseSelection> selection = select_scenarios(cases, "a transfer is of stored plans of scenarios");
  if (!selection) { return selection.error(); }
  TransferRequest request;
  request.settings.seed = cases.seed;
  request.settings.trials = arguments.trials ? *arguments.trials : selection->trials.value_or(request.settings.trials);
  request.scenarios = std::move(selection->scenarios);
  for (const std::string& path : arguments.profiles) {
    Result<NamedProfile> profile = named_profile(path);
    if (!profile) { return profile.error(); }
    request.settings.profiles.push_back(std::move(*profile));
  }
  return request;
}

int show_transfer_plan(const TransferRequest& request) {
  std::string lines;
  for (const Scenario& scenario : request.scenarios) { lines += scenario_line(scenario) + "\n"; }
  for (const NamedProfile& profile : request.settings.profiles) {
    lines += fmt::format("  {}: {} choices\n", profile.name, profile.profile.choices().size());
  }
  const auto counted = [](std::size_t count, std::string_view what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  lines += fmt::format("# {}, {}, {} trials; nothing was run\n", counted(request.scenarios.size(), "case"),
                       counted(request.settings.profiles.size(), "profile"), request.settings.trials);
  const Status printed = print_table(lines);
  return printed ? exit_ok : complain(kBench, printed.error());
}

class TransferRun {
 public:
  TransferRun(const TransferArguments& arguments, TransferRequest request) : arguments_(arguments), request_(std::move(request)) {}

  int run(Backend& backend) {
    document_.origin = origin_of(backend, request_.scenarios.front().gpus, request_.settings.seed);
    document_.trials = request_.settings.trials;
    const Interruption interruption(kBench);
    Status done;
    {
      ProgressLine line(kBench, request_.scenarios.size());
      for (auto scenario = request_.scenarios.begin(); done && scenario != request_.scenarios.end(); ++scenario) {
        line.begin_case(scenario->name);
        const auto before = [&](std::string_view step) {
          line.show(std::nullopt, step);
          return interruption.check();
        };
        Result<TransferCase> found = transfer_case(backend, *scenario, request_.settings, before);
        line.end_case();
        done = found ? keep(std::move(*found)) : Status(found.error());
      }
    }
    // Whatever ended the run, what was measured before is not lost.
    const Status written = write(/*standard_output=*/true);
    if (!done && interruption.came()) {
      print_notice(kBench, fmt::format("{}; {} of {} cases are complete", done.error().message, document_.cases.size(),
                                       request_.scenarios.size()));
      return interruption.exit_code();
    }
    for (const Status& status : {done, written, shown_}) {
      if (!status) { return complain(kBench, status.error()); }
    }
    return exit_ok;
  }

 private:
  Status keep(TransferCase found) {
    const bool first = document_.cases.empty();
    show((first ? table_preamble(document_.origin) : "") + "\n" + to_table(found, document_.origin));
    document_.cases.push_back(std::move(found));
    return write(/*standard_output=*/false);
  }

  /// Tables go where no document goes.
  void show(const std::string& text) {
    if (arguments_.json_file == "-" || arguments_.markdown_file == "-") {
      print_error(text);
    } else if (Status printed = print_table(text); !printed) {
      shown_ = printed;
    }
  }

  [[nodiscard]] Status write(bool standard_output) const {
    const auto wanted = [&](const std::optional<std::string>& path) { return path && (*path == "-") == standard_output; };
    if (wanted(arguments_.json_file)) {
      if (Status written = write_document(*arguments_.json_file, kTransferSchema, to_json(document_)); !written) { return written; }
    }
    return wanted(arguments_.markdown_file) ? write_document(*arguments_.markdown_file, kMarkdownSchema, to_markdown(document_))
                                            : Status();
  }

  const TransferArguments& arguments_;
  TransferRequest request_;
  TransferDocument document_;
  Status shown_;  ///< why a table is not where it should be
};

}  // namespace

int run_transfer_command(const CaseOptions& cases, const TransferArguments& arguments) {
  Result<TransferRequest> request = transfer_request(cases, arguments);
  if (!request) { return complain(kBench, request.error()); }
  if (arguments.dry_run) { return show_transfer_plan(*request); }
  const Result<std::unique_ptr<Backend>> backend = open_on_ranks(cases, request->scenarios);
  if (!backend) { return complain(kBench, backend.error()); }
  return TransferRun(arguments, std::move(*request)).run(**backend);
}

}  // namespace elbowroom
