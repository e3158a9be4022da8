#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "doctor/checks.hpp"
#include "report/wrapped_text.hpp"

namespace elbowroom::doctor {
namespace {

bool has_gpu(const Facts& facts) {
  return !facts.gpus.empty() || std::ranges::find(facts.unusable, "hip", &UnusableBackend::name) == facts.unusable.end();
}

/// Where no GPU is, that comes before the checks.
std::string summary(const Facts& facts, const std::vector<Check>& checks) {
  const auto work = std::ranges::count(checks, State::to_do, &Check::state);
  const std::string asks =
      fmt::format("{} of {} checks ask for something to be done\n", work == 0 ? "none" : fmt::format("{}", work), checks.size());
  if (has_gpu(facts)) { return fmt::format("elbowroom {}: {}", facts.version, asks); }
  return fmt::format("elbowroom {}: no GPU: run changes nothing here, bench and tune simulate\n{}", facts.version,
                     work == 0 ? "" : asks);
}

}  // namespace

std::string to_table(const Facts& facts, const std::vector<Check>& checks, std::size_t width) {
  std::string lines = summary(facts, checks);
  for (const Check& check : checks) {
    const std::string head = fmt::format("  {:<6}  {:<16}  ", text(check.state), check.name);
    lines += detail::wrapped(head, check.found, head.size(), width);
    if (!check.to_do.empty()) {
      lines += detail::wrapped(std::string(head.size() - 3, ' ') + "-> ", check.to_do, head.size(), width);
    }
  }
  return lines;
}

std::string to_json(const Facts& facts, const std::vector<Check>& checks) {
  nlohmann::ordered_json rows = nlohmann::json::array();
  for (const Check& check : checks) {
    nlohmann::ordered_json row = {{"name", check.name}, {"state", text(check.state)}, {"found", check.found}};
    if (!check.to_do.empty()) { row["to_do"] = check.to_do; }
    rows.push_back(std::move(row));
  }
  const nlohmann::ordered_json document = {{"schema", "elbowroom.doctor/1"}, {"version", facts.version}, {"checks", rows}};
  return document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace elbowroom::doctor
