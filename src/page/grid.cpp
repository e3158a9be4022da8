#include "page/grid.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>

#include "elbowroom/plan/controls.hpp"

namespace elbowroom::page {
namespace {

// Of fewer a table says as much.
constexpr std::size_t kLeastAcross = 3;

using Setting = std::optional<std::int64_t>;

struct Axis {
  const Control* control = nullptr;
  std::set<Setting> settings;  // off first, then ascending
};

std::vector<Axis> varied(const std::vector<PlannedTime>& times) {
  std::vector<Axis> axes;
  for (const Control& control : controls()) {
    Axis axis{&control, {}};
    for (const PlannedTime& time : times) { axis.settings.insert(control.get(time.plan)); }
    if (axis.settings.size() > 1) { axes.push_back(std::move(axis)); }
  }
  return axes;
}

Value value_of(const Control& control, const Setting& setting) {
  if (!setting) { return "off"; }
  return control.is_switch ? Value("on") : Value(*setting);
}

std::vector<Value> values_of(const Axis& axis) {
  std::vector<Value> values;
  values.reserve(axis.settings.size());
  for (const Setting& setting : axis.settings) { values.push_back(value_of(*axis.control, setting)); }
  return values;
}

}  // namespace

std::optional<Grid> grid_of(const std::vector<PlannedTime>& times) {
  std::vector<Axis> axes = varied(times);
  if (axes.size() != 2) { return std::nullopt; }
  if (axes[0].settings.size() < axes[1].settings.size()) { std::swap(axes[0], axes[1]); }
  if (axes[0].settings.size() < kLeastAcross) { return std::nullopt; }
  const auto& [x, y] = std::pair(std::move(axes[0]), std::move(axes[1]));
  std::map<std::pair<Setting, Setting>, Value> cells;
  for (const PlannedTime& time : times) {
    const bool first = cells.emplace(std::pair(y.control->get(time.plan), x.control->get(time.plan)), time.median_us).second;
    if (!first) { return std::nullopt; }
  }
  if (4 * cells.size() < 3 * x.settings.size() * y.settings.size()) { return std::nullopt; }
  Grid grid{"Times by " + std::string(x.control->name) + " and " + std::string(y.control->name),
            "us",
            std::string(x.control->name),
            std::string(y.control->name),
            values_of(x),
            values_of(y),
            {}};
  for (const Setting& down : y.settings) {
    std::vector<Value>& row = grid.cells.emplace_back();
    for (const Setting& across : x.settings) {
      const auto cell = cells.find({down, across});
      row.push_back(cell == cells.end() ? Value() : cell->second);
    }
  }
  return grid;
}

}  // namespace elbowroom::page
