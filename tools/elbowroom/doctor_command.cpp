#include "doctor_command.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "console.hpp"
#include "doctor/checks.hpp"
#include "doctor/library_path.hpp"
#include "doctor_facts.hpp"
#include "exit_code.hpp"
#include "terminal.hpp"

namespace elbowroom {
namespace {

constexpr std::size_t kColumns = 80;
constexpr const char* kLibraryPath = "LD_LIBRARY_PATH";
constexpr const char* kGivenPath = "ELBOWROOM_DOCTOR_LIBRARY_PATH";  // from this process to the one in its place

/// The loader has read the variable when a program starts. Where it names the current folder, the program starts again without
/// that, so that none of the libraries that are looked for comes from there.
void leave_current_folder(bool json) {
  const char* const path = std::getenv(kLibraryPath);
  if (path == nullptr || *path == '\0' || std::getenv(kGivenPath) != nullptr) { return; }
  const std::string without = doctor::without_empty_entries(path);
  if (without == path) { return; }
  setenv(kGivenPath, path, 1);
  setenv(kLibraryPath, without.c_str(), 1);
  std::array<char*, 4> arguments{};
  std::string name = "elbowroom";
  std::string command = "doctor";
  std::string option = "--json";
  arguments = {name.data(), command.data(), json ? option.data() : nullptr, nullptr};
  execv("/proc/self/exe", arguments.data());
}

/// The states of the checks as colours: green is ok, yellow asks for something.
std::string colored(std::string table) {
  for (const auto& [state, shown] :
       {std::pair("\n  ok    ", "\n  \x1b[32mok\x1b[0m    "), {"\n  to do ", "\n  \x1b[33mto do\x1b[0m "}}) {
    const std::string_view from = state;
    const std::string_view to = shown;
    for (std::size_t at = 0; (at = table.find(from, at)) != std::string::npos; at += to.size()) {
      table.replace(at, from.size(), to);
    }
  }
  return table;
}

Status show_checks(const doctor::Facts& facts, const std::vector<doctor::Check>& checks) {
  std::string table = doctor::to_table(facts, checks, std::min(kColumns, table_columns(false)));
  return print_table(shows_colors(STDOUT_FILENO) ? colored(std::move(table)) : table, true);
}

int run_doctor(bool json) {
  leave_current_folder(json);
  doctor::Facts facts = doctor_facts();
  if (const char* const given = std::getenv(kGivenPath)) { facts.library_path = given; }
  const std::vector<doctor::Check> checks = doctor::checks_of(facts);
  const Status printed = json ? print(doctor::to_json(facts, checks)) : show_checks(facts, checks);
  if (!printed) { return complain("elbowroom doctor", printed.error()); }
  return doctor::has_work(checks) ? exit_failed : exit_ok;
}

}  // namespace

void add_doctor_command(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* command =
      app.add_subcommand("doctor", "What this machine has and lacks for run, bench and tune, and what to do about it");
  command->footer("PyTorch and JAX are those of the first python3 on PATH, or of ELBOWROOM_PYTHON.");
  // `--json -` as bench has it is the same as `--json`.
  CLI::Option* json = command->add_option("--json", "Write elbowroom.doctor/1 to standard output instead of lines")->expected(0, 1);
  json->check(CLI::IsMember({"-"}))->type_name("[-]");
  command->callback([&chosen, json] {
    const bool as_json = !json->empty();
    chosen = [as_json] { return run_doctor(as_json); };
  });
}

}  // namespace elbowroom
