#include "calibrate_command.hpp"

#include <fmt/format.h>

#include <array>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

#include "case_options.hpp"
#include "console.hpp"
#include "device_option.hpp"
#include "elbowroom/experiment/calibration.hpp"
#include "elbowroom/model/device_file.hpp"
#include "elbowroom/report/result_table.hpp"
#include "exit_code.hpp"
#include "interruption.hpp"
#include "output.hpp"
#include "progress_line.hpp"
#include "rank_session.hpp"

namespace elbowroom {
namespace {

constexpr std::string_view kCalibrate = "elbowroom calibrate";

struct CalibrateArguments {
  CaseOptions options;  ///< of which the backend, its devices, the seed and the time limit count
  CalibrationSettings settings;
  std::optional<std::string> json_file;
  std::optional<std::string> csv_file;
};

/// People write device files by hand, so that none is replaced; nor are measurements.
Status check_new_file(std::string_view option, const std::optional<std::string>& path) {
  std::error_code unknown;
  const bool taken =
      path && *path != "-" && std::filesystem::exists(*path, unknown) && std::filesystem::file_size(*path, unknown) > 0;
  if (taken) { return invalid_input(fmt::format("{}: {}: is there, expected a new file", option, *path)); }
  return check_outputs(std::array{OutputFile{{option, path}, kDeviceSchema}});
}

Status check_files(const CalibrateArguments& arguments) {
  if (arguments.csv_file == "-") { return invalid_input("--csv: -, expected the name of a file"); }
  if (Status separate =
          check_distinct(std::array{NamedFile{"--json", arguments.json_file}, NamedFile{"--csv", arguments.csv_file}});
      !separate) {
    return separate;
  }
  if (Status csv = check_new_file("--csv", arguments.csv_file); !csv) { return csv; }
  return check_new_file("--json", arguments.json_file);
}

Status check_arguments(const CalibrateArguments& arguments) {
  const CalibrationSettings& settings = arguments.settings;
  if (Status timeout = check_timeout(arguments.options); !timeout) { return timeout; }
  if (settings.gpus < 2 || settings.gpus > 64) { return invalid_input(fmt::format("-g: {}, expected 2 to 64", settings.gpus)); }
  if (settings.trials < 1 || settings.trials > 1000) {
    return invalid_input(fmt::format("--trials: {}, expected 1 to 1000", settings.trials));
  }
  const Result<std::optional<DeviceLimits>> known = described_device(arguments.options.device);
  return known ? check_files(arguments) : Status(known.error());
}

Result<Calibration> calibrated(Backend& backend, const CalibrationSettings& settings, const Interruption& interruption) {
  ProgressLine line(kCalibrate, 1);
  line.begin_case("kernels, collectives and pairs of them");
  Result<Calibration> made = calibrate(backend, settings, [&](std::string_view step) {
    line.show(std::nullopt, step);
    return interruption.check();
  });
  line.end_case();
  return made;
}

int show(const Calibration& made, const CalibrateArguments& arguments) {
  const std::optional<std::string>& json_file = arguments.json_file;
  const std::string table = table_preamble(made.origin) + to_table(made);
  if (json_file == "-") {
    print_error(table);
  } else if (Status printed = print_table(table); !printed) {
    return complain(kCalibrate, printed.error());
  }
  if (arguments.csv_file) {
    if (Status kept = write_new_file(*arguments.csv_file, measured_csv(made)); !kept) { return complain(kCalibrate, kept.error()); }
  }
  if (!json_file) {
    print_notice(kCalibrate, "nothing is written without --json FILE");
    return exit_ok;
  }
  const Status written = write_document(*json_file, kDeviceSchema, device_file(made, ELBOWROOM_VERSION));
  return written ? exit_ok : complain(kCalibrate, written.error());
}

int run_calibrate(const CalibrateArguments& arguments) {
  if (Status checked = check_arguments(arguments); !checked) { return complain(kCalibrate, checked.error()); }
  const Result<std::unique_ptr<Backend>> backend = open_on_ranks(arguments.options, arguments.settings.gpus);
  if (!backend) { return complain(kCalibrate, backend.error()); }
  const Interruption interruption(kCalibrate);
  const Result<Calibration> made = calibrated(**backend, arguments.settings, interruption);
  if (made) { return show(*made, arguments); }
  return interruption.came() ? interruption.exit_code() : complain(kCalibrate, made.error());
}

}  // namespace

void add_calibrate_command(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* command = app.add_subcommand("calibrate", "Fits the simulator to this machine's GPUs, in a minute");
  const auto arguments = std::make_shared<CalibrateArguments>();
  command->add_option("--json", arguments->json_file, "Write a device file, which must be new; - for standard output");
  command->add_option("--csv", arguments->csv_file, "Write what was measured and simulated, to a new file");
  command->add_option("--backend", arguments->options.backend, "auto, cuda, hip or sim")->capture_default_str();
  command->add_option("--device", arguments->options.device, "Name the GPUs must have, or a device file for the simulator")
      ->capture_default_str();
  command->add_option("-g,--gpus", arguments->settings.gpus, "GPUs of the collectives")->capture_default_str();
  command->add_option("--trials", arguments->settings.trials, "Counted trials of each schedule")->capture_default_str();
  command->add_option("--seed", arguments->settings.seed, "Seed of data, of orders and of what is held out")->capture_default_str();
  command->add_option("--timeout", arguments->options.timeout_s, "Seconds after which one run is aborted")->capture_default_str();
  command->callback([=, &chosen] {
    chosen = [arguments] {
      arguments->options.seed = arguments->settings.seed;
      return run_calibrate(*arguments);
    };
  });
}

}  // namespace elbowroom
