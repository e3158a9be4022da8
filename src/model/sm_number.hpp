#pragma once

#include <charconv>
#include <string_view>

namespace elbowroom::detail {

/// 90 of "sm_90" and "sm_90a"; 0 where the name is none of NVIDIA's.
inline int sm_number(std::string_view architecture) {
  int number = 0;
  if (architecture.starts_with("sm_")) {
    std::from_chars(architecture.data() + 3, architecture.data() + architecture.size(), number);
  }
  return number;
}

}  // namespace elbowroom::detail
