#pragma once

#include <cstdint>

/// What the comparison of budgets and the agreement of ranks say to each other.
namespace elbowroom::interposer {

/// A budget as ranks agree on it: blocks, 0 for the library's own number, and whether the rank that decides has settled for them.
constexpr std::uint16_t kBudgetBlocks = 0xff;
constexpr std::uint16_t kBudgetKept = 0x100;

/// Counts since the process began, of collectives that the library asked about in communicators whose ranks can agree.
struct BudgetStanding {
  std::uint64_t asked = 0;
  std::uint64_t as_wanted = 0;  ///< what this process wanted was in force
  std::uint64_t all_ready = 0;  ///< all ranks were ready for the same as this process; of communicators that it leads
  std::uint64_t lowered = 0;    ///< got fewer blocks than the library was about to take, as far as it tells
  std::uint16_t agreed = 0;     ///< in force for the last one
  bool follows = false;         ///< a rank of another process leads some communicator
};

/// What this process says of itself.
struct BudgetWish {
  std::uint16_t value = 0;  ///< counts where it leads
  std::uint64_t ready = 0;  ///< the repetition of collectives for which it is ready; 0: none

  friend bool operator==(const BudgetWish&, const BudgetWish&) = default;
};

/// The other side; null where there is none. Both are lock-free and may be called with the core's lock held.
struct RankAgreement {
  BudgetStanding (*standing)() = nullptr;
  void (*want)(const BudgetWish& wish) = nullptr;
};

}  // namespace elbowroom::interposer
