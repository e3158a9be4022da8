#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace elbowroom::interposer::nccl {

/// Why no budget can be agreed for a communicator; the report's words.
enum class BudgetRefusal : std::uint8_t {
  none,
  nothing_asked,
  one_rank,
  old_library,    ///< its plugin interface names no communicator
  several_hosts,  ///< the ranks share no memory
  many_ranks,
  own_thresholds,  ///< when NCCL takes fewer channels is the user's word
  own_threads,     ///< it asks on threads of its own, where nobody tells how many collectives a group has
  no_memory,
  count
};
const char* text(BudgetRefusal refusal);

/// What NCCL asked, by kind of collective, and how its communicators stood.
struct BudgetCounts {
  struct Of {
    std::atomic<std::uint64_t> asked{0}, lowered{0};
  };
  static constexpr std::size_t kFunctions = 6;  ///< NCCL's five collectives that ask, and the rest

  std::array<Of, kFunctions> functions{};
  std::array<std::atomic<std::uint64_t>, static_cast<std::size_t>(BudgetRefusal::count)> communicators{};

  Of& of(int function) {
    const bool known = function >= 0 && function < static_cast<int>(kFunctions) - 1;
    return functions[known ? static_cast<std::size_t>(function) : kFunctions - 1];
  }
};

}  // namespace elbowroom::interposer::nccl
