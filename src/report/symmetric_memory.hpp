#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "elbowroom/report/run_report.hpp"

namespace elbowroom::detail {

/// One set of buffers, as the hook into Python programs describes it.
struct SymmetricBuffers {
  std::string what;   ///< "DDP buckets"
  std::string state;  ///< "waiting", "registered", "refused", "given back"
  std::string reason;
  std::int64_t buffers = 0;
  std::int64_t bytes = 0;
  double ordinary_ms = 0;   ///< A step before the registration; 0: not compared.
  double symmetric_ms = 0;  ///< A step after it.
};

struct SymmetricMemory {
  std::vector<SymmetricBuffers> parts;
  std::vector<std::string> refused;  ///< why a process or a kind of buffers goes without
};

/// What the process's document holds; nothing of a document of another shape.
SymmetricMemory symmetric_memory_of(const ProcessReport& process);

/// "38.10 ms a step, 39.90 before"; empty where steps were not compared.
std::string compared_in_words(const SymmetricBuffers& part);

}  // namespace elbowroom::detail
