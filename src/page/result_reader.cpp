#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "elbowroom/plan/controls.hpp"
#include "elbowroom/report/result_columns.hpp"
#include "elbowroom/report/result_document.hpp"
#include "elbowroom/report/scenario_line.hpp"
#include "page/energy_view.hpp"
#include "page/grid.hpp"
#include "page/reading.hpp"

namespace elbowroom::page {
namespace {

using nlohmann::json;

struct SchemeRow {
  std::string scheme;
  Timed time;
  OverlapPlan plan;
  Value ratio, ratio_low, ratio_high, efficiency;
  std::vector<Value> cells;
};

/// What the table shows: the columns of bench's table, an interval as two, and what that table leaves to its notes.
std::vector<Column> columns() {
  std::vector<Column> all;
  for (const ResultColumn& column : result_columns()) {
    const std::string tag(column.tag);
    const std::string meaning(column.description);
    // Shares are fractions in the document.
    const std::string unit(column.unit == "%" ? "share" : column.unit);
    if (const std::size_t both = tag.find("low..high"); both != std::string::npos) {
      all.push_back({"low", unit, tag.substr(0, both) + "low", meaning + ", lower end"});
      all.push_back({"high", unit, tag.substr(0, both) + "high", meaning + ", upper end"});
    } else {
      all.push_back({heading_of(column), unit, tag, meaning});
    }
  }
  const auto behind_time = std::ranges::find(all, "time_us.high", &Column::tag);
  all.insert(behind_time == all.end() ? behind_time : behind_time + 1, Column{"trials", "", "time_us.trials", "counted trials"});
  for (const Control& control : controls()) {
    if (control.column.shown != PlanColumn::Shown::in_words) { continue; }
    all.push_back({std::string(control.name), "", fmt::format("plan.{}", control.name), "what the plan sets"});
  }
  all.push_back({"note", "", "note", ""});
  return all;
}

/// The member at "time_us.median" below an object; null where it or what holds it is absent.
Value at(const json& object, std::string_view tag) {
  const std::size_t dot = tag.find('.');
  if (!object.is_object()) { return {}; }
  const auto found = object.find(std::string(tag.substr(0, dot)));
  if (found == object.end()) { return {}; }
  if (dot != std::string_view::npos) { return at(*found, tag.substr(dot + 1)); }
  return found->is_primitive() ? Value(*found) : Value();
}

SchemeRow row_of(Members& result, const std::vector<Column>& all) {
  SchemeRow row;
  for (const char* name : {"scheme", "time_us"}) { result.need(name, "what bench writes"); }
  row.scheme = row.time.label = result.text("scheme");
  read_interval(result, "time_us", row.time);
  if (!result.failed() && row.time.median.is_null()) { result.reject("time_us.median", json(), "a finite number"); }
  row.ratio = result.exact("time_ratio");
  row.efficiency = result.exact("overlap_efficiency");
  Timed interval;
  read_interval(result, "time_ratio_interval", interval);
  row.ratio_low = interval.low;
  row.ratio_high = interval.high;
  // The table takes these as they are.
  for (const char* name : {"reduction", "overlap_rate", "compute_inflation", "comm_inflation"}) {
    static_cast<void>(result.exact(name));
  }
  for (const char* name : {"limited_by", "note"}) { static_cast<void>(text_or_none(result, name)); }
  row.plan = read_plan(result);
  // A residency belongs to the name of its scheme, as in a trace; other plans say what they set.
  const bool capped = row.time.label.starts_with("shaped") && row.plan.blocks_per_sm;
  if (capped) { row.time.label += fmt::format(" {}/SM", row.plan.blocks_per_sm->count()); }
  if (row.time.label == "tuned" || row.time.label.starts_with("plan ")) { row.time.detail = in_words(row.plan); }
  for (const Column& column : all) { row.cells.push_back(at(result.raw(), column.tag)); }
  return row;
}

bool says_nothing(const Value& cell) {
  return cell.is_null() || (cell.is_boolean() && !cell.get<bool>()) || (cell.is_number() && cell.get<double>() == 0);
}

/// Without the columns of the plan and of notes in which no row says anything.
Table table_of(std::vector<SchemeRow>& rows, const std::vector<Column>& all, std::optional<std::size_t> least) {
  Table table{"Every figure", {}, std::vector<std::vector<Value>>(rows.size()), least};
  for (std::size_t column = 0; column < all.size(); ++column) {
    const std::string& tag = all[column].tag;
    const bool optional = tag.starts_with("plan.") || tag.starts_with("energy.") || tag == "note";
    const bool empty = std::ranges::all_of(rows, [&](const SchemeRow& row) { return says_nothing(row.cells[column]); });
    if (optional && empty) { continue; }
    table.columns.push_back(all[column]);
    for (std::size_t row = 0; row < rows.size(); ++row) { table.rows[row].push_back(std::move(rows[row].cells[column])); }
  }
  return table;
}

Times times_of(Members& members, const std::vector<SchemeRow>& rows) {
  Times times{"Time of all iterations", "us", {}, {}, "least median"};
  for (const SchemeRow& row : rows) { times.rows.push_back(row.time); }
  for (const auto& [name, label] : {std::pair("compute_alone_us", "compute alone"), {"comm_alone_us", "communication alone"}}) {
    Timed alone;
    alone.label = label;
    alone.aside = true;
    read_interval(members, name, alone);
    if (!alone.median.is_null()) { times.rows.push_back(std::move(alone)); }
  }
  if (const Value path = members.exact("critical_path_us"); !path.is_null()) {
    times.references.push_back({"critical path", path});
  }
  if (const Value limit = members.exact("hardware_limit_us"); !limit.is_null()) {
    times.references.push_back({"hardware limit", limit});
  }
  return times;
}

std::optional<std::size_t> least_of(const std::vector<SchemeRow>& rows) {
  const auto least = std::ranges::min_element(rows, {}, [](const SchemeRow& row) { return row.time.median.get<double>(); });
  return least == rows.end() ? std::nullopt : std::optional(static_cast<std::size_t>(least - rows.begin()));
}

Table refusals_of(Members& members) {
  Table table{"Refused", {{"scheme", "", "scheme", ""}, {"reason", "", "reason", "why it cannot act"}}, {}, {}};
  members.each("refusals", [&](Members refusal) { table.rows.push_back({refusal.text("scheme"), refusal.text("reason")}); });
  return table;
}

/// The times of one order: a plan says nothing of `sequential`.
std::vector<PlannedTime> planned_of(const std::vector<SchemeRow>& rows) {
  std::vector<PlannedTime> planned;
  for (const SchemeRow& row : rows) {
    if (row.scheme != "sequential") { planned.push_back({row.plan, row.time.median}); }
  }
  return planned;
}

/// Cases that differ in name and block budget alone, and their times by scheme: a sweep of two controls may be spread over them.
class Sweeps {
 public:
  void add(const Scenario& scenario, const std::vector<SchemeRow>& rows) {
    Scenario common = scenario;
    common.name.clear();
    common.collective.comm_blocks.reset();
    for (const SchemeRow& row : rows) {
      OverlapPlan plan = row.plan;
      if (!plan.comm_blocks) { plan.comm_blocks = scenario.collective.comm_blocks; }
      sweep(common, row.scheme).times.push_back({plan, row.time.median});
    }
    ++cases_;
  }

