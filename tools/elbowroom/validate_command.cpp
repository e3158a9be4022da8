#include "validate_command.hpp"

#include <array>
#include <memory>

#include "console.hpp"
#include "device_option.hpp"
#include "elbowroom/backend/registry.hpp"
#include "elbowroom/experiment/step_validation.hpp"
#include "elbowroom/experiment/validation_report.hpp"
#include "exit_code.hpp"
#include "machine_option.hpp"
#include "output.hpp"
#include "report/schemas.hpp"

namespace elbowroom {
namespace {

constexpr std::string_view kRows = "elbowroom validate rows";
constexpr std::string_view kSteps = "elbowroom validate steps";

struct ValidateArguments {
  std::string csv_file;
  std::optional<std::string> json_file;
  std::optional<std::string> device;
  std::string machine = "a100-4x200";
};

Status check_json(const ValidateArguments& arguments, std::string_view schema) {
  const std::array outputs{OutputFile{NamedFile("--json", arguments.json_file), schema}};
  return check_outputs(outputs);
}

int show(std::string_view who, const std::string& table, const std::optional<std::string>& json_path, std::string_view schema,
         const std::string& document) {
  if (json_path == "-") {
    print_error(table);
  } else if (Status shown = print(table); !shown) {
    return complain(who, shown.error());
  }
  if (!json_path) { return exit_ok; }
  const Status written = write_document(*json_path, schema, document);
  return written ? exit_ok : complain(who, written.error());
}

int run_rows(const ValidateArguments& arguments) {
  if (Status writable = check_json(arguments, kValidationSchema); !writable) { return complain(kRows, writable.error()); }
  return run_validation(kRows, arguments.csv_file, arguments.json_file, arguments.device.value_or("auto"));
}

int run_steps(const ValidateArguments& arguments) {
  if (Status writable = check_json(arguments, kStepValidationSchema); !writable) { return complain(kSteps, writable.error()); }
  const Result<std::string> csv = read_file(arguments.csv_file);
  if (!csv) { return complain(kSteps, csv.error()); }
  const Result<MachineSpec> machine = machine_of(arguments.machine);
  if (!machine) { return complain(kSteps, machine.error()); }
  BackendOptions options;
  options.device = arguments.device.value_or(machine->device);
  options.predicts = true;
  const Result<std::unique_ptr<Backend>> backend = open_backend("sim", options);
  if (!backend) { return complain(kSteps, backend.error()); }
  const Result<StepValidation> validation = validate_steps(*csv, arguments.csv_file, **backend, *machine);
  if (!validation) { return complain(kSteps, validation.error()); }
  return show(kSteps, to_table(*validation, arguments.csv_file, *machine), arguments.json_file, kStepValidationSchema,
              to_json(*validation, *machine));
}

void add_subject(CLI::App& command, std::string_view name, std::string_view purpose, bool steps,
                 int (*run)(const ValidateArguments&), std::function<int()>& chosen) {
  CLI::App* subject = command.add_subcommand(std::string(name), std::string(purpose));
  const auto arguments = std::make_shared<ValidateArguments>();
  subject->add_option("file", arguments->csv_file, "CSV file of measured rows")->required();
  subject->add_option(
      "--device", arguments->device,
      steps ? "GPUs, of the catalog; the machine's by default" : "GPUs, of the catalog or a device file; h200 by default");
  if (steps) { subject->add_option("--machine", arguments->machine, machine_help())->capture_default_str(); }
  subject->add_option("--json", arguments->json_file, "Write the errors to this file; - for standard output");
  subject->callback([=, &chosen] { chosen = [arguments, run] { return run(*arguments); }; });
}

}  // namespace

int run_validation(std::string_view who, const std::string& csv_path, const std::optional<std::string>& json_path,
                   const std::string& device) {
  const Result<std::string> csv = read_file(csv_path);
  if (!csv) { return complain(who, csv.error()); }
  const Result<std::optional<DeviceLimits>> described = described_device(device == "auto" ? "h200" : device);
  if (!described) { return complain(who, described.error()); }
  const Result<Validation> validation = validate_simulator(*csv, csv_path, **described);
  if (!validation) { return complain(who, validation.error()); }
  return show(who, to_table(*validation, csv_path, (*described)->name), json_path, kValidationSchema, to_json(*validation));
}

void add_validate_command(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* command = app.add_subcommand("validate", "Compares the simulator with what was measured");
  command->require_subcommand(1);
  add_subject(*command, "rows", "Kernels and collectives that overlap", false, run_rows, chosen);
  add_subject(*command, "steps", "Training iterations of Megatron's GPT", true, run_steps, chosen);
}

}  // namespace elbowroom
