#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "elbowroom/report/run_report.hpp"

namespace elbowroom::detail {

/// One set of buffers, as the hook into Python programs describes it.
struct SymmetricBuffers {
  std::string what;   ///< "DDP buckets"
  std::string state;  ///< "registered", "refused"
  std::string reason;
  std::int64_t buffers = 0;
  std::int64_t bytes = 0;
};

struct SymmetricMemory {
  std::vector<SymmetricBuffers> parts;
  std::vector<std::string> refused;  ///< why a process or a kind of buffers goes without
};

/// What the process's document holds; nothing of a document of another shape.
SymmetricMemory symmetric_memory_of(const ProcessReport& process);

}  // namespace elbowroom::detail
