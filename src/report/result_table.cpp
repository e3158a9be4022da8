#include "elbowroom/report/result_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/plan/hardware_limit.hpp"
#include "elbowroom/report/origin.hpp"
#include "elbowroom/report/result_columns.hpp"
#include "elbowroom/report/result_document.hpp"
#include "elbowroom/report/scenario_line.hpp"
#include "report/case_lines.hpp"
#include "report/display_width.hpp"

namespace elbowroom {
namespace {

using detail::display_width;
using Row = std::vector<std::string>;

std::string padded(const std::string& text, std::size_t width, Alignment alignment) {
  const std::string blanks(width - display_width(text), ' ');
  return alignment == Alignment::left ? text + blanks : blanks + text;
}

/// `text` after `# `, broken at blanks so that no line but a single long word passes `width` or
/// kTableWidth.
std::string comment(std::string_view text, std::size_t width) {
  constexpr std::string_view blanks = " \n\r\t";
  std::string lines;
  std::string line = "#";
  for (std::size_t begin = text.find_first_not_of(blanks); begin != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(blanks, begin), text.size());
    const std::string_view word = text.substr(begin, end - begin);
    if (display_width(line) + 1 + display_width(word) > std::min(width, kTableWidth)) {
      lines += line + "\n";
      line = "#  ";
    }
    line += fmt::format(" {}", word);
    begin = text.find_first_not_of(blanks, end);
  }
  return lines + line + "\n";
}

/// Two lines of headings and one of units.
std::vector<Row> head_rows(const std::vector<ResultColumn>& columns, const TableScale& scale) {
  std::vector<Row> rows(3);
  for (const ResultColumn& column : columns) {
    const std::string_view unit = unit_of(column, scale);
    rows[0].emplace_back(column.upper);
    rows[1].emplace_back(column.lower);
    rows[2].push_back(unit.empty() ? "" : fmt::format("({})", unit));
  }
  return rows;
}

Row body_row(const std::vector<ResultColumn>& columns, const SchemeResult& result, const TableScale& scale) {
  Row row;
  for (const ResultColumn& column : columns) { row.push_back(column.cell(result, scale)); }
  return row;
}

std::vector<std::size_t> widths_of(const std::vector<Row>& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const Row& row : rows) {
    for (std::size_t i = 0; i < row.size(); ++i) { widths[i] = std::max(widths[i], display_width(row[i])); }
  }
  return widths;
}

std::string aligned(char mark, const Row& row, const std::vector<std::size_t>& widths, const std::vector<ResultColumn>& columns) {
  std::string line(1, mark);
  for (std::size_t i = 0; i < row.size(); ++i) { line += " " + padded(row[i], widths[i], columns[i].alignment); }
  line.erase(line.find_last_not_of(' ') + 1);
  return line + "\n";
}

/// Tags of the columns that a narrow table goes without, the first to leave first.
constexpr std::array<std::string_view, 11> kLeaving = {
    "plan.cluster",       "time_ratio",       "energy.idle_joules", "comm_inflation",    "compute_inflation", "plan.comm_blocks",
    "overlap_efficiency", "energy.low..high", "limited_by",         "time_us.low..high", "overlap_rate"};

std::string grid(const std::vector<ResultColumn>& columns, const CaseResult& result, const TableScale& scale) {
  const std::vector<Row> head = head_rows(columns, scale);
  std::vector<Row> rows = head;
  for (const SchemeResult& scheme : result.results) { rows.push_back(body_row(columns, scheme, scale)); }
  const std::vector<std::size_t> widths = widths_of(rows);
  const SchemeResult* best = best_result(result);

  std::string text;
  for (const Row& row : head) { text += aligned('#', row, widths, columns); }
  for (std::size_t i = 0; i < result.results.size(); ++i) {
    text += aligned(&result.results[i] == best ? '*' : ' ', rows[head.size() + i], widths, columns);
  }
  return text;
}

bool fits(std::string_view text, std::size_t width) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (display_width(line) > width) { return false; }
    text.remove_prefix(std::min(text.size(), line.size() + 1));
  }
  return true;
}

/// The whole grid, or one without the columns that must leave and a line of their names.
std::string fitting_grid(const CaseResult& result, const TableScale& scale, std::size_t width) {
  std::vector<ResultColumn> columns = columns_of(result);
  std::string text = grid(columns, result, scale);
  std::string without;
  for (const std::string_view tag : kLeaving) {
    if (fits(text, width)) { break; }
    const auto leaves = std::ranges::find(columns, tag, &ResultColumn::tag);
    if (leaves == columns.end()) { continue; }
    without += (without.empty() ? "" : ", ") + heading_of(*leaves);
    columns.erase(leaves);
    text = grid(columns, result, scale);
  }
  return without.empty() ? text : text + comment(fmt::format("--wide adds {}", without), width);
}

/// The least median may be so by chance.
std::optional<std::string> level_line(const CaseResult& result, Provenance provenance) {
  const SchemeResult* best = best_result(result);
  if (best == nullptr) { return std::nullopt; }
  std::vector<std::string_view> level;
  for (const SchemeResult& other : result.results) {
    if (&other != best && other.time.low <= best->time.high) { level.emplace_back(other.scheme); }
  }
  if (level.empty()) { return std::nullopt; }
  const std::string_view otherwise = level.size() == 1 ? "measure on GPUs, or take either" : "measure on GPUs, or take any of them";
  return fmt::format("{} cannot be told from {}, whose intervals overlap: {}", best->scheme, fmt::join(level, ", "),
                     provenance == Provenance::simulated ? otherwise : "more --trials may tell");
}

}  // namespace

std::string table_preamble(const Origin& origin, std::size_t width) {
  std::string text = comment(fmt::format("elbowroom: {}", device_line(origin)), width) +
                     comment(fmt::format("versions: {}", versions_line(origin)), width);
  if (const auto model = model_line(origin)) { text += comment(*model, width); }
  return text;
}

std::string to_table(const CaseResult& result, const Origin& origin, std::size_t width) {
  const TableScale scale = table_scale(result, origin.device.model);
  const auto comment = [width](std::string_view line) { return elbowroom::comment(line, width); };
  std::string text = comment(fmt::format("{}: {}", to_string(origin.provenance), case_line(result.what)));
  text += comment(detail::alone_line(result, scale));
  if (result.hardware_limit) { text += comment(detail::limit_line(*result.hardware_limit, scale)); }
  text += comment(fmt::format("{}{}", detail::statistics_line(result, origin.device.model),
                              best_result(result) == nullptr ? "" : "; * least median"));
  if (!result.results.empty()) { text += fitting_grid(result, scale, width); }
  if (const auto level = level_line(result, origin.provenance)) { text += comment(*level); }
  for (const SchemeResult& scheme : result.results) {
    if (const std::string rare = detail::rare_controls(scheme); !rare.empty()) {
      text += comment(fmt::format("{}: {}", scheme.scheme, rare));
    }
    if (scheme.note) { text += comment(fmt::format("{}: {}", scheme.scheme, *scheme.note)); }
  }
  for (const std::string& line : detail::energy_lines(result)) { text += comment(line); }
  for (const Refusal& refusal : result.refusals) {
    text += comment(fmt::format("{}: refused: {}", refusal.scheme, refusal.reason));
  }
  return text;
}

std::string to_table(const ResultDocument& document) {
  std::string text = table_preamble(document.origin);
  for (const CaseResult& result : document.cases) { text += "#\n" + to_table(result, document.origin); }
  return text;
}

}  // namespace elbowroom
