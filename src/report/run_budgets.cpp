#include "report/run_budgets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

namespace elbowroom::detail {
namespace {

using Budget = ProcessReport::Trial::Budget;

std::string gain_of(const Budget::Arm& arm) { return fmt::format("{:.1f} % ({:.1f}..{:.1f}, 95 %)", arm.gain, arm.low, arm.high); }

const Budget::Arm* kept_arm(const Budget& budget) {
  const auto found = std::ranges::find(budget.arms, budget.kept.value_or(BlockBudget()), &Budget::Arm::budget);
  return found == budget.arms.end() ? nullptr : &*found;
}

double gain(const Budget& budget) {
  const Budget::Arm* arm = kept_arm(budget);
  return arm == nullptr ? 0 : arm->gain;
}

std::string what_was_tried(const Budget& budget) {
  std::string text = "fewer blocks for collectives gained nothing";
  const char* before = " (";
  for (const Budget::Arm& arm : budget.arms) {
    if (!arm.budget.blocks) { continue; }
    text += fmt::format("{}{}: {}", before, *arm.budget.blocks, gain_of(arm));
    before = ", ";
  }
  return budget.arms.size() > 1 ? text + ")" : text;
}

std::string kept(const Budget& budget, std::int64_t blocks) {
  constexpr const char* bits = "sums may differ in their last bits";
  const Budget::Arm* arm = kept_arm(budget);
  if (!budget.decisions || arm == nullptr) {
    return fmt::format("collectives kept to {} blocks, as an earlier run found, not checked in this one, {}", blocks, bits);
  }
  return fmt::format("collectives kept to {} blocks: steps take {} less, {}", blocks, gain_of(*arm), bits);
}

/// Why ranks could not agree in any communicator; the report's words.
std::optional<std::string> why_not_agreed(const ProcessReport& process) {
  const auto& agreement = process.activity.library.agreement;
  if (agreement.empty() || agreement.contains("possible")) { return std::nullopt; }
  const auto most = std::ranges::max_element(agreement, {}, &std::pair<const std::string, std::int64_t>::second);
  return most->first;
}

std::string nothing_compared(const ProcessReport& process) {
  const std::optional<std::string> agreement = why_not_agreed(process);
  const std::optional<std::string> why = agreement ? agreement : process.trial.budget.reason;
  return fmt::format("no budget of blocks was compared: {}", why.value_or("the program ended before"));
}

}  // namespace

const ProcessReport* budget_decider(const RunReport& report) {
  const ProcessReport* least = nullptr;
  for (const ProcessReport& process : report.processes) {
    const Budget& budget = process.trial.budget;
    if (budget.decides != Decider::this_process || !budget.kept) { continue; }
    if (least == nullptr || gain(budget) < gain(least->trial.budget)) { least = &process; }
  }
  return least;
}

std::string budget_in_words(const Budget& budget) {
  if (budget.kept && budget.kept->blocks) { return kept(budget, *budget.kept->blocks); }
  return what_was_tried(budget);
}

std::string budgets_in_words(const RunReport& report) {
  if (report.no_budgets) { return fmt::format("; no budget of blocks was compared because of {}", *report.no_budgets); }
  if (const ProcessReport* decider = budget_decider(report)) { return "; " + budget_in_words(decider->trial.budget); }
  const auto compares = [](const ProcessReport& process) { return process.trial.budget.state && process.trial.decisions > 0; };
  const auto deciding = [&](const ProcessReport& process) {
    return compares(process) && process.trial.budget.decides == Decider::this_process;
  };
  auto found = std::ranges::find_if(report.processes, deciding);
  if (found == report.processes.end()) { found = std::ranges::find_if(report.processes, compares); }
  return found == report.processes.end() ? "" : "; " + nothing_compared(*found);
}

}  // namespace elbowroom::detail
