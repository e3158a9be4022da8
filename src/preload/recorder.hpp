#pragma once

#include <cstdint>
#include <string>

#include "elbowroom/base/result.hpp"
#include "preload/variables.hpp"

namespace elbowroom::preload {

/// What the recorder is told. Times are nanoseconds since 1970 and from then on.
struct RecorderOrder {
  std::string library;
  std::string folder;  ///< for its traces and notes
  std::int64_t begin = 0;
  std::int64_t after = 0;
};

/// What makes CUDA load the recorder into a command. `unavailable` where CUDA is to load another library in `environment`: it has
/// one place for it, which stays the user's.
Result<Variables> recorder_environment(const RecorderOrder& order, const Variables& environment);

}  // namespace elbowroom::preload
