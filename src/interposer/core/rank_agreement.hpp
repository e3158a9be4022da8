#pragma once

#include <cstdint>

/// What the comparisons of arms and the agreement of ranks say to each other.
namespace elbowroom::interposer {

/// What ranks agree on, in one word: the arm of the controls, where all have the same, whether that is settled, and a mark of the
/// repetition it is for.
constexpr std::uint32_t kArmShared = 0x1;  ///< without it each process has its own arm
constexpr std::uint32_t kArmKept = 0x2;
constexpr unsigned kArmAt = 2;
constexpr std::uint32_t kArmMask = 0x3;
constexpr unsigned kMarkAt = 4;
constexpr std::uint32_t kMarkMask = 0x1ff;
constexpr unsigned kAgreedBits = 13;

constexpr std::uint32_t agreed_arm(std::uint32_t agreed) { return agreed >> kArmAt & kArmMask; }
/// What one phase of a program left in force is none of the next one's: two differ in it but for one time in 512.
constexpr std::uint32_t mark_of(std::uint64_t pattern) {
  return static_cast<std::uint32_t>((pattern * 0x9e3779b97f4a7c15U) >> 55U) << kMarkAt;
}
constexpr bool is_for(std::uint32_t agreed, std::uint64_t pattern) {
  return pattern != 0 && (agreed & kMarkMask << kMarkAt) == mark_of(pattern);
}

/// Counts since the process began, of collectives in communicators whose ranks can agree.
struct RankStanding {
  std::uint64_t asked = 0;
  std::uint64_t as_wanted = 0;  ///< what this process wanted was in force
  std::uint64_t all_ready = 0;  ///< all ranks were ready for the same as this process; of communicators that it leads
  std::uint32_t agreed = 0;     ///< in force for the last one, as the process that decides wants it
  bool follows = false;         ///< a rank of another process leads some communicator
  bool with_processes = false;  ///< some communicator has ranks of several processes
};

/// What this process says of itself.
struct RankWish {
  std::uint32_t value = 0;  ///< counts where it leads
  std::uint64_t ready = 0;  ///< what it is ready for; 0: nothing

  friend bool operator==(const RankWish&, const RankWish&) = default;
};

/// The other side; null where there is none. All are lock-free and may be called with the core's lock held.
struct RankAgreement {
  RankStanding (*standing)() = nullptr;
  std::uint32_t (*agreed)() = nullptr;  ///< RankStanding::agreed alone, for every collective
  void (*want)(const RankWish& wish) = nullptr;
  bool (*several)() = nullptr;  ///< some communicator of this process has several ranks, or nobody told how many
};

}  // namespace elbowroom::interposer
