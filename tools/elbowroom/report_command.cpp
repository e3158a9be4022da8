#include "report_command.hpp"

#include <fmt/format.h>

#include <array>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "console.hpp"
#include "exit_code.hpp"
#include "output.hpp"
#include "packed_file.hpp"
#include "page/html.hpp"
#include "page/readers.hpp"
#include "page_assets.hpp"

namespace elbowroom {
namespace {

constexpr std::string_view kReport = "elbowroom report";

struct ReportArguments {
  std::vector<std::string> files;
  std::string output = "report.html";
};

/// The page replaces nothing that is not a page, and no document that it is made of.
Status check_output(const ReportArguments& arguments) {
  const NamedFile output("--html", arguments.output);
  for (const std::string& file : arguments.files) {
    const std::array files{NamedFile("FILE", file), output};
    if (Status distinct = check_distinct(files); !distinct) { return distinct; }
  }
  const std::array outputs{OutputFile{output, page::kPageSchema}};
  return check_outputs(outputs);
}

/// All documents, or a line for each that cannot be read and none of them.
std::vector<page::Document> read_documents(const std::vector<std::string>& files) {
  std::vector<page::Document> documents;
  bool all = true;
  for (const std::string& file : files) {
    Result<std::string> text = read_packed_file(file);
    Result<page::Document> document = text ? page::read_document(*text, file) : Result<page::Document>(text.error());
    if (document) {
      documents.push_back(*std::move(document));
    } else {
      complain(kReport, document.error());
      all = false;
    }
  }
  if (!all) { documents.clear(); }
  return documents;
}

int run_report(const ReportArguments& arguments) {
  const Result<page::Assets> assets = page::embedded_assets();
  if (!assets) { return complain(kReport, assets.error()); }
  if (Status writable = check_output(arguments); !writable) { return complain(kReport, writable.error()); }
  page::Page page{ELBOWROOM_VERSION, {"elbowroom", "report"}, read_documents(arguments.files)};
  if (page.documents.empty()) { return exit_bad_input; }
  page.command.insert(page.command.end(), arguments.files.begin(), arguments.files.end());
  const std::string html = page::to_html(page, *assets);
  if (Status written = write_document(arguments.output, page::kPageSchema, html); !written) {
    return complain(kReport, written.error());
  }
  if (arguments.output == "-") { return exit_ok; }
  const std::size_t documents = page.documents.size();
  const Status shown = print_table(fmt::format("{}: {} document{}, {} kB\n", arguments.output, documents, documents == 1 ? "" : "s",
                                               (html.size() + 999) / 1000));
  return shown ? exit_ok : complain(kReport, shown.error());
}

}  // namespace

void add_report_command(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* command =
      app.add_subcommand("report", "Makes one page, which needs no network, of documents that other commands wrote");
  const auto arguments = std::make_shared<ReportArguments>();
  command
      ->add_option("file", arguments->files,
                   "Results, tunings, reports of run, validations, explanations and traces, plain or packed by gzip")
      ->required();
  command->add_option("-o,--output,--html", arguments->output, "Where the page goes; - for standard output")->capture_default_str();
  command->callback([=, &chosen] { chosen = [arguments] { return run_report(*arguments); }; });
}

}  // namespace elbowroom
