#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>

namespace elbowroom::detail {

/// The number by which NCCL and RCCL name their version, 22809 for 2.28.9.
inline std::string dotted_version(std::int64_t version) {
  return fmt::format("{}.{}.{}", version / 10'000, version / 100 % 100, version % 100);
}

}  // namespace elbowroom::detail