  [[nodiscard]] std::optional<Section> section() const {
    Section section{"Across cases", "cases that differ in the collective's block budget alone", {}};
    for (const Sweep& sweep : sweeps_) {
      std::optional<Grid> grid = cases_ > 1 ? grid_of(sweep.times) : std::nullopt;
      if (!grid) { continue; }
      Scenario named = sweep.common;
      named.name = sweep.scheme;
      grid->title = fmt::format("{}, by {} and {}", scenario_line(named), grid->x_name, grid->y_name);
      section.views.emplace_back(*std::move(grid));
    }
    return section.views.empty() ? std::nullopt : std::optional(std::move(section));
  }

 private:
  struct Sweep {
    Scenario common;
    std::string scheme;
    std::vector<PlannedTime> times;
  };

  Sweep& sweep(const Scenario& common, const std::string& scheme) {
    for (Sweep& known : sweeps_) {
      if (known.common == common && known.scheme == scheme) { return known; }
    }
    return sweeps_.emplace_back(Sweep{common, scheme, {}});
  }

  std::vector<Sweep> sweeps_;
  std::size_t cases_ = 0;
};

/// The least time of each case, for documents of several.
class Overview {
 public:
  void add(const Section& section, const SchemeRow& least) {
    Timed ratio;
    ratio.label = section.title;
    ratio.detail = least.time.label;
    ratio.median = least.ratio;
    ratio.low = least.ratio_low;
    ratio.high = least.ratio_high;
    if (!ratio.median.is_null()) { ratios_.rows.push_back(std::move(ratio)); }
    const Timed& time = least.time;
    table_.rows.push_back({section.title, time.label, time.median, time.low, time.high, least.ratio, least.ratio_low,
                           least.ratio_high, least.efficiency});
  }

