#pragma once

#include "elbowroom/base/result.hpp"

namespace elbowroom {

/// What the process says to scripts; fixed.
enum ExitCode : int {
  exit_ok = 0,
  exit_failed = 1,         ///< a check failed, or something went wrong on the way
  exit_bad_input = 2,      ///< usage or bad input
  exit_nothing_here = 77,  ///< nothing to run here: no usable backend
};

constexpr ExitCode exit_code_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::invalid_input:
      return exit_bad_input;
    case ErrorKind::unavailable:
      return exit_nothing_here;
    case ErrorKind::failed:
      break;
  }
  return exit_failed;
}

}  // namespace elbowroom
