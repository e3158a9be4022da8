#include <fmt/format.h>

#include <utility>

#include "elbowroom/plan/sweep_axis.hpp"
#include "page/reading.hpp"
#include "report/schemas.hpp"

namespace elbowroom::page {
namespace {

struct SweptAxis {
  std::string name;
  std::vector<Value> values;
};

/// As the document lists them; what is neither number nor text is not shown.
std::vector<SweptAxis> axes_of(Members& members) {
  std::vector<SweptAxis> axes;
  members.need("axes", "an array");
  members.each("axes", [&](Members one) {
    one.need("name", "a text");
    SweptAxis axis{one.text("name"), {}};
    one.need("values", "an array");
    if (one.failed() || !one.raw()["values"].is_array()) { return; }
    if (one.raw()["values"].size() > kMostSweepValues) {
      one.reject("values", one.raw()["values"].size(), fmt::format("at most {} values", kMostSweepValues));
      return;
    }
    for (const nlohmann::json& value : one.raw()["values"]) {
      if (value.is_number() || value.is_string()) { axis.values.emplace_back(value); }
    }
    axes.push_back(std::move(axis));
  });
  return axes;
}

/// Positions that lie on the axes; empty otherwise.
std::vector<std::size_t> cell_of(Members& cell, const std::vector<SweptAxis>& axes) {
  std::vector<std::size_t> at;
  for (const nlohmann::json& position : cell.exact_numbers("at")) {
    if (at.size() == axes.size() || !position.is_number_unsigned()) { return {}; }
    if (position.get<std::size_t>() >= axes[at.size()].values.size()) { return {}; }
    at.push_back(position.get<std::size_t>());
  }
  return at.size() == axes.size() ? at : std::vector<std::size_t>();
}

/// The second axis across, the first one down.
Grid empty_grid(const std::vector<SweptAxis>& axes, std::string title, std::string unit) {
  Grid grid{std::move(title), std::move(unit), axes[1].name, axes[0].name, axes[1].values, axes[0].values, {}};
  grid.cells.assign(grid.y.size(), std::vector<Value>(grid.x.size()));
  return grid;
}

Table cells_table(const std::vector<SweptAxis>& axes) {
  Table table{"Every cell", {}, {}, {}};
  for (const SweptAxis& axis : axes) { table.columns.push_back({axis.name, "", "axes.values", ""}); }
  for (Column& column : std::vector<Column>{{"time", "us", "time_us.median", "median"},
                                            {"low", "us", "time_us.low", ""},
                                            {"high", "us", "time_us.high", ""},
                                            {"ratio", "", "ratio.median", "to two plain streams in the same rounds"},
                                            {"low", "", "ratio.low", ""},
                                            {"high", "", "ratio.high", ""},
                                            {"refused", "", "refused", "why it cannot act"}}) {
    table.columns.push_back(std::move(column));
  }
  return table;
}

/// One axis as a row of times, two as grids; every cell in a table.
void add_cells(Members& members, const std::vector<SweptAxis>& axes, Section& section) {
  const bool flat = axes.size() == 1;
  Grid times = flat ? Grid() : empty_grid(axes, "Times by " + axes[1].name + " and " + axes[0].name, "us");
  Grid ratios = flat ? Grid() : empty_grid(axes, "Times over two plain streams by " + axes[1].name + " and " + axes[0].name, "");
  Times row{"Times by " + axes[0].name, "us", {}, {}, ""};
  Table table = cells_table(axes);
  members.need("cells", "an array");
  members.each("cells", [&](Members cell) {
    const std::vector<std::size_t> at = cell_of(cell, axes);
    if (at.empty()) { return; }
    Timed timed;
    Timed ratio;
    if (!cell.has("refused")) {
      read_interval(cell, "time_us", timed);
      read_interval(cell, "ratio", ratio);
    }
    std::vector<Value>& line = table.rows.emplace_back();
    for (std::size_t axis = 0; axis < axes.size(); ++axis) { line.push_back(axes[axis].values[at[axis]]); }
    for (const Value& value : {timed.median, timed.low, timed.high, ratio.median, ratio.low, ratio.high}) { line.push_back(value); }
    line.emplace_back(text_or_none(cell, "refused"));
    if (!flat) {
      times.cells[at[0]][at[1]] = timed.median;
      ratios.cells[at[0]][at[1]] = ratio.median;
    } else if (!timed.median.is_null()) {
      const Value& value = axes[0].values[at[0]];
      timed.label = fmt::format("{} {}", axes[0].name, value.is_string() ? value.get<std::string>() : value.dump());
      row.rows.push_back(std::move(timed));
    }
  });
  if (flat) {
    section.views.emplace_back(std::move(row));
  } else {
    section.views.emplace_back(std::move(times));
    section.views.emplace_back(std::move(ratios));
  }
  section.views.emplace_back(std::move(table));
}

std::string words_at(const std::vector<nlohmann::json>& at, const std::vector<SweptAxis>& axes) {
  std::string words;
  for (std::size_t axis = 0; axis < at.size() && axis < axes.size(); ++axis) {
    if (!at[axis].is_number_unsigned() || at[axis].get<std::size_t>() >= axes[axis].values.size()) { return ""; }
    const Value& value = axes[axis].values[at[axis].get<std::size_t>()];
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", axes[axis].name,
                         value.is_string() ? value.get<std::string>() : value.dump());
  }
  return words;
}

/// A line for each loss along each axis.
Table flatness_of(Members& members, const std::vector<SweptAxis>& axes) {
  Table table{"How flat the best is",
              {{"best", "", "flatness.best", ""},
               {"second", "", "flatness.second", ""},
               {"second loses", "share", "flatness.second_loss", "of the best, more"},
               {"along", "", "flatness.slack.axis", ""},
               {"loss", "share", "flatness.slack.loss", "at most, with the other axis at the best"},
               {"from", "", "flatness.slack.from", ""},
               {"to", "", "flatness.slack.to", ""}},
              {},
              {}};
  members.each("flatness", [&](Members one) {
    const std::string best = words_at(one.exact_numbers("best"), axes);
    const std::string second = one.has("second") ? words_at(one.exact_numbers("second"), axes) : "";
    const Value loss = one.exact("second_loss");
    one.each("slack", [&](Members slack) {
      const auto end = [&](const char* name) {
        const auto found = slack.raw().find(name);
        return found != slack.raw().end() && (found->is_number() || found->is_string()) ? Value(*found) : Value();
      };
      table.rows.push_back({best, second, loss, text_or_none(slack, "axis"), slack.exact("loss"), end("from"), end("to")});
    });
  });
  return table;
}

Section section_of(Members members) {
  Section section;
  read_case(members, section);
  const std::vector<SweptAxis> axes = axes_of(members);
  if (members.failed() || axes.empty() || axes.size() > 2) { return section; }
  add_cells(members, axes, section);
  if (Table flatness = flatness_of(members, axes); !flatness.rows.empty()) {
    section.views.insert(section.views.end() - 1, std::move(flatness));
  }
  return section;
}

}  // namespace

Result<Document> read_sweep(std::string_view text, const std::string& source) {
  return read_members(text, source, kSweepSchema, [](Members& members, Document& document) {
    read_origin(members, document);
    if (const std::string plan = text_or_none(members, "plan"); !plan.empty()) { add_fact(document, "plan of all cells", plan); }
    add_fact(document, "trials", members.exact("trials"));
    members.need("cases", "an array");
    members.each("cases", [&](Members one) { document.sections.push_back(section_of(std::move(one))); });
  });
}

}  // namespace elbowroom::page
