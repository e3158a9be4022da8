#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "explain/causes.hpp"
#include "explain/document.hpp"
#include "explain/words.hpp"
#include "report/display_width.hpp"

namespace elbowroom::explain {
namespace {

constexpr std::size_t kColumns = 80;
constexpr std::size_t kMostRows = 10;  // of a table; the document has all

std::string of_us(double us) { return duration(static_cast<Time>(std::llround(us * 1000))); }

std::string percent(double part, double whole) { return whole > 0 ? fmt::format("{:.1f} %", 100 * part / whole) : "-"; }

/// The words on lines of 80 columns, the later ones moved in.
std::string wrapped(std::string_view text, std::string_view indent) {
  std::string result(indent);
  std::size_t column = indent.size();
  bool fresh = true;
  while (!text.empty()) {
    const std::size_t space = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, space);
    const std::size_t width = detail::display_width(word);
    if (!fresh && column + 1 + width > kColumns) {
      result += '\n' + std::string(indent);
      column = indent.size();
      fresh = true;
    }
    if (!fresh) {
      result += ' ';
      ++column;
    }
    result += word;
    column += width;
    fresh = false;
    text.remove_prefix(std::min(space + 1, text.size()));
  }
  return result + '\n';
}

std::string what(const std::string& op, const std::optional<std::int64_t>& bytes) {
  return bytes ? fmt::format("{} of {}", op, size_words(*bytes)) : op;
}

std::string parts_table(const Explanation& explanation) {
  const Parts& parts = explanation.parts;
  std::string text;
  const auto line = [&](std::string_view name, double us, std::string_view note) {
    text += fmt::format("  {:<28}{:>10}{:>9}{}{}\n", name, of_us(us), percent(us, parts.step), note.empty() ? "" : "  ", note);
  };
  line("step, mean", parts.step, "");
  line("computation", parts.compute, "");
  line("exposed communication", parts.exposed, "at most this can be hidden");
  line("copies alone", parts.copies, "");
  line("idle, host had not launched", parts.host_not_launched, "");
  line("idle, known producer", parts.waiting_known, "");
  line("idle, producer unknown", parts.waiting_unknown, "");
  text += "  also, not to be added up:\n";
  line("all communication", parts.communication, "");
  line("blocking communication", parts.blocking, "what computes next waits");
  return text;
}

std::string exposures_table(const Explanation& explanation) {
  if (explanation.costs.empty()) { return ""; }
  std::string text = fmt::format("\n{:<34}{:>11}{:>8}  {}\n", "exposed collective", "a step", "count", "cause");
  for (std::size_t i = 0; i < std::min(explanation.costs.size(), kMostRows); ++i) {
    const Cost& cost = explanation.costs[i];
    text += fmt::format("  {:<32}{:>11}{:>8}  {}\n", detail::fitted(what(cost.collective, cost.bytes), 31), of_us(cost.us),
                        cost.count, to_string(cost.cause));
  }
  if (explanation.costs.size() > kMostRows) { text += fmt::format("  and {} more\n", explanation.costs.size() - kMostRows); }
  return text;
}

std::string evidence_text(const Explanation& explanation) {
  std::string text;
  for (const CauseSum& sum : causes_of(explanation)) {
    const Cost& cost = *sum.costs.front();
    text += wrapped(fmt::format("{}: {}. Longest on rank {}, {}: {}.", to_string(sum.cause), in_words(sum.cause), cost.rank,
                                what(cost.collective, cost.bytes), cost.evidence),
                    "  ");
  }
  return text.empty() ? text : "\nevidence\n" + text;
}

std::string collectives_table(const Explanation& explanation) {
  if (explanation.kinds.empty()) { return "\nno communication in the trace\n"; }
  std::string text =
      fmt::format("\n{:<34}{:>8}{:>11}{:>12}{:>12}\n", "collective, medians", "a rank", "duration", "transfer", "waiting");
  for (std::size_t i = 0; i < std::min(explanation.kinds.size(), kMostRows); ++i) {
    const CollectiveKind& kind = explanation.kinds[i];
    const auto [least, most] = std::minmax_element(kind.count.begin(), kind.count.end());
    const std::string count = *least == *most ? fmt::format("{}", *most) : fmt::format("{}..{}", *least, *most);
    text += fmt::format("  {:<32}{:>8}{:>11}{:>12}{:>12}\n", detail::fitted(what(kind.op, kind.bytes), 31), count, of_us(kind.us),
                        kind.transfer_us ? of_us(*kind.transfer_us) : "-", kind.waiting_us ? of_us(*kind.waiting_us) : "-");
    if (kind.imbalance) { text += fmt::format("    uneven: the greatest share is {:.2f} of the mean\n", *kind.imbalance); }
  }
  if (explanation.kinds.size() > kMostRows) { text += fmt::format("  and {} more\n", explanation.kinds.size() - kMostRows); }
  return text;
}

std::string stragglers_text(const Explanation& explanation) {
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(explanation.stragglers.size(), 3); ++i) {
    const Straggler& one = explanation.stragglers[i];
    text += fmt::format("  rank {}: last to {} of {} collectives, others waited {} each, {} a step\n", one.rank, one.last, one.of,
                        of_us(one.waited_us), of_us(one.waited_sum_us));
  }
  return text.empty() ? text : "\nwho comes last\n" + text;
}

