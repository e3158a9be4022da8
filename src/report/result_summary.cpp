#include "elbowroom/report/result_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <functional>
#include <map>
#include <numeric>
#include <string_view>
#include <utility>
#include <vector>

#include "elbowroom/report/origin.hpp"
#include "elbowroom/report/result_columns.hpp"
#include "elbowroom/report/result_document.hpp"
#include "report/display_width.hpp"

namespace elbowroom {
namespace {

struct SummaryLine {
  std::string name;
  std::string scheme;
  std::string time;
  std::string reduction;
};

SummaryLine summary_line(const CaseResult& result, const Origin& origin) {
  const SchemeResult* best = best_result(result);
  const std::string name(name_of(result.what));
  if (best == nullptr) { return {name, result.results.empty() ? "no scheme ran" : "what was asked for was refused", "-", "-"}; }
  const TableScale scale = table_scale(result, origin.device.model);
  const std::optional<double>& reduction = best->metrics.reduction;
  return {name, best->scheme, fmt::format("{} {}", format_time(best->time.median, scale), scale.unit),
          reduction ? fmt::format("{:.{}f} %", 100 * *reduction, scale.share_decimals) : "-"};
}

std::string all_lines(const std::vector<SummaryLine>& lines) {
  const auto widest = [&](std::string SummaryLine::* member) {
    std::size_t width = 0;
    for (const SummaryLine& line : lines) { width = std::max(width, detail::display_width(line.*member)); }
    return width;
  };
  std::string text;
  for (const SummaryLine& line : lines) {
    text += fmt::format("#   {:<{}}  {:<{}}  {:>{}}  {:>{}}\n", line.name, widest(&SummaryLine::name), line.scheme,
                        widest(&SummaryLine::scheme), line.time, widest(&SummaryLine::time), line.reduction,
                        widest(&SummaryLine::reduction));
  }
  return text;
}

/// "shaped_priority in 12, priority in 5".
std::string counts_in_words(const ResultDocument& document) {
  std::map<std::string_view, int> counts;
  for (const CaseResult& result : document.cases) {
    if (const SchemeResult* best = best_result(result)) { ++counts[best->scheme]; }
  }
  std::vector<std::pair<std::string_view, int>> sorted(counts.begin(), counts.end());
  std::ranges::stable_sort(sorted, std::greater(), &std::pair<std::string_view, int>::second);
  std::string words;
  for (const auto& [scheme, count] : sorted) { words += fmt::format("{}{} in {}", words.empty() ? "" : ", ", scheme, count); }
  return words.empty() ? "none" : words;
}

std::string median_in_words(const ResultDocument& document) {
  std::vector<double> reductions;
  for (const CaseResult& result : document.cases) {
    const SchemeResult* best = best_result(result);
    if (best != nullptr && best->metrics.reduction) { reductions.push_back(*best->metrics.reduction); }
  }
  if (reductions.empty()) { return ""; }
  std::ranges::sort(reductions);
  const std::size_t middle = reductions.size() / 2;
  const double median = reductions.size() % 2 == 1 ? reductions[middle] : std::midpoint(reductions[middle - 1], reductions[middle]);
  return fmt::format("; median reduction {:.1f} %", 100 * median);
}

}  // namespace

std::string summary_table(const ResultDocument& document) {
  std::vector<SummaryLine> lines;
  lines.reserve(document.cases.size());
  for (const CaseResult& result : document.cases) { lines.push_back(summary_line(result, document.origin)); }
  return fmt::format(
      "# {}: summary of {} cases: the scheme of least median time, and its reduction against sequential\n{}# best: {}{}\n",
      to_string(document.origin.provenance), document.cases.size(), all_lines(lines), counts_in_words(document),
      median_in_words(document));
}

}  // namespace elbowroom
