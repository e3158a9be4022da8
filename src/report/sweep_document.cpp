#include "elbowroom/report/sweep_document.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "model/json_document.hpp"
#include "model/json_fields.hpp"
#include "plan/overlap_plan_json.hpp"
#include "report/json_values.hpp"
#include "report/schemas.hpp"

namespace elbowroom {
namespace {

using detail::JsonFields;
using detail::number;
using detail::OrderedJson;

/// A digit begins a number where the axis is a control or the text holds nothing else; sizes and words stay texts.
OrderedJson value_json(const std::string& value) {
  const bool digits = std::ranges::all_of(value, [](char c) { return c >= '0' && c <= '9'; });
  return digits && value.size() < 10 ? OrderedJson(std::stoi(value)) : OrderedJson(value);
}

OrderedJson cell_json(const SweepCell& cell, const std::vector<std::size_t>& at) {
  OrderedJson json = OrderedJson::object();
  json["at"] = at;
  if (cell.refused) {
    json["refused"] = *cell.refused;
    return json;
  }
  json["plan"] = detail::plan_json(cell.plan);
  json["time_us"] = detail::summary_json(*cell.time);
  json["ratio"] = detail::ratio_json(*cell.ratio);
  return json;
}

OrderedJson flatness_json(const Flatness& flatness, const std::vector<SweepAxis>& axes) {
  OrderedJson json = OrderedJson::object();
  json["given"] = OrderedJson::object();
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    const auto& [name, values] = axes[axis];
    if (!axes[axis].is_control()) { json["given"][name] = value_json(values[flatness.best[axis]]); }
  }
  json["best"] = flatness.best;
  json["second"] = flatness.second ? OrderedJson(*flatness.second) : OrderedJson();
  json["second_loss"] = flatness.second ? number(flatness.second_loss) : OrderedJson();
  json["slack"] = OrderedJson::array();
  for (const auto& [axis, slacks] : flatness.slack) {
    for (const Slack& slack : slacks) {
      json["slack"].push_back({{"axis", axes[axis].name},
                               {"loss", slack.loss},
                               {"from", value_json(axes[axis].values[slack.from])},
                               {"to", value_json(axes[axis].values[slack.to])},
                               {"down", flatness.best[axis] - slack.from},
                               {"up", slack.to - flatness.best[axis]}});
    }
  }
  return json;
}

/// All that says what the grid is.
OrderedJson frame_of(const SweepCase& swept) {
  OrderedJson json = OrderedJson::object();
  detail::add_case(json, swept.what);
  json["axes"] = OrderedJson::array();
  for (const SweepAxis& axis : swept.axes) {
    OrderedJson values = OrderedJson::array();
    for (const std::string& value : axis.values) { values.push_back(value_json(value)); }
    json["axes"].push_back(
        {{"name", axis.name}, {"kind", axis.is_control() ? "control" : "scenario"}, {"values", std::move(values)}});
  }
  return json;
}

OrderedJson frame_of(const SweepDocument& document) {
  OrderedJson json = OrderedJson::object();
  json["schema"] = kSweepSchema;
  detail::add_origin(json, document.origin);
  json["trials"] = document.trials;
  json["plan"] = document.plan.value_or("");
  return json;
}

OrderedJson case_json(const SweepCase& swept) {
  OrderedJson json = frame_of(swept);
  json["cells"] = OrderedJson::array();
  const std::vector<GridAxis> grid = swept.grid();
  for (std::size_t at = 0; at < swept.cells.size(); ++at) {
    if (swept.cells[at]) { json["cells"].push_back(cell_json(*swept.cells[at], cell_positions(grid, at))); }
  }
  json["flatness"] = OrderedJson::array();
  for (const Flatness& flatness : swept.flatness()) { json["flatness"].push_back(flatness_json(flatness, swept.axes)); }
  return json;
}

/// A time or a ratio: finite, not negative, low <= median <= high.
struct Interval {
  double median, low, high, confidence;
  int trials;
};

Interval read_interval(JsonFields& fields, const char* name) {
  const nlohmann::json* object = fields.member(name);
  const auto part = [&](const char* member) {
    const bool there = object != nullptr && object->is_object() && object->contains(member) && (*object)[member].is_number();
    const double value = there ? (*object)[member].get<double>() : -1;
    return std::isfinite(value) ? value : -1;
  };
  const Interval read{part("median"), part("low"), part("high"), part("confidence"),
                      static_cast<int>(std::min(part("trials"), 1e6))};
  const bool good = read.median > 0 && read.low >= 0 && read.low <= read.median && read.median <= read.high &&
                    read.confidence >= 0 && read.confidence <= 1 && read.trials >= 1;
  if (!good) {
    fields.reject(name, object == nullptr ? "missing" : detail::shown(*object),
                  "an object of median, low, high, confidence and trials");
  }
  return read;
}

/// Where the cell stands; absent, and a failure of `fields`, where there is no such cell.
std::optional<std::size_t> read_cell_number(JsonFields& fields, const std::vector<GridAxis>& grid) {
  const nlohmann::json* at = fields.member("at");
  std::vector<std::size_t> positions;
  if (at != nullptr && at->is_array() && at->size() == grid.size()) {
    for (std::size_t axis = 0; axis < grid.size(); ++axis) {
      const nlohmann::json& position = (*at)[axis];
      if (position.is_number_unsigned() && position.get<std::size_t>() < grid[axis].values) {
        positions.push_back(position.get<std::size_t>());
      }
    }
  }
  if (positions.size() == grid.size()) { return cell_index(grid, positions); }
  fields.reject("at", at == nullptr ? "missing" : detail::shown(*at), "a position on each axis");
  return std::nullopt;
}

Status take_cell(SweepCase& swept, const nlohmann::json& object, const std::string& path, const std::string& source) {
  if (!object.is_object()) {
    return invalid_input(fmt::format("{}: {}: {}, expected an object", source, path, detail::shown(object)));
  }
  JsonFields fields(object, path + ".", source);
  const std::optional<std::size_t> number = read_cell_number(fields, swept.grid());
  SweepCell cell;
  const nlohmann::json* plan = nullptr;
  if (fields.member("refused") != nullptr) {
    cell.refused = fields.text("refused");
  } else {
    const Interval time = read_interval(fields, "time_us");
    const Interval ratio = read_interval(fields, "ratio");
    cell.time = {Microseconds(time.median), Microseconds(time.low), Microseconds(time.high), time.confidence, time.trials};
    cell.ratio = {ratio.median, ratio.low, ratio.high, ratio.confidence, ratio.trials};
    plan = fields.member("plan");
    if (plan == nullptr) { fields.reject("plan", "missing", "an object"); }
  }
  if (number && swept.cells[*number]) { fields.reject("at", detail::shown(*fields.member("at")), "each cell once"); }
  if (Status read = fields.finish(); !read) { return read; }
  if (plan != nullptr) {
    const Result<OverlapPlan> read = detail::read_plan(*plan, path + ".plan", source);
    if (!read) { return read.error(); }
    cell.plan = *read;
  }
  swept.cells[*number] = std::move(cell);
  return {};
}

/// The first member of the frame in which the document differs.
Status is_same(const nlohmann::json& document, const OrderedJson& frame, const std::string& path, const std::string& source) {
  for (const auto& [name, ours] : frame.items()) {
    const auto theirs = document.find(name);
    const nlohmann::json wanted =
        nlohmann::json::parse(ours.dump(-1, ' ', false, OrderedJson::error_handler_t::replace), nullptr, false);
    if (theirs != document.end() && *theirs == wanted) { continue; }
    return invalid_input(fmt::format("{}: {}{}: {}, expected {}: it is another sweep", source, path, name,
                                     theirs == document.end() ? "missing" : detail::shown(*theirs), detail::shown(wanted)));
  }
  return {};
}

}  // namespace