  [[nodiscard]] std::optional<Section> section() && {
    if (table_.rows.size() < 2) { return std::nullopt; }
    Section section{"All cases", "the least median of each", {}};
    if (!ratios_.rows.empty()) { section.views.emplace_back(std::move(ratios_)); }
    section.views.emplace_back(std::move(table_));
    return section;
  }

 private:
  Times ratios_{"Least time over sequential time", "", {}, {}, ""};
  Table table_{"Least median of each case",
               {{"case", "", "scenario.name", ""},
                {"scheme", "", "scheme", "of the least median"},
                {"time", "us", "time_us.median", ""},
                {"low", "us", "time_us.low", ""},
                {"high", "us", "time_us.high", ""},
                {"ratio", "", "time_ratio", "time / sequential time"},
                {"low", "", "time_ratio_interval.low", ""},
                {"high", "", "time_ratio_interval.high", ""},
                {"crit. path", "share", "overlap_efficiency", "share reached of what the critical path saves"}},
               {},
               {}};
};

/// What is told of all cases together.
struct Together {
  Sweeps sweeps;
  Overview overview;
};

Section section_of(Members members, Together& together) {
  Section section;
  const std::optional<Scenario> scenario = read_case(members, section);
  members.need("results", "an array");
  const std::vector<Column> all = columns();
  std::vector<SchemeRow> rows;
  EnergyView energy;
  members.each("results", [&](Members result) {
    rows.push_back(row_of(result, all));
    energy.add(result, rows.back().time.label, rows.back().time.detail);
  });
  if (members.failed()) { return section; }
  const std::optional<std::size_t> least = least_of(rows);
  if (least) { rows[*least].time.marked = true; }
  if (least) { together.overview.add(section, rows[*least]); }
  section.views.emplace_back(times_of(members, rows));
  std::move(energy).add_to(section, members);
  if (scenario) { together.sweeps.add(*scenario, rows); }
  if (std::optional<Grid> grid = grid_of(planned_of(rows))) { section.views.emplace_back(*std::move(grid)); }
  section.views.emplace_back(table_of(rows, all, least));
  if (Table refusals = refusals_of(members); !refusals.rows.empty()) { section.views.emplace_back(std::move(refusals)); }
  return section;
}

}  // namespace

Result<Document> read_result(std::string_view text, const std::string& source) {
  return read_members(text, source, kResultSchema, [](Members& members, Document& document) {
    read_origin(members, document);
    members.need("cases", "an array");
    Together together;
    members.each("cases", [&](Members one) { document.sections.push_back(section_of(std::move(one), together)); });
    if (std::optional<Section> across = together.sweeps.section()) {
      document.sections.insert(document.sections.begin(), *std::move(across));
    }
    if (std::optional<Section> all = std::move(together.overview).section()) {
      document.sections.insert(document.sections.begin(), *std::move(all));
    }
  });
}

}  // namespace elbowroom::page
