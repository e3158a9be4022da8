#include "validate_command.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string_view>

#include "console.hpp"
#include "elbowroom/backend/validation.hpp"
#include "exit_code.hpp"
#include "output.hpp"

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

std::string to_table(const PredictionTable& table, std::string_view title) {
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

nlohmann::ordered_json to_json(const PredictionTable& table) {
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

int run_validation(const std::string& csv_path, const std::optional<std::string>& json_path, const std::string& device) {
  const Result<std::string> csv = read_file(csv_path);
  if (!csv) return complain("elbowroom bench", csv.error());
  const Result<Validation> validation = validate_simulator(*csv, csv_path, device);
  if (!validation) return complain("elbowroom bench", validation.error());

  const std::string table =
      fmt::format("# elbowroom: simulated {} against measured rows of {}\n\n{}\n{}", device, csv_path,
                  to_table(validation->given_isolated, "isolated times given: sequential and concurrent rows predicted"),
                  to_table(validation->absolute, "nothing given but the scenario: every row predicted"));
  const bool json_to_stdout = json_path == "-";
  if (json_to_stdout) {
    print_error(table);
  } else if (Status shown = print(table); !shown) {
    return complain("elbowroom bench", shown.error());
  }
  if (!json_path) return exit_ok;
  nlohmann::ordered_json document;
  document["schema"] = kValidationSchema;
  document["given_isolated"] = to_json(validation->given_isolated);
  document["absolute"] = to_json(validation->absolute);
  const Status written = write_document(*json_path, kValidationSchema, document.dump(2) + "\n");
  return written ? exit_ok : complain("elbowroom bench", written.error());
}

}  // namespace elbowroom
