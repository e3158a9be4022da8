#include "page/energy_view.hpp"

#include <algorithm>
#include <utility>

namespace elbowroom::page {

void EnergyView::add(Members& schedule, const std::string& label, const std::optional<std::string>& detail) {
  if (!schedule.has("energy")) { return; }
  Members energy = schedule.object("energy");
  Timed row;
  row.label = label;
  row.detail = detail;
  row.median = energy.exact("joules");
  row.low = energy.exact("low");
  row.high = energy.exact("high");
  row.confidence = energy.exact("confidence");
  if (!row.median.is_null()) { times_.rows.push_back(std::move(row)); }
}

void EnergyView::add_to(Section& section, Members& one_case) && {
  if (const std::string reason = text_or_none(one_case, "no_energy"); !reason.empty()) {
    section.views.emplace_back(Figures{"Energy", {{"no energy", reason, "", "no_energy"}}});
  }
  if (times_.rows.empty()) { return; }
  std::ranges::min_element(times_.rows, {}, [](const Timed& row) { return row.median.get<double>(); })->marked = true;
  section.views.emplace_back(std::move(times_));
}

}  // namespace elbowroom::page
