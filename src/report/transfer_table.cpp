#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "elbowroom/report/result_markdown.hpp"
#include "elbowroom/report/scenario_line.hpp"
#include "elbowroom/report/transfer_document.hpp"
#include "report/markdown_text.hpp"
#include "report/schedule_words.hpp"

namespace elbowroom {
namespace {

double percent_more(double ratio) { return 100 * (ratio - 1); }

std::string milliseconds_of(const Summary& time) { return fmt::format("{:.3f}", time.median.count() / 1000); }

std::string regret_of(const ComparedTime& compared) { return fmt::format("{:.2f}", 100 * compared.regret()); }

std::string interval_of(const ComparedTime& compared) {
  if (compared.ratio.low == compared.ratio.high) { return "-"; }
  return fmt::format("{:.2f}..{:.2f}", percent_more(compared.ratio.low), percent_more(compared.ratio.high));
}

std::string plan_words(Scheme scheme, const OverlapPlan& plan) { return detail::schedule_words(to_string(scheme), plan); }

std::string made_for(const Transferred& row) {
  return row.differs.empty() ? "this case" : fmt::format("{}", fmt::join(row.differs, "; "));
}

std::string table_row(const ComparedTime& compared, std::string_view label, std::size_t width, const std::string& plan) {
  return fmt::format("{:>11} {:>9} {:>16}  {:<{}}  {}\n", milliseconds_of(compared.time), regret_of(compared),
                     interval_of(compared), label, width, plan);
}

/// Where no choice of the case itself came along, a regret is only the least that it can be.
constexpr std::string_view kLeastRegret =
    "no profile holds a choice of this very case that ran: the best of all may be better, and a regret greater";

}  // namespace

std::string to_table(const TransferCase& found, const Origin& origin) {
  std::size_t width = 0;
  for (const TransferBaseline& baseline : found.baselines) { width = std::max(width, to_string(baseline.scheme).size()); }
  for (const Transferred& row : found.transferred) { width = std::max(width, row.profile.size()); }
  std::string text =
      fmt::format("# {}: {}\n# best here: {}, {} ms; regret: what a plan takes more than that\n", to_string(origin.provenance),
                  scenario_line(found.scenario), found.best, milliseconds_of(found.best_time));
  if (!found.knows_its_own()) { text += fmt::format("# {}\n", kLeastRegret); }
  text += fmt::format("#   time ms  regret %       interval %  {:<{}}  plan\n", "from", width);
  for (const TransferBaseline& baseline : found.baselines) {
    text += table_row(baseline.compared, to_string(baseline.scheme), width, plan_words(baseline.scheme, baseline.plan));
  }
  for (const Transferred& row : found.transferred) {
    if (row.compared) { text += table_row(*row.compared, row.profile, width, plan_words(row.scheme, row.plan)); }
  }
  for (const Transferred& row : found.transferred) {
    if (row.compared) { text += fmt::format("# {}: made for {}\n", row.profile, made_for(row)); }
    if (row.refused) { text += fmt::format("# {}: refused: {}\n", row.profile, *row.refused); }
  }
  return text;
}

std::string to_markdown(const TransferDocument& document) {
  using detail::escaped;
  std::string text = detail::markdown_head(document.origin);
  if (const auto model = model_line(document.origin)) { text += escaped(*model) + ".\n"; }
  text += "\n| case | best here | its time (ms) | profile | its plan | made for | time (ms) | regret (%) | interval (%) |\n";
  text += "| --- | --- | ---: | --- | --- | --- | ---: | ---: | ---: |\n";
  bool least = false;
  for (const TransferCase& found : document.cases) {
    const std::string name = found.scenario.name + (found.knows_its_own() ? "" : " \\*");
    least = least || !found.knows_its_own();
    for (const Transferred& row : found.transferred) {
      text +=
          fmt::format("| {} | {} | {} | {} | ", name, escaped(found.best), milliseconds_of(found.best_time), escaped(row.profile));
      if (row.compared) {
        text += fmt::format("{} | {} | {} | {} | {} |\n", escaped(plan_words(row.scheme, row.plan)), escaped(made_for(row)),
                            milliseconds_of(row.compared->time), regret_of(*row.compared), interval_of(*row.compared));
      } else {
        text += fmt::format("refused: {} | {} | | | |\n", escaped(row.refused.value_or("")), escaped(made_for(row)));
      }
    }
  }
  if (least) { text += fmt::format("\n\\* {}.\n", kLeastRegret); }
  return text;
}

}  // namespace elbowroom
