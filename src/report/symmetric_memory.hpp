#pragma once

#include <cstdint>
#include <string>
#include <string_view>
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
  std::int64_t extra_bytes = 0;  ///< at most so many more than the program had for the same
  double ordinary_ms = 0;        ///< A step before the registration; 0: not compared.
  double symmetric_ms = 0;       ///< A step after it.
  std::string compared;          ///< "not slower", "not compared: steps are not alike"
};

/// A part of what the hook does that this PyTorch does not allow.
struct LeftOut {
  std::string part;
  std::string reason;
};

struct SymmetricMemory {
  std::vector<SymmetricBuffers> parts;
  std::vector<std::string> refused;  ///< why a process or a kind of buffers goes without
  std::vector<LeftOut> left_out;     ///< while the others go on
};

/// What the process's document holds; nothing of a document of another shape.
SymmetricMemory symmetric_memory_of(const ProcessReport& process);
/// The same of a process that wrote no report.
SymmetricMemory symmetric_memory_in(std::string_view text);

/// "38.10 ms a step, 39.90 before"; empty where steps were not compared.
std::string compared_in_words(const SymmetricBuffers& part);

}  // namespace elbowroom::detail
