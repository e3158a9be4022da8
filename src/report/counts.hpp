#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "elbowroom/base/time.hpp"

namespace elbowroom::detail {

inline void add(std::map<std::string, std::int64_t>& sum, const std::map<std::string, std::int64_t>& more) {
  for (const auto& [key, count] : more) { sum[key] += count; }
}

/// As documents and tables have it: 0 where there is none.
inline double nanoseconds_of(const std::optional<Microseconds>& time) { return time.value_or(Microseconds(0)).count() * 1000; }

}  // namespace elbowroom::detail
