#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <functional>
#include <string>

#include "bench_command.hpp"
#include "elbowroom/backend/registry.hpp"
#include "exit_code.hpp"
#include "list_command.hpp"
#include "plan_command.hpp"
#include "profile_command.hpp"
#include "run_command.hpp"
#include "tune_command.hpp"

namespace {

elbowroom::Result<elbowroom::DeviceLimits> live_device() {
  std::string reasons;
  for (const elbowroom::BackendEntry& entry : elbowroom::backends()) {
    const auto backend = entry.open({});
    if (backend && (*backend)->provenance() == elbowroom::Provenance::measured) return (*backend)->devices().front().limits;
    if (!backend) reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", entry.name, backend.error().message);
  }
  return elbowroom::unavailable(reasons);
}

/// The parser says of a word that is no subcommand only that one is missing.
std::string unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') return "";
  std::string names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == argv[1]) return "";
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  return fmt::format("'{}' is no subcommand, expected one of {}", argv[1], names);
}

/// What the parser says, and where more is to be read.
std::string complaint(const CLI::App& app, const elbowroom::SplitCommandLine& split, const CLI::ParseError& error) {
  std::string where = "elbowroom";
  for (const CLI::App* command = &app; !command->get_subcommands().empty();) {
    command = command->get_subcommands().front();
    where += " " + command->get_name();
  }
  const bool without_dashes =
      where == "elbowroom run" && !split.command && dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  if (without_dashes)
    return fmt::format("elbowroom run: {}; expected -- before the command, see elbowroom run --help", error.what());
  return fmt::format("{}: {}; see {} --help", where, error.what(), where);
}

int run(int argc, char** argv) {
  CLI::App app("Leaves room on the GPU for communication: plan, measure and choose how computation and collectives overlap.",
               "elbowroom");
  app.set_version_flag("--version", "elbowroom " ELBOWROOM_VERSION);
  app.require_subcommand(1);
  app.fallthrough(false);

  std::function<int()> chosen;
  elbowroom::add_list_command(app, chosen);
  elbowroom::add_plan_command(app, live_device, chosen);
  elbowroom::add_bench_command(app, chosen);
  elbowroom::add_tune_command(app, chosen);
  elbowroom::add_profile_command(app, chosen);
  const elbowroom::SplitCommandLine split = elbowroom::split_command_line(argc, argv);
  elbowroom::add_run_command(app, split.command, chosen);
  try {
    app.parse(split.own_arguments, argv);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
    if (const std::string unknown = unknown_command(app, argc, argv); !unknown.empty()) {
      fmt::print(stderr, "elbowroom: {}\n", unknown);
      return elbowroom::exit_bad_input;
    }
    fmt::print(stderr, "{}\n", complaint(app, split, error));
    return elbowroom::exit_bad_input;
  }
  return chosen();
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "elbowroom: unexpected: {}\n", error.what());
    return elbowroom::exit_failed;
  }
}
