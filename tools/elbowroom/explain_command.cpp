#include "explain_command.hpp"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "child_process.hpp"
#include "command_recording.hpp"
#include "console.hpp"
#include "exit_code.hpp"
#include "explain/comparison.hpp"
#include "explain/document.hpp"
#include "explain/explanation.hpp"
#include "output.hpp"
#include "page/html.hpp"
#include "page/readers.hpp"
#include "page_assets.hpp"
#include "rank_session.hpp"
#include "report/schemas.hpp"
#include "trace_files.hpp"

namespace elbowroom {
namespace {

constexpr std::string_view kExplain = "elbowroom explain";

struct ExplainArguments {
  std::vector<std::string> traces;
  std::optional<std::vector<std::string>> command;  ///< to record
  std::optional<std::string> record;                ///< where the recording stays
  double after = kRecordAfterSeconds;
  std::optional<std::string> json;
  std::optional<std::string> html;
  bool compare = false;
};

Status check_output(const ExplainArguments& arguments) {
  const NamedFile json("--json", arguments.json);
  const NamedFile html("--html", arguments.html);
  for (const std::string& trace : arguments.traces) {
    const std::array files{NamedFile("TRACE", trace), json, html};
    if (Status distinct = check_distinct(files); !distinct) { return distinct; }
  }
  const std::array files{NamedFile("--record", arguments.record), json, html};
  if (Status distinct = check_distinct(files); !distinct) { return distinct; }
  const std::array outputs{OutputFile{json, kExplainSchema}, OutputFile{html, page::kPageSchema}};
  return check_outputs(outputs);
}

/// All traces, or the first reason why one of them is none.
Result<std::vector<explain::Trace>> read_all(const std::vector<std::string>& names) {
  std::vector<explain::Trace> traces;
  std::vector<std::string> notices;
  for (const std::string& name : names) {
    Result<std::vector<explain::Trace>> some = read_traces(name, notices);
    if (!some) { return some.error(); }
    for (explain::Trace& trace : *some) { traces.push_back(std::move(trace)); }
  }
  for (const std::string& notice : notices) { print_notice(kExplain, notice); }
  return traces;
}

Status write_page(const ExplainArguments& arguments, const std::string& json, const page::Assets& assets) {
  Result<page::Document> document = page::read_document(json, arguments.traces.front());
  if (!document) { return document.error(); }
  page::Page page{ELBOWROOM_VERSION, {"elbowroom", "explain"}, {}};
  page.command.insert(page.command.end(), arguments.traces.begin(), arguments.traces.end());
  page.documents.push_back(*std::move(document));
  return write_document(*arguments.html, page::kPageSchema, page::to_html(page, assets));
}

/// The traces of one name, explained; what is lost is said.
Result<explain::Explanation> explained(const std::vector<std::string>& names) {
  Result<std::vector<explain::Trace>> traces = read_all(names);
  if (!traces) { return traces.error(); }
  explain::Explanation explanation = explain::explain(*std::move(traces));
  for (const std::string& loss : explain::losses(explanation)) { print_notice(kExplain, loss); }
  return explanation;
}

int run_compare(const ExplainArguments& arguments) {
  if (arguments.traces.size() != 2) {
    return complain(kExplain,
                    invalid_input(fmt::format("--compare: {} traces, expected two: files, archives or folders, before and after",
                                              arguments.traces.size())));
  }
  const Result<explain::Explanation> before = explained({arguments.traces[0]});
  if (!before) { return complain(kExplain, before.error()); }
  const Result<explain::Explanation> after = explained({arguments.traces[1]});
  if (!after) { return complain(kExplain, after.error()); }
  const Status shown = print_table(explain::in_words(explain::compare(*before, *after)));
  return shown ? exit_ok : complain(kExplain, shown.error());
}

/// Reads the traces and says what they hold.
int explain_traces(const ExplainArguments& arguments) {
  const Result<page::Assets> assets = arguments.html ? page::embedded_assets() : Result<page::Assets>(page::Assets{});
  if (!assets) { return complain(kExplain, assets.error()); }
  const Result<explain::Explanation> explanation = explained(arguments.traces);
  if (!explanation) { return complain(kExplain, explanation.error()); }
  const std::string json = arguments.json || arguments.html ? explain::to_json(*explanation) : "";
  if (arguments.json) {
    if (Status written = write_document(*arguments.json, kExplainSchema, json); !written) {
      return complain(kExplain, written.error());
    }
  }
  if (arguments.html) {
    if (Status written = write_page(arguments, json, *assets); !written) { return complain(kExplain, written.error()); }
  }
  const std::string words = explain::in_words(*explanation);
  if (arguments.json == "-" || arguments.html == "-") {
    print_error(words);
    return exit_ok;
  }
  const Status shown = print_table(words);
  return shown ? exit_ok : complain(kExplain, shown.error());
}

/// Runs the command, records it and says what the recording holds. The command's exit code, where it is none of success or the
/// command was too short.
int explain_command(const ExplainArguments& arguments) {
  if (is_one_of_ranks()) {
    return complain(kExplain,
                    invalid_input("started as one of several ranks, expected the launcher behind --: elbowroom explain -- "
                                  "torchrun ..."));
  }
  const Result<CommandRecording> recording = CommandRecording::prepare(arguments.after);
  if (!recording) { return complain(kExplain, recording.error()); }
  const auto begin = std::chrono::steady_clock::now();
  const Result<ChildEnd> end = run_child(*arguments.command, recording->changes(), {}, [] {});
  const std::chrono::duration<double> ran = std::chrono::steady_clock::now() - begin;
  if (!end) { return complain(kExplain, end.error()); }
  if (end->problem) {
    print_notice(kExplain, *end->problem);
    return end->exit_code;
  }
  const std::vector<std::string> notes = recording->notes();
  for (const std::string& note : notes) { print_notice(kExplain, note); }
  if (recording->traces().empty()) {
    if (notes.empty()) { print_notice(kExplain, nothing_recorded(ran.count(), arguments.after)); }
    const bool too_short = notes.empty() && ran.count() < arguments.after;
    return end->exit_code != exit_ok || too_short ? end->exit_code : exit_failed;
  }
  ExplainArguments traces = arguments;
  traces.traces = {recording->folder().string()};
  int code = explain_traces(traces);
  if (arguments.record) {
    if (Status kept = recording->keep(*arguments.record); !kept) { code = complain(kExplain, kept.error()); }
  }
  return end->exit_code != exit_ok ? end->exit_code : code;
}

Status check_source(const ExplainArguments& arguments) {
  if (arguments.command && !arguments.traces.empty()) {
    return invalid_input(fmt::format("'{}' before --: expected traces or a command, not both", arguments.traces.front()));
  }
  if (arguments.command && arguments.compare) { return invalid_input("--compare: expected two traces, and no command"); }
  if (arguments.command && arguments.command->empty()) { return invalid_input("expected a command behind --"); }
  if (!arguments.command && arguments.traces.empty()) {
    return invalid_input("expected traces, or -- and a command to record; elbowroom explain --help");
  }
  if (!arguments.command && arguments.record) { return invalid_input("--record: expected -- and a command to record"); }
  return arguments.record ? check_recording_file(*arguments.record) : Status();
}

int run_explain(const ExplainArguments& arguments) {
  if (Status source = check_source(arguments); !source) { return complain(kExplain, source.error()); }
  if (arguments.compare) { return run_compare(arguments); }
  if (Status writable = check_output(arguments); !writable) { return complain(kExplain, writable.error()); }
  return arguments.command ? explain_command(arguments) : explain_traces(arguments);
}

}  // namespace

void add_explain_command(CLI::App& app, const std::optional<std::vector<std::string>>& recorded, std::function<int()>& chosen) {
  CLI::App* command =
      app.add_subcommand("explain", "Says where a step's time goes and why, from the traces of a profiler or of a command");
  command->footer(
      "Call: elbowroom explain [OPTIONS] TRACE...\n      elbowroom explain [OPTIONS] -- COMMAND [ARGUMENTS]\nThe second records a "
      "few steps of the command, which is run as it is.");
  const auto arguments = std::make_shared<ExplainArguments>();
  arguments->command = recorded;
  command->add_option("trace", arguments->traces,
                      "Traces of torch.profiler of all ranks of one run: files, plain or packed by gzip or zstd, a tar archive, a "
                      "folder, or - for "
                      "standard input");
  command
      ->add_option("--after", arguments->after,
                   "Seconds after which a command is recorded at the latest; earlier where it has repeated its step 50 times")
      ->check(CLI::Range(0.0, 1e6))
      ->capture_default_str();
  command->add_option("--record", arguments->record, "Where the recording of a command stays: an archive of a trace a process");
  CLI::Option* json =
      command->add_option("--json", arguments->json, "Where the document elbowroom.explain/1 goes; - for standard output");
  CLI::Option* html =
      command->add_option("--html", arguments->html, "Where a page of it goes, which needs no network; - for standard output");
  command
      ->add_flag("--compare", arguments->compare,
                 "What changed between two runs of one program: TRACE is given twice; a table alone")
      ->excludes(json)
      ->excludes(html);
  command->callback([=, &chosen] { chosen = [arguments] { return run_explain(*arguments); }; });
}

}  // namespace elbowroom
