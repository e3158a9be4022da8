#include "doctor_command.hpp"

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <vector>

#include "console.hpp"
#include "doctor/checks.hpp"
#include "doctor/library_path.hpp"
#include "doctor_facts.hpp"
#include "exit_code.hpp"

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

int run_doctor(bool json) {
  leave_current_folder(json);
  doctor::Facts facts = doctor_facts();
  if (const char* const given = std::getenv(kGivenPath)) { facts.library_path = given; }
  const std::vector<doctor::Check> checks = doctor::checks_of(facts);
  const Status printed = json ? print(doctor::to_json(facts, checks)) : print_table(doctor::to_table(facts, checks, kColumns));
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
