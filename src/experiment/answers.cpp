#include "elbowroom/experiment/answers.hpp"

#include <fmt/format.h>

#include "elbowroom/report/result_document.hpp"

namespace elbowroom {

std::vector<std::string> cases_below(const ResultDocument& document, double percent) {
  std::vector<std::string> lines;
  for (const CaseResult& result : document.cases) {
    const SchemeResult* best = best_result(result);
    const double reduction = best != nullptr ? 100 * best->metrics.reduction.value_or(0) : 0;
    if (reduction >= percent) { continue; }
    lines.push_back(
        fmt::format("{}: the best reduction is {:.1f} %, expected at least {:g} %", name_of(result.what), reduction, percent));
  }
  return lines;
}

std::vector<std::string> refused_requests(const ResultDocument& document) {
  std::vector<std::string> lines;
  for (const CaseResult& result : document.cases) {
    for (const Refusal& refusal : result.refusals) {
      if (refusal.asked_for) {
        lines.push_back(fmt::format("{}: {} was refused: {}", name_of(result.what), refusal.scheme, refusal.reason));
      }
    }
  }
  return lines;
}

}  // namespace elbowroom
