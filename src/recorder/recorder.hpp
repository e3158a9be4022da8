#pragma once

#include <optional>
#include <string>

#include "recorder/recording.hpp"

namespace elbowroom::recorder {

/// What the command that asked for a recording says.
struct Settings {
  std::string folder;
  Time command_begin = 0;  ///< ns since 1970
  Time after = 0;
};

/// From the environment; absent where nobody asked.
std::optional<Settings> settings();

/// Starts a thread that waits, records and writes one file. It calls CUPTI, never this function: CUDA is being initialised.
/// Once in a process; children that a fork makes have no recorder.
void begin(const Settings& settings);

}  // namespace elbowroom::recorder
