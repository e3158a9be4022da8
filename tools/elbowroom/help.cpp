#include "help.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "report/wrapped_text.hpp"
#include "terminal.hpp"

namespace elbowroom {
namespace {

constexpr std::size_t kNarrowest = 60;
constexpr std::size_t kUsual = 80;
constexpr std::size_t kWidest = 120;  // longer lines are hard to read

std::size_t columns() { return std::clamp(terminal_columns(STDOUT_FILENO).value_or(kUsual), kNarrowest, kWidest); }

struct Example {
  std::string_view command;
  std::string_view text;
};

constexpr std::string_view kUsualCodes = "Exit codes: 0 ok, 1 a check failed, 2 bad input.";
constexpr std::string_view kMeasuringCodes = "Exit codes: 0 ok, 1 a check failed, 2 bad input, 77 nothing to run here.";
constexpr std::string_view kRunCodes =
    "Exit codes: the command's own; 128 + signal when it was killed, 127 when it does not exist, 2 bad input.";

constexpr std::array kExamples{
    Example{"list", "elbowroom list"},
    Example{"plan", "elbowroom plan --device h200 --threads 256 --registers 56 --static-shared 4096"},
    Example{"bench", "elbowroom bench --suite quick --json quick.json"},
    Example{"tune", "elbowroom tune --scenario case.json --budget 60 --profile choices.json"},
    Example{"step", "elbowroom step transformer --preset llama-3-8b --tokens 8192 --dp 2 --json step.json"},
    Example{"transformer", "elbowroom step transformer --preset llama-3-8b --tokens 8192 --dp 2 --json step.json"},
    Example{"profile", "elbowroom profile list --profile choices.json"},
    Example{"validate", "elbowroom validate rows measured.csv"},
    Example{"calibrate", "elbowroom calibrate --json calibrated.json"},
    Example{"report", "elbowroom report quick.json --html quick.html"},
    Example{"explain", "elbowroom explain trace.json.gz"},
    Example{"run", "elbowroom run -- torchrun --nproc-per-node 2 train.py"},
    Example{"launch", "elbowroom launch -n 2 -- elbowroom bench --suite quick"},
    Example{"measure", "elbowroom measure -- torchrun --nproc-per-node 2 train.py"},
    Example{"completion", "elbowroom completion bash >/etc/bash_completion.d/elbowroom"},
    Example{"doctor", "elbowroom doctor"},
};

std::string_view codes_of(const std::string& command) {
  if (command == "run" || command == "launch") { return kRunCodes; }
  constexpr std::array<std::string_view, 5> kMeasuring{"plan", "bench", "tune", "calibrate", "measure"};
  return std::ranges::find(kMeasuring, command) != kMeasuring.end() ? kMeasuringCodes : kUsualCodes;
}

}  // namespace

std::string Help::make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const {
  const std::string help = CLI::Formatter::make_help(app, std::move(name), mode);
  const std::size_t width = columns();
  std::string lines;
  for (std::string_view rest = help; !rest.empty();) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const std::size_t text = std::min(line.find_first_not_of(' '), line.size());
    const std::size_t indent = text > 0 && text < get_column_width() ? get_column_width() : text;
    lines += detail::wrapped(line.substr(0, text), line.substr(text), indent, width);
  }
  return lines;
}

std::string Help::make_option_opts(const CLI::Option* option) const {
  std::string all = CLI::Formatter::make_option_opts(option);
  // As later versions of CLI11 write a default.
  const std::string bracketed = " [" + option->get_default_str() + "] ";
  if (const std::size_t at = all.find(bracketed); at != std::string::npos) {
    all.replace(at, bracketed.size(), "=" + option->get_default_str());
  }
  return all.substr(0, all.find(" " + get_label("Excludes") + ":"));
}

void add_examples(CLI::App& app) {
  for (CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) {
    const auto* const example = std::ranges::find(kExamples, command->get_name(), &Example::command);
    std::string footer = command->get_footer();
    if (!footer.empty()) { footer += "\n"; }
    if (example != kExamples.end()) { footer += "Example:\n  " + std::string(example->text) + "\n"; }
    command->footer(footer + std::string(codes_of(command->get_name())));
    add_examples(*command);
  }
}

std::vector<char*> as_options(int argc, char** argv) {
  static std::string help = "--help";
  static std::string version = "--version";
  std::vector<char*> arguments(argv, argv + argc);
  const std::string_view first = argc > 1 ? argv[1] : "";
  if (argc == 2 && first == "version") { arguments[1] = version.data(); }
  if (first == "help") {
    arguments.erase(arguments.begin() + 1);
    arguments.push_back(help.data());
  }
  return arguments;
}

}  // namespace elbowroom
