#include "completion_command.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "console.hpp"
#include "exit_code.hpp"

namespace elbowroom {
namespace {

using Commands = std::vector<const CLI::App*>;
using Options = std::vector<const CLI::Option*>;

Commands subcommands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

/// Its own, and those of its subcommands: a word further on may belong to either. Positional ones have no name to complete.
Options named_options(const CLI::App& command) {
  Options options;
  const auto unknown = [&options](const CLI::Option* option) {
    const bool known = std::ranges::any_of(options, [option](const auto* one) { return one->get_name() == option->get_name(); });
    return !option->get_positional() && !known;
  };
  std::ranges::copy_if(command.get_options(), std::back_inserter(options), unknown);
  for (const CLI::App* part : subcommands_of(command)) {
    std::ranges::copy_if(part->get_options(), std::back_inserter(options), unknown);
  }
  return options;
}

std::string long_name(const CLI::Option& option) {
  return option.get_lnames().empty() ? "-" + option.get_snames().front() : "--" + option.get_lnames().front();
}

std::string words_for_bash(const CLI::App& command) {
  std::string words;
  for (const CLI::App* part : subcommands_of(command)) { words += part->get_name() + " "; }
  for (const CLI::Option* option : named_options(command)) { words += long_name(*option) + " "; }
  return words;
}

std::string for_bash(const CLI::App& app) {
  std::string cases;
  std::string names;
  for (const CLI::App* command : subcommands_of(app)) {
    names += command->get_name() + " ";
    cases += fmt::format("    {}) words=\"{}\" ;;\n", command->get_name(), words_for_bash(*command));
  }
  return fmt::format(
      "_elbowroom() {{\n"
      "  local current=${{COMP_WORDS[COMP_CWORD]}} words= at\n"
      "  for ((at = 1; at < COMP_CWORD; ++at)); do\n"
      "    [[ ${{COMP_WORDS[at]}} != -- ]] || {{ _command_offset $((at + 1)) 2>/dev/null; return; }}\n"
      "  done\n"
      "  case $((COMP_CWORD > 1)):${{COMP_WORDS[1]}} in\n"
      "    0:*) words=\"{}help version\" ;;\n"
      "    1:help) words=\"{}\" ;;\n"
      "  esac\n"
      "  ((COMP_CWORD == 1)) || case ${{COMP_WORDS[1]}} in\n{}  esac\n"
      "  mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$current\")\n"
      "}}\n"
      "complete -o default -F _elbowroom elbowroom\n",
      names, names, cases);
}

/// Within single quotes, as `name:description`.
std::string described_for_zsh(std::string_view name, std::string_view description) {
  std::string text = fmt::format("'{}:", name);
  for (const char letter : description) { text += letter == '\'' ? std::string("'\\''") : std::string(1, letter); }
  return text + "' ";
}

std::string for_zsh(const CLI::App& app) {
  std::string commands;
  std::string cases;
  for (const CLI::App* command : subcommands_of(app)) {
    commands += described_for_zsh(command->get_name(), command->get_description());
    cases += fmt::format("    {}) options=(", command->get_name());
    for (const CLI::App* part : subcommands_of(*command)) { cases += described_for_zsh(part->get_name(), part->get_description()); }
    for (const CLI::Option* option : named_options(*command)) {
      cases += described_for_zsh(long_name(*option), option->get_description());
    }
    cases += ") ;;\n";
  }
  return fmt::format(
      "#compdef elbowroom\n"
      "_elbowroom() {{\n"
      "  local -a commands options\n"
      "  local at=${{words[(I)--]}}\n"
      "  if ((at > 1 && at < CURRENT)); then\n"
      "    words=(${{words[at+1,-1]}}) CURRENT=$((CURRENT - at)); _normal; return\n"
      "  fi\n"
      "  commands=({})\n"
      "  if ((CURRENT == 2)); then _describe command commands; return; fi\n"
      "  case $words[2] in\n{}  esac\n"
      "  _describe option options\n"
      "  [[ $PREFIX == -* ]] || _files\n"
      "}}\n"
      "compdef _elbowroom elbowroom\n",
      commands, cases);
}

/// Text in which troff finds no command.
std::string plain_for_man(std::string_view text) {
  std::string plain;
  bool begins = true;
  for (const char letter : text) {
    if (begins && (letter == '.' || letter == '\'')) { plain += "\\&"; }
    if (letter == '\\') {
      plain += "\\e";
    } else {
      plain += letter == '-' ? std::string("\\-") : std::string(1, letter);
    }
    begins = letter == '\n';
  }
  return plain;
}

std::string command_for_man(const CLI::App& command, const std::string& called) {
  std::string text = fmt::format(".SS {} {}\n{}.\n", called, command.get_name(), plain_for_man(command.get_description()));
  for (const CLI::Option* option : command.get_options()) {
    const std::string name = option->get_positional() ? option->get_name(true, false) : option->get_name(false, true);
    text += fmt::format(".TP\n.B {}\n{}.\n", plain_for_man(name), plain_for_man(option->get_description()));
  }
  // The footer has lines of its own: the call, an example, the exit codes.
  text += ".PP\n.nf\n" + plain_for_man(command.get_footer()) + "\n.fi\n";
  for (const CLI::App* part : subcommands_of(command)) { text += command_for_man(*part, called + " " + command.get_name()); }
  return text;
}

std::string for_man(const CLI::App& app) {
  std::string text = fmt::format(
      ".TH ELBOWROOM 1 \"\" \"elbowroom {}\"\n.SH NAME\nelbowroom \\- room on the GPU for communication\n.SH SYNOPSIS\n"
      ".B elbowroom\n.I SUBCOMMAND\n[OPTIONS]\n.SH DESCRIPTION\n{}\n.SH SUBCOMMANDS\n",
      ELBOWROOM_VERSION, plain_for_man(app.get_description()));
  for (const CLI::App* command : subcommands_of(app)) { text += command_for_man(*command, "elbowroom"); }
  return text;
}

}  // namespace

void add_completion_command(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* command = app.add_subcommand("completion", "Prints completions for a shell, or the manual page");
  const auto form = std::make_shared<std::string>();
  command->add_option("FORM", *form, "bash, zsh or man")->required()->check(CLI::IsMember({"bash", "zsh", "man"}));
  command->callback([&app, &chosen, form] {
    chosen = [&app, form] {
      const Status printed = print(*form == "bash" ? for_bash(app) : *form == "zsh" ? for_zsh(app) : for_man(app));
      return printed ? exit_ok : complain("elbowroom completion", printed.error());
    };
  });
}

}  // namespace elbowroom
