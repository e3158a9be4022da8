#pragma once

#include <cstdio>
#include <cstdlib>
#include <string>

#include "elbowroom/base/result.hpp"

// How a fuzzer ends when what it checks does not hold: libFuzzer keeps the input.
namespace elbowroom {

[[noreturn]] inline void stop(const char* what, const std::string& text) {
  std::fprintf(stderr, "%s: '%s'\n", what, text.c_str());
  std::abort();
}

inline void check_line(const Error& error) {
  if (error.message.empty() || error.message.find('\n') != std::string::npos) { stop("the error is not one line", error.message); }
}

}  // namespace elbowroom
