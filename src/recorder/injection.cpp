#include "recorder/recorder.hpp"

/// CUDA calls this when the program uses it first: the library stands in CUDA_INJECTION64_PATH.
// NOLINTNEXTLINE(readability-identifier-naming): the name is CUDA's
extern "C" __attribute__((visibility("default"))) int InitializeInjection() {
  if (const auto settings = elbowroom::recorder::settings()) { elbowroom::recorder::begin(*settings); }
  return 1;
}
