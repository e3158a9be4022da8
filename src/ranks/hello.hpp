#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace elbowroom::ranks {

/// How a rank says who it is.
struct Hello {
  std::string version;  ///< of Elbowroom
  int rank = 0;
  int size = 0;
  std::uint64_t job = 0;  ///< a hash of what its launcher calls its job
  std::string number;     ///< new in each hello, for the proofs that follow

  bool operator==(const Hello&) const = default;
};

std::string bytes_of(const Hello& hello);

/// Absent where it is none of ours.
std::optional<Hello> hello_in(std::string_view payload);

}  // namespace elbowroom::ranks
