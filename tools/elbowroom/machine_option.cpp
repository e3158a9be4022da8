#include "machine_option.hpp"

#include <fmt/format.h>

#include "output.hpp"

namespace elbowroom {

Result<MachineSpec> machine_of(const std::string& word) {
  if (word.find_first_of("./") == std::string::npos) {
    Result<MachineSpec> machine = find_machine(word);
    return machine ? machine : invalid_input(fmt::format("--machine: {}, or a file", machine.error().message));
  }
  const Result<std::string> text = read_file(word);
  if (!text) { return invalid_input(fmt::format("--machine: {}", text.error().message)); }
  return parse_machine(*text, word);
}

std::string machine_help() {
  std::string names;
  for (const MachineSpec& machine : machine_catalog()) { names += fmt::format("{}{}", names.empty() ? "" : ", ", machine.name); }
  return fmt::format("Hosts and what joins them: an elbowroom.machine/1 file, or one of {}", names);
}

}  // namespace elbowroom
