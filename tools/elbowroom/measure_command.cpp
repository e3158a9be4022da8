#include "measure_command.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string_view>
#include <system_error>
#include <utility>

#include "console.hpp"
#include "doctor_facts.hpp"
#include "exit_code.hpp"
#include "output.hpp"
#include "run_python.hpp"

namespace elbowroom {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMeasure = "elbowroom measure";
constexpr std::string_view kMeasureSchema = "elbowroom.measure/1";
// The statistics have one home, which the yardstick uses too: the Python part. Python's own folders alone are searched besides.
constexpr const char* kStart = "import sys; sys.path.insert(0, sys.argv.pop(1)); from elbowroom.measure import main; main()";

struct MeasureArguments {
  int pairs = 5;
  std::string step;
  std::optional<int> skip;
  double timeout = 3600;
  std::vector<std::string> run_options;
  std::optional<std::string> json;
};

Status check_measure(const MeasureArguments& arguments, const std::optional<std::vector<std::string>>& command) {
  if (!command || command->empty()) { return invalid_input("expected -- and a command after the options"); }
  if (arguments.pairs < 1) { return invalid_input(fmt::format("--pairs: {}, expected 1 or more", arguments.pairs)); }
  if (arguments.skip && *arguments.skip < 0) {
    return invalid_input(fmt::format("--skip: {}, expected 0 or more", *arguments.skip));
  }
  if (arguments.skip && arguments.step.empty()) { return invalid_input("--skip: expected --step beside it"); }
  if (!std::isfinite(arguments.timeout) || arguments.timeout <= 0) {
    return invalid_input(fmt::format("--timeout: {}, expected seconds above 0", arguments.timeout));
  }
  return check_outputs(std::array{OutputFile{{"--json", arguments.json}, kMeasureSchema}});
}

std::vector<std::string> measure_words(const MeasureArguments& arguments, const std::vector<std::string>& command,
                                       const std::string& program) {
  std::vector<std::string> words = {
      "--elbowroom", program, "--pairs", fmt::to_string(arguments.pairs), "--timeout", fmt::to_string(arguments.timeout)};
  if (!arguments.step.empty()) { words.push_back("--step=" + arguments.step); }
  if (arguments.skip) { words.push_back(fmt::format("--skip={}", *arguments.skip)); }
  if (arguments.json) { words.push_back("--json=" + *arguments.json); }
  for (const std::string& option : arguments.run_options) { words.push_back("--run=" + option); }
  words.emplace_back("--");
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

/// Becomes the Python part: returns only where that cannot be started.
Error become(const MeasureArguments& arguments, const std::vector<std::string>& command) {
  const std::optional<std::string> hook = find_python_hook();
  if (!hook) { return unavailable("the Python part is not installed beside this program"); }
  const std::optional<std::string> python = chosen_python();
  if (!python) { return unavailable("python3 is not on PATH; expected Python 3.10 or later, there or in ELBOWROOM_PYTHON"); }
  std::error_code unknown;
  const std::string self = fs::read_symlink("/proc/self/exe", unknown).string();
  std::vector<std::string> words = {*python, "-I", "-B", "-c", kStart, fs::path(*hook).parent_path().parent_path().string()};
  for (std::string& word : measure_words(arguments, command, self)) { words.push_back(std::move(word)); }
  std::vector<char*> pointers;
  pointers.reserve(words.size() + 1);
  for (std::string& word : words) { pointers.push_back(word.data()); }
  pointers.push_back(nullptr);
  execv(pointers.front(), pointers.data());
  return unavailable(fmt::format("'{}' cannot be run: {}", *python, std::strerror(errno)));
}

int run_measure(const MeasureArguments& arguments, const std::optional<std::vector<std::string>>& command) {
  if (const Status sound = check_measure(arguments, command); !sound) { return complain(kMeasure, sound.error()); }
  return complain(kMeasure, become(arguments, *command));
}

}  // namespace

void add_measure_command(CLI::App& app, const std::optional<std::vector<std::string>>& command, std::function<int()>& chosen) {
  CLI::App* measure = app.add_subcommand("measure", "Measures what run is worth for a command: plain and under run, in turns");
  measure->footer(
      "Call: elbowroom measure [OPTIONS] -- COMMAND [ARGUMENTS]\nWhat follows the first -- is the command. It is launched twice a "
      "pair, until the result is known.");
  const auto arguments = std::make_shared<MeasureArguments>();
  measure->add_option("--pairs", arguments->pairs, "Pairs at most; after 3, 5, 8 and 12 of them the result may be known")
      ->capture_default_str();
  measure->add_option("--step", arguments->step,
                      "Expression for what the command prints of a step, with one group (?P<ms>...), (?P<s>...) or "
                      "(?P<per_second>...); without it the repeated sequence of collectives is a step");
  measure->add_option("--skip", arguments->skip, "Printed steps at the beginning that do not count; the first half when absent");
  measure->add_option("--run", arguments->run_options, "An option of elbowroom run, as --run=--same-bits; several times")
      ->take_all();
  measure->add_option("--timeout", arguments->timeout, "Seconds of one launch")->capture_default_str();
  measure->add_option("--json", arguments->json, "Where the document elbowroom.measure/1 goes; - for standard output");
  measure->callback([arguments, command, &chosen] { chosen = [arguments, command] { return run_measure(*arguments, command); }; });
}

}  // namespace elbowroom
