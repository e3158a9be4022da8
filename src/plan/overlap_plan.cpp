#include "elbowroom/plan/overlap_plan.hpp"

#include <fmt/format.h>

#include "elbowroom/plan/controls.hpp"

namespace elbowroom {

std::string in_words(const OverlapPlan& plan) {
  std::string words;
  const auto add = [&](const PlanMember& member, std::int64_t value) {
    words += fmt::format("{}{}", words.empty() ? "" : ", ", fmt::format(fmt::runtime(member.words), value));
  };
  for (const Control& control : controls()) {
    const std::optional<std::int64_t> value = control.get(plan);
    if (value) { add(control, *value); }
    if (value || control.consequence == nullptr) { continue; }
    // Somebody may have set it by itself.
    if (const auto alone = control.consequence->get(plan); alone && *alone != 0) { add(*control.consequence, *alone); }
  }
  return words.empty() ? "no control" : words;
}

}  // namespace elbowroom
