#include "elbowroom/experiment/validation_report.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/schemas.hpp"

namespace elbowroom {
namespace {

double in_ms(Microseconds time) { return time.count() / 1000; }

std::string sums(const PredictionTable& table) {
  return fmt::format(
      "# {} rows: median error {:.2f} %, 90th percentile {:.2f} %, worst {:.2f} %\n"
      "# {} groups: best (priority, residency) picked within 3 % in {:.1f} %\n",
      table.rows.size(), 100 * table.median_error, 100 * table.p90_error, 100 * table.worst_error, table.groups,
      100 * table.best_pick_rate);
}

std::string table_of(const PredictionTable& table, std::string_view title) {
  std::string text = fmt::format("# {}\n", title);
  std::string_view group;
  for (const RowPrediction& row : table.rows) {
    if (row.group != group) {
      group = row.group;
      text += fmt::format("\n# {}\n# {:<12} {:>8} {:>13} {:>13} {:>14} {:>9}\n", group, "scheme", "priority", "blocks per SM",
                          "measured (ms)", "simulated (ms)", "error (%)");
    }
    text += fmt::format("  {:<12} {:>8} {:>13} {:>13.3f} {:>14.3f} {:>+9.2f}\n", row.scheme, row.priority ? "yes" : "-",
                        row.blocks_per_sm, in_ms(row.measured), in_ms(row.predicted), 100 * (row.predicted / row.measured - 1));
  }
  return text + "\n" + sums(table);
}

nlohmann::ordered_json json_of(const PredictionTable& table) {
  nlohmann::ordered_json json;
  json["rows"] = table.rows.size();
  json["median_error"] = table.median_error;
  json["p90_error"] = table.p90_error;
  json["worst_error"] = table.worst_error;
  json["groups"] = table.groups;
  json["best_pick_rate"] = table.best_pick_rate;
  return json;
}

}  // namespace

std::string to_table(const Validation& validation, std::string_view source, std::string_view device) {
  return fmt::format("# elbowroom: simulated {} against measured rows of {}\n\n{}\n{}", device, source,
                     table_of(validation.given_isolated, "isolated times given: sequential and concurrent rows predicted"),
                     table_of(validation.absolute, "nothing given but the scenario: every row predicted"));
}

std::string to_json(const Validation& validation) {
  nlohmann::ordered_json document;
  document["schema"] = kValidationSchema;
  document["given_isolated"] = json_of(validation.given_isolated);
  document["absolute"] = json_of(validation.absolute);
  return document.dump(2) + "\n";
}

}  // namespace elbowroom
