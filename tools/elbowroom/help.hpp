#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace elbowroom {

/// Help in lines that fit the terminal; 80 columns without one.
class Help : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name, CLI::AppFormatMode mode) const override;
  /// Without the options that one excludes, which would stand at both: the help says it in a sentence.
  std::string make_option_opts(const CLI::Option* option) const override;
};

/// An example and the exit codes below the help of each subcommand. To be called once all of them are there.
void add_examples(CLI::App& app);

/// `elbowroom help run` is `elbowroom run --help`, `elbowroom version` is `elbowroom --version`; anything else stays as it is.
std::vector<char*> as_options(int argc, char** argv);

}  // namespace elbowroom
