#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "bench_command.hpp"
#include "calibrate_command.hpp"
#include "completion_command.hpp"
#include "console.hpp"
#include "doctor_command.hpp"
#include "elbowroom/backend/registry.hpp"
#include "elbowroom/plan/capabilities.hpp"
#include "exit_code.hpp"
#include "explain_command.hpp"
#include "help.hpp"
#include "launch_command.hpp"
#include "list_command.hpp"
#include "measure_command.hpp"
#include "plan_command.hpp"
#include "profile_command.hpp"
#include "rank_session.hpp"
#include "report_command.hpp"
#include "run_command.hpp"
#include "step_command.hpp"
#include "tune_command.hpp"
#include "validate_command.hpp"

namespace {

elbowroom::Result<elbowroom::LiveMachine> live_device() {
  for (const elbowroom::BackendEntry& entry : elbowroom::backends()) {
    const auto backend = entry.open({});
    if (backend && (*backend)->provenance() == elbowroom::Provenance::measured) {
      const elbowroom::Result<elbowroom::Capabilities> can = (*backend)->capabilities();
      return elbowroom::LiveMachine{(*backend)->devices().front().limits, can ? can->comm_release : std::nullopt};
    }
  }
  return elbowroom::unavailable("no GPU can be used here");
}

/// The parser says of a word that is no subcommand only that one is missing.
std::string unknown_command(const CLI::App& app, int argc, char** argv) {
  if (argc < 2 || argv[1][0] == '-') { return ""; }
  std::string names;
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (command->get_name() == argv[1]) { return ""; }
    names += (names.empty() ? "" : ", ") + command->get_name();
  }
  return fmt::format("'{}' is no subcommand, expected one of {}", argv[1], names);
}

/// Options end at "--" there.
bool takes_command(std::string_view where) {
  return where == "elbowroom run" || where == "elbowroom launch" || where == "elbowroom measure";
}

/// The parser names what it did not expect from the last argument to the first.
std::string message_of(const CLI::App& app, const CLI::ParseError& error) {
  if (dynamic_cast<const CLI::ExtrasError*>(&error) == nullptr) { return error.what(); }
  const std::vector<std::string> left = app.remaining(/*recurse=*/true);
  return fmt::format("{} not expected: {}", left.size() == 1 ? "The following argument was" : "The following arguments were",
                     fmt::join(left, " "));
}

/// What the parser says, and where more is to be read.
void complain_of(const CLI::App& app, const elbowroom::SplitCommandLine& split, const CLI::ParseError& error) {
  std::string where = "elbowroom";
  for (const CLI::App* command = &app; !command->get_subcommands().empty();) {
    command = command->get_subcommands().front();
    where += " " + command->get_name();
  }
  const bool without_dashes = takes_command(where) && !split.command && dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr;
  const std::string expected = without_dashes ? "expected -- before the command, see " + where : "see " + where;
  elbowroom::print_notice(where, fmt::format("{}; {} --help", message_of(app, error), expected));
}

/// An empty value is seldom meant: a variable of a script that is not set. Without this it would stand for a default.
void refuse_empty_values(CLI::App& app) {
  const auto filled = [](const std::string& value) {
    return value.empty() ? std::string("empty, expected a value") : std::string();
  };
  for (CLI::Option* option : app.get_options()) {
    if (option->get_items_expected_max() > 0) { option->check(filled); }
  }
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) { refuse_empty_values(*command); }
}

/// --help and --version.
int show_help(const CLI::App& app, const CLI::ParseError& asked) {
  std::ostringstream text;
  static_cast<void>(app.exit(asked, text, text));
  const elbowroom::Status printed = elbowroom::print_table(text.str());
  return printed ? elbowroom::exit_ok : elbowroom::complain("elbowroom", printed.error());
}

void add_other_commands(CLI::App& app, const std::optional<std::vector<std::string>>& command, std::function<int()>& chosen,
                        std::function<int()>& by_one) {
  elbowroom::add_launch_command(app, command, chosen);
  elbowroom::add_measure_command(app, command, by_one);
  elbowroom::add_list_command(app, by_one);
  elbowroom::add_doctor_command(app, by_one);
  elbowroom::add_plan_command(app, live_device, by_one);
  elbowroom::add_bench_command(app, chosen);
  elbowroom::add_tune_command(app, chosen);
  elbowroom::add_step_command(app, by_one);
  elbowroom::add_profile_command(app, by_one);
  elbowroom::add_explain_command(app, command, command ? chosen : by_one);
  elbowroom::add_validate_command(app, by_one);
  elbowroom::add_calibrate_command(app, by_one);
  elbowroom::add_report_command(app, by_one);
  elbowroom::add_completion_command(app, by_one);
}

int run(int argc, char** argv) {
  CLI::App app("Leaves room on the GPU for communication: plan, measure and choose how computation and collectives overlap.",
               "elbowroom");
  app.formatter(std::make_shared<elbowroom::Help>());
  app.set_version_flag("-V,--version", "elbowroom " ELBOWROOM_VERSION);
  app.require_subcommand(1);
  app.fallthrough(false);

  std::function<int()> chosen;
  std::function<int()> by_one;  // what one process does for all, where a launcher started several
  const elbowroom::SplitCommandLine split = elbowroom::split_command_line(argc, argv);
  elbowroom::add_run_command(app, split.command, chosen);
  // A program that runs under `run` waits for none of the others.
  if (argc < 2 || std::string_view(argv[1]) != "run") { add_other_commands(app, split.command, chosen, by_one); }
  refuse_empty_values(app);
  elbowroom::add_examples(app);
  app.footer("elbowroom help SUBCOMMAND shows its options, elbowroom doctor what this machine lacks.");
  if (const std::string unknown = unknown_command(app, argc, argv); !unknown.empty()) {
    if (elbowroom::speaks_for_all()) { elbowroom::print_notice(unknown); }
    return elbowroom::exit_bad_input;
  }
  try {
    app.parse(split.own_arguments, argv);
  } catch (const CLI::ParseError& error) {
    const bool helps = error.get_exit_code() == 0;
    if (!elbowroom::speaks_for_all()) { return helps ? elbowroom::exit_ok : elbowroom::exit_bad_input; }
    if (helps) { return show_help(app, error); }
    complain_of(app, split, error);
    return elbowroom::exit_bad_input;
  }
  if (by_one) { return elbowroom::speaks_for_all() ? by_one() : elbowroom::exit_ok; }
  return chosen();
}

}  // namespace

int main(int argc, char** argv) {
  elbowroom::occupy_standard_streams();
  try {
    std::vector<char*> arguments = elbowroom::as_options(argc, argv);
    const int count = static_cast<int>(arguments.size());
    arguments.push_back(nullptr);
    return run(count, arguments.data());
  } catch (const std::exception& error) {
    elbowroom::print_notice(std::string("unexpected: ") + error.what());
    return elbowroom::exit_failed;
  }
}
