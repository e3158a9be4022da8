#include "explain_command.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "console.hpp"
#include "exit_code.hpp"
#include "explain/comparison.hpp"
#include "explain/document.hpp"
#include "explain/explanation.hpp"
#include "output.hpp"
#include "page/html.hpp"
#include "page/readers.hpp"
#include "page_assets.hpp"
#include "report/schemas.hpp"
#include "trace_files.hpp"

namespace elbowroom {
namespace {

constexpr std::string_view kExplain = "elbowroom explain";

struct ExplainArguments {
  std::vector<std::string> traces;
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

int run_explain(const ExplainArguments& arguments) {
  if (arguments.compare) { return run_compare(arguments); }
  if (Status writable = check_output(arguments); !writable) { return complain(kExplain, writable.error()); }
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

}  // namespace

void add_explain_command(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* command = app.add_subcommand("explain", "Says where a step's time goes and why, from the traces of a profiler");
  const auto arguments = std::make_shared<ExplainArguments>();
  command
      ->add_option("trace", arguments->traces,
                   "Traces of torch.profiler of all ranks of one run: files, plain or packed by gzip or zstd, a tar archive, a "
                   "folder, or - for "
                   "standard input")
      ->required();
  CLI::Option* json =
      command->add_option("--json", arguments->json, "Where the document elbowroom.explain/1 goes; - for standard output");
  CLI::Option* html =
      command->add_option("--html", arguments->html, "Where a page of it goes, which needs no network; - for standard output");
  command->add_flag("--compare", arguments->compare, "What changed between two runs of one program: TRACE is given twice")
      ->excludes(json)
      ->excludes(html);
  command->callback([=, &chosen] { chosen = [arguments] { return run_explain(*arguments); }; });
}

}  // namespace elbowroom
