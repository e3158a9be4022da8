#include "validate_command.hpp"

#include "console.hpp"
#include "elbowroom/experiment/validation_report.hpp"
#include "exit_code.hpp"
#include "output.hpp"

namespace elbowroom {

int run_validation(const std::string& csv_path, const std::optional<std::string>& json_path, const std::string& device) {
  const Result<std::string> csv = read_file(csv_path);
  if (!csv) { return complain("elbowroom bench", csv.error()); }
  const Result<Validation> validation = validate_simulator(*csv, csv_path, device);
  if (!validation) { return complain("elbowroom bench", validation.error()); }

  const std::string table = to_table(*validation, csv_path, device);
  if (json_path == "-") {
    print_error(table);
  } else if (Status shown = print(table); !shown) {
    return complain("elbowroom bench", shown.error());
  }
  if (!json_path) { return exit_ok; }
  const Status written = write_document(*json_path, kValidationSchema, to_json(*validation));
  return written ? exit_ok : complain("elbowroom bench", written.error());
}

}  // namespace elbowroom
