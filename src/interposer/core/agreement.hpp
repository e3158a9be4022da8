#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interposer/core/rank_agreement.hpp"

/// How the ranks of a communicator come to one value without waiting for each other.
///
/// Each rank counts its collectives. One rank, the leader, proposes a value from collective X on. A rank that passes by before X
/// acknowledges. The leader is of the process with the least number, so that leaders of several communicators never lead each other
/// in a circle. When all have, the leader commits. A rank that reaches X while the word is still only proposed turns it into
/// aborted. Both changes are one compare-and-swap of one word, so that the word at X is the same for all. Where a rank is late,
/// lost or dead, the old value holds everywhere.
namespace elbowroom::interposer {

enum class Fate : std::uint8_t { none, proposed, committed, aborted };

/// Packed into the one word that decides.
struct Proposal {
  Fate fate = Fate::none;
  std::uint32_t value = 0;  ///< below 2^kAgreedBits
  std::uint64_t at = 0;     ///< the first collective that the value is for; below 2^40

  friend bool operator==(const Proposal&, const Proposal&) = default;
};

constexpr std::uint64_t packed(const Proposal& proposal) {
  return static_cast<std::uint64_t>(proposal.fate) | (static_cast<std::uint64_t>(proposal.value) << 2U) |
         (proposal.at << (2U + kAgreedBits));
}
constexpr Proposal unpacked(std::uint64_t word) {
  constexpr std::uint64_t values = (std::uint64_t{1} << kAgreedBits) - 1;
  return {static_cast<Fate>(word & 3U), static_cast<std::uint32_t>(word >> 2U & values), word >> (2U + kAgreedBits)};
}

/// What the ranks share. All zeros is a board at which nobody sits yet. Used in memory that processes map: lock-free, no pointer.
struct AgreementBoard {
  static constexpr std::size_t kMostMembers = 64;

  struct alignas(64) Member {
    std::atomic<std::uint64_t> sequence{0};      ///< collectives that it has begun
    std::atomic<std::uint64_t> acknowledged{0};  ///< Proposal::at that it has seen before reaching it
    std::atomic<std::uint64_t> process{0};       ///< number of its process, equal for ranks of one process alone; 0: has not come
    std::atomic<std::uint64_t> told{0};          ///< what it said of itself last (AgreementSeat::tell)
  };

  std::atomic<std::uint64_t> word{0};
  std::atomic<std::uint64_t> source{0};  ///< number of the process whose wishes the leader hands on, or its own; 0: not known
  std::atomic<std::uint32_t> joined{0};
  std::array<Member, kMostMembers> members{};
};

/// One rank's place at a board. For one thread at a time: a communicator is used by one.
class AgreementSeat {
 public:
  AgreementSeat() = default;  ///< of no board: the value stays 0
  /// Takes the next place. The seat is none where more ranks come than there are: such a board is not acknowledged by all any more.
  static AgreementSeat join(AgreementBoard& board, std::uint32_t ranks, std::uint64_t process);

  /// Before this rank's next collective: the value that holds for it.
  std::uint32_t next();
  /// For the leader, before `next`: commits what all have acknowledged, or proposes `wanted` where it is not what was decided last.
  /// `source`: the process that wants it.
  void lead(std::uint32_t wanted, std::uint64_t source);

  [[nodiscard]] bool sits() const { return board_ != nullptr; }
  /// All have come.
  [[nodiscard]] bool is_complete() const { return leader_ != kNobody; }
  /// Not before all have come.
  [[nodiscard]] bool leads() const { return board_ != nullptr && index_ == leader_; }
  /// Whether another rank of this process leads.
  [[nodiscard]] bool led_by_sibling() const { return led_here_ && index_ != leader_; }
  /// Whether a rank of another process leads.
  [[nodiscard]] bool follows() const { return leader_ != kNobody && !led_here_; }
  /// For the leader to know before it proposes.
  void tell(std::uint64_t word);
  [[nodiscard]] bool all_told(std::uint64_t word) const;
  /// Whose wishes the leader proposes; 0: not known.
  [[nodiscard]] std::uint64_t source() const { return board_ == nullptr ? 0 : board_->source.load(std::memory_order_relaxed); }
  /// All ranks are of this process, as far as is known.
  [[nodiscard]] bool within_process() const { return board_ == nullptr || within_process_; }
  [[nodiscard]] bool is_last() const { return board_ != nullptr && index_ + 1 == ranks_; }
  /// Number of its process.
  [[nodiscard]] std::uint64_t process() const { return process_; }
  [[nodiscard]] std::uint32_t value() const { return value_; }
  [[nodiscard]] std::uint64_t sequence() const { return sequence_; }

 private:
  [[nodiscard]] Proposal load() const { return unpacked(board_->word.load(std::memory_order_acquire)); }
  [[nodiscard]] bool all_acknowledged(std::uint64_t at) const;
  [[nodiscard]] bool all_passed(std::uint64_t at) const;
  bool turn(const Proposal& proposed, Fate fate);
  void propose(std::uint32_t wanted);
  void find_leader();

  static constexpr std::uint32_t kNobody = 0xffffffff;
  AgreementBoard* board_ = nullptr;
  std::uint32_t index_ = 0;
  std::uint32_t ranks_ = 0;
  std::uint64_t process_ = 0;
  std::uint32_t leader_ = kNobody;
  bool led_here_ = false;
  bool within_process_ = false;
  std::uint32_t aborts_ = 0;  ///< of the leader's proposals, less those that were committed since
  std::uint32_t value_ = 0;
  std::uint64_t sequence_ = 0;
};

}  // namespace elbowroom::interposer