std::vector<GridAxis> SweepCase::grid() const {
  std::vector<GridAxis> grid;
  grid.reserve(axes.size());
  for (const SweepAxis& axis : axes) { grid.push_back({axis.values.size(), axis.is_control()}); }
  return grid;
}

std::vector<Flatness> SweepCase::flatness() const {
  std::vector<std::optional<double>> costs;
  costs.reserve(cells.size());
  for (const std::optional<SweepCell>& cell : cells) {
    costs.push_back(cell && cell->ratio ? std::optional(cell->ratio->median) : std::nullopt);
  }
  return flatness_of(grid(), costs);
}

std::size_t SweepDocument::cells() const {
  std::size_t count = 0;
  for (const SweepCase& swept : cases) { count += swept.cells.size(); }
  return count;
}

std::size_t SweepDocument::done() const {
  std::size_t count = 0;
  for (const SweepCase& swept : cases) {
    count += static_cast<std::size_t>(std::ranges::count_if(swept.cells, [](const auto& cell) { return cell.has_value(); }));
  }
  return count;
}

std::string to_json(const SweepDocument& document) {
  OrderedJson json = frame_of(document);
  json["cases"] = OrderedJson::array();
  for (const SweepCase& swept : document.cases) { json["cases"].push_back(case_json(swept)); }
  return detail::dump(json, 1) + "\n";
}

Status take_cells(SweepDocument& document, std::string_view text, const std::string& source) {
  const Result<nlohmann::json> read = detail::read_json_object(text, source, fmt::format("an {} document", kSweepSchema));
  if (!read) { return read.error(); }
  if (Status same = is_same(*read, frame_of(document), "", source); !same) { return same; }
  const auto cases = read->find("cases");
  if (cases == read->end() || !cases->is_array() || cases->size() != document.cases.size()) {
    return invalid_input(fmt::format("{}: cases: expected {} of them: it is another sweep", source, document.cases.size()));
  }
  std::vector<SweepCase> taken = document.cases;
  for (std::size_t at = 0; at < taken.size(); ++at) {
    const nlohmann::json& one = (*cases)[at];
    const std::string path = fmt::format("cases[{}].", at);
    if (!one.is_object()) {
      return invalid_input(fmt::format("{}: cases[{}]: {}, expected an object", source, at, detail::shown(one)));
    }
    if (Status same = is_same(one, frame_of(taken[at]), path, source); !same) { return same; }
    const auto cells = one.find("cells");
    if (cells == one.end() || !cells->is_array()) {
      return invalid_input(fmt::format("{}: {}cells: expected a list", source, path));
    }
    for (std::size_t cell = 0; cell < cells->size(); ++cell) {
      if (Status done = take_cell(taken[at], (*cells)[cell], fmt::format("{}cells[{}]", path, cell), source); !done) {
        return done;
      }
    }
  }
  document.cases = std::move(taken);
  return {};
}

}  // namespace elbowroom
