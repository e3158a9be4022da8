#include "explain/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "explain/words.hpp"
#include "report/display_width.hpp"

namespace elbowroom::explain {
namespace {

constexpr std::size_t kMostChanges = 8;

using Costs = std::map<std::string, double>;

std::vector<Change> changes(const Costs& before, const Costs& after) {
  std::map<std::string, Change> all;
  for (const auto& [what, us] : before) { all[what] = {what, us, 0}; }
  for (const auto& [what, us] : after) {
    all[what].what = what;
    all[what].after_us = us;
  }
  std::vector<Change> result;
  result.reserve(all.size());
  for (auto& [what, change] : all) { result.push_back(std::move(change)); }
  std::stable_sort(result.begin(), result.end(),
                   [](const Change& a, const Change& b) { return std::abs(a.more()) > std::abs(b.more()); });
  return result;
}

Costs parts_of(const Explanation& explanation) {
  const Parts& parts = explanation.parts;
  return {{"computation", parts.compute},
          {"exposed communication", parts.exposed},
          {"copies alone", parts.copies},
          {"idle, host had not launched", parts.host_not_launched},
          {"idle, known producer", parts.waiting_known},
          {"idle, producer unknown", parts.waiting_unknown}};
}

Costs kernels_of(const Explanation& explanation) {
  Costs costs;
  for (const KernelTime& kernel : explanation.kernels) { costs[kernel.name] += kernel.us; }
  return costs;
}

Costs exposures_of(const Explanation& explanation) {
  Costs costs;
  for (const Cost& cost : explanation.costs) {
    const std::string size = cost.bytes ? " of " + size_words(*cost.bytes) : "";
    costs[fmt::format("{}{}, {}", cost.collective, size, to_string(cost.cause))] += cost.us;
  }
  return costs;
}

std::string us_words(double us) { return duration(static_cast<Time>(std::llround(us * 1000))); }

std::string signed_words(double us) { return (us < 0 ? "-" : "+") + us_words(std::abs(us)); }

/// Changes below a thousandth of the step are left out.
std::string changes_table(std::string_view title, const std::vector<Change>& rows, double step) {
  std::string text;
  for (std::size_t i = 0; i < std::min(rows.size(), kMostChanges); ++i) {
    const Change& change = rows[i];
    if (std::abs(change.more()) < 0.001 * step) { break; }
    text += fmt::format("  {:<38}{:>12}{:>12}{:>13}\n", detail::fitted(change.what, 37), us_words(change.before_us),
                        us_words(change.after_us), signed_words(change.more()));
  }
  return text.empty() ? text : fmt::format("\n{:<40}{:>12}{:>12}{:>13}\n", title, "before", "after", "change") + text;
}

}  // namespace

Comparison compare(const Explanation& before, const Explanation& after) {
  return {{"step, mean", before.parts.step, after.parts.step},
          changes(parts_of(before), parts_of(after)),
          changes(kernels_of(before), kernels_of(after)),
          changes(exposures_of(before), exposures_of(after))};
}

std::string in_words(const Comparison& comparison) {
  const Change& step = comparison.step;
  const double share = step.before_us > 0 ? 100 * step.more() / step.before_us : 0;
  const Change& largest = comparison.parts.front();
  const bool alike = std::abs(step.more()) < 0.001 * step.before_us && std::abs(largest.more()) < 0.001 * step.before_us;
  std::string text =
      alike ? fmt::format("A step lasts {} in both; no part changed by a thousandth of it.\n", us_words(step.after_us))
            : fmt::format("A step lasts {} instead of {} ({:+.1f} %);\n{} changed most, by {}.\n", us_words(step.after_us),
                          us_words(step.before_us), share, largest.what, signed_words(largest.more()));
  text += changes_table("part of a step", comparison.parts, step.before_us);
  text += changes_table("kernel, time a step", comparison.kernels, step.before_us);
  text += changes_table("exposed collective and cause", comparison.exposures, step.before_us);
  return text;
}

}  // namespace elbowroom::explain
