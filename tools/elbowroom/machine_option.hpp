#pragma once

#include <string>

#include "elbowroom/base/result.hpp"
#include "elbowroom/network/machine.hpp"

namespace elbowroom {

/// What --machine names: an entry of the catalog, or a file, which has a dot or a slash in its name.
Result<MachineSpec> machine_of(const std::string& word);

/// The words of its help.
std::string machine_help();

}  // namespace elbowroom
