#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace elbowroom::detail {

inline void add(std::map<std::string, std::int64_t>& sum, const std::map<std::string, std::int64_t>& more) {
  for (const auto& [key, count] : more) sum[key] += count;
}

}  // namespace elbowroom::detail
