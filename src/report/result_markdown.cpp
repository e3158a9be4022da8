#include "elbowroom/report/result_markdown.hpp"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "elbowroom/plan/hardware_limit.hpp"
#include "elbowroom/report/result_columns.hpp"
#include "elbowroom/report/result_document.hpp"
#include "elbowroom/report/scenario_line.hpp"
#include "report/case_lines.hpp"
#include "report/markdown_text.hpp"

namespace elbowroom {
namespace {

using detail::escaped;

std::string head(const std::vector<ResultColumn>& columns, const TableScale& scale) {
  std::string names = "|";
  std::string rule = "|";
  for (const ResultColumn& column : columns) {
    const std::string_view unit = unit_of(column, scale);
    names += fmt::format(" {}{} |", heading_of(column), unit.empty() ? "" : fmt::format(" ({})", unit));
    rule += column.alignment == Alignment::left ? " --- |" : " ---: |";
  }
  return names + "\n" + rule + "\n";
}

std::string row(const std::vector<ResultColumn>& columns, const SchemeResult& result, const TableScale& scale,
                std::string_view emphasis) {
  std::string line = "|";
  for (const ResultColumn& column : columns) {
    const std::string cell = column.cell(result, scale);
    line += cell == kAbsentCell ? fmt::format(" {} |", cell) : fmt::format(" {0}{1}{0} |", emphasis, escaped(cell));
  }
  return line + "\n";
}

std::string remarks(const CaseResult& result) {
  std::string lines;
  for (const SchemeResult& scheme : result.results) {
    if (const std::string rare = detail::rare_controls(scheme); !rare.empty()) {
      lines += fmt::format("- `{}`: {}\n", scheme.scheme, rare);
    }
    if (scheme.note) { lines += fmt::format("- `{}`: {}\n", scheme.scheme, escaped(*scheme.note)); }
  }
  for (const std::string& line : detail::energy_lines(result)) { lines += fmt::format("- {}\n", escaped(line)); }
  for (const Refusal& refusal : result.refusals) {
    lines += fmt::format("- `{}`: refused: {}\n", refusal.scheme, escaped(refusal.reason));
  }
  return lines.empty() ? lines : "\n" + lines;
}

std::string section(const CaseResult& result, const Origin& origin) {
  const TableScale scale = table_scale(result, origin.device.model);
  const std::vector<ResultColumn> columns = columns_of(result);
  const SchemeResult* best = best_result(result);
  const std::string limit = result.hardware_limit ? fmt::format("- {}\n", detail::limit_line(*result.hardware_limit, scale)) : "";
  std::string text = fmt::format("\n### {} ({})\n\n- {}\n- {}\n{}- {}\n", escaped(name_of(result.what)),
                                 to_string(origin.provenance), escaped(case_line(result.what)), detail::alone_line(result, scale),
                                 limit, detail::statistics_line(result, origin.device.model));
  if (!result.results.empty()) { text += "\n" + head(columns, scale); }
  for (const SchemeResult& scheme : result.results) { text += row(columns, scheme, scale, &scheme == best ? "**" : ""); }
  return text + remarks(result);
}

}  // namespace

std::string to_markdown(const ResultDocument& document) {
  std::string text = detail::markdown_head(document.origin);
  if (const auto model = model_line(document.origin)) { text += fmt::format("\n{}.\n", escaped(*model)); }
  for (const CaseResult& result : document.cases) { text += section(result, document.origin); }
  return text;
}

}  // namespace elbowroom