std::string runs_in_words(std::size_t runs) { return fmt::format("{} run{}", runs, runs == 1 ? "" : "s"); }

std::string inflation_table(const Explanation& explanation) {
  std::string text;
  for (const ClassInflation& one : explanation.inflation) {
    if (one.runs == 0) {
      text += fmt::format("  {:<14}{} beside communication, none alone to compare with\n", one.kernels, runs_in_words(one.unknown));
    } else {
      // Kernels of a class that ran sooner beside communication were others: smaller, or on warmer caches.
      text += fmt::format("  {:<14}{:>11} a step  {:.2f} of the time alone, {}\n", one.kernels, one.us < 0 ? "-" : of_us(one.us),
                          one.ratio.value_or(1), runs_in_words(one.runs));
    }
  }
  return text.empty() ? text : "\nkernels beside communication, more than alone\n" + text;
}

std::string what_if_text(const Explanation& explanation) {
  const WhatIfs& all = explanation.what_if;
  if (all.changes.empty()) { return ""; }
  std::string text = fmt::format("\nwhat if, of the median step of {} (the replay misses steps by {:.1f} %)\n",
                                 of_us(explanation.step.median.count()), 100 * all.replay_error.value_or(0));
  for (const WhatIf& one : all.changes) {
    if (!one.refused.empty()) { continue; }
    text += fmt::format("  {:<18}{:>10}{:>9}  {}..{}{}\n", one.change, of_us(one.step.median.count()),
                        fmt::format("{:+.1f} %", 100 * (one.ratio - 1)), of_us(one.step.low.count()), of_us(one.step.high.count()),
                        one.ceiling ? ", at most" : "");
    text += wrapped(one.how.empty() ? one.words : fmt::format("{}; {}", one.words, one.how), "    ");
  }
  std::vector<std::pair<std::string, std::string>> refused;  // reason, changes
  for (const WhatIf& one : all.changes) {
    if (one.refused.empty()) { continue; }
    const auto same = std::find_if(refused.begin(), refused.end(), [&](const auto& other) { return other.first == one.refused; });
    if (same == refused.end()) {
      refused.emplace_back(one.refused, one.change);
    } else {
      same->second += ", " + one.change;
    }
  }
  for (const auto& [reason, changes] : refused) { text += wrapped(fmt::format("not {}: {}", changes, reason), "  "); }
  return text;
}

}  // namespace

std::string sentence(const Explanation& explanation) {
  const Parts& parts = explanation.parts;
  const std::vector<CauseSum> causes = causes_of(explanation);
  const double largest = causes.empty() ? 0 : causes.front().us;
  if (std::max({largest, parts.host_not_launched, parts.waiting_unknown}) < 0.01 * parts.step) {
    return fmt::format("Computation fills {} of a step of {}; no cause costs a percent of it.", percent(parts.compute, parts.step),
                       of_us(parts.step));
  }
  const bool waits_for_host = parts.host_not_launched >= largest && parts.host_not_launched >= parts.waiting_unknown;
  constexpr double kMostly = 0.9;
  if (parts.compute >= kMostly * parts.step && (waits_for_host || parts.waiting_unknown > largest)) {
    return fmt::format("Computation fills {} of a step of {}; the GPU {}.", percent(parts.compute, parts.step), of_us(parts.step),
                       waits_for_host
                           ? fmt::format("waits for the host {}", of_us(parts.host_not_launched))
                           : fmt::format("is idle {} behind something that is not in the trace", of_us(parts.waiting_unknown)));
  }
  if (waits_for_host) {
    return fmt::format("The GPU waits for the host {} of a step of {} ({}): nothing was launched.", of_us(parts.host_not_launched),
                       of_us(parts.step), percent(parts.host_not_launched, parts.step));
  }
  if (parts.waiting_unknown > largest) {
    return fmt::format("The GPU is idle {} of a step of {} ({}) behind something that is not in the trace.",
                       of_us(parts.waiting_unknown), of_us(parts.step), percent(parts.waiting_unknown, parts.step));
  }
  const Cost& cost = *causes.front().costs.front();
  return fmt::format("Communication is exposed {} of a step of {} ({}), {} of it because {}, mostly {}.", of_us(parts.exposed),
                     of_us(parts.step), percent(parts.exposed, parts.step), of_us(largest), in_words(causes.front().cause),
                     what(cost.collective, cost.bytes));
}

std::string in_words(const Explanation& explanation) {
  const RankSummary& first = explanation.ranks.front();
  std::string text = wrapped(sentence(explanation), "");
  const std::string device = explanation.device.empty() ? "an unnamed device" : explanation.device;
  text += '\n' + wrapped(fmt::format("{}, {} rank{}, {} step{} by {}; a step lasts {} ({}..{})", device, explanation.ranks.size(),
                                     explanation.ranks.size() == 1 ? "" : "s", explanation.steps, explanation.steps == 1 ? "" : "s",
                                     first.anchor, of_us(explanation.step.median.count()), of_us(explanation.step.low.count()),
                                     of_us(explanation.step.high.count())),
                         "");
  text += parts_table(explanation);
  text += exposures_table(explanation);
  text += evidence_text(explanation);
  text += collectives_table(explanation);
  text += stragglers_text(explanation);
  text += inflation_table(explanation);
  text += what_if_text(explanation);
  return text;
}

}  // namespace elbowroom::explain
