#include "interposer/core/agreement.hpp"

#include <algorithm>

namespace elbowroom::interposer {
namespace {

static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

// Collectives from a proposal to its value: more after each abort, because some rank runs further ahead than that. A commit takes
// one of them back: who runs ahead does so for long.
constexpr std::uint64_t kLeastDistance = 8;
constexpr std::uint32_t kMostDoublings = 10;

}  // namespace

AgreementSeat AgreementSeat::join(AgreementBoard& board, std::uint32_t ranks, std::uint64_t process) {
  AgreementSeat seat;
  if (ranks < 2 || ranks > AgreementBoard::kMostMembers) { return seat; }
  const std::uint32_t index = board.joined.fetch_add(1, std::memory_order_acq_rel);
  if (index >= ranks) { return seat; }
  seat.board_ = &board;
  seat.index_ = index;
  seat.ranks_ = ranks;
  seat.process_ = process;
  board.members[index].process.store(process, std::memory_order_release);
  return seat;
}

void AgreementSeat::find_leader() {
  std::uint64_t least = ~std::uint64_t{0};
  std::uint32_t found = kNobody;
  bool within = true;
  for (std::uint32_t i = 0; i < ranks_; ++i) {
    const std::uint64_t process = board_->members[i].process.load(std::memory_order_acquire);
    if (process == 0) { return; }
    within = within && process == process_;
    if (process < least) {
      least = process;
      found = i;
    }
  }
  leader_ = found;
  led_here_ = least == process_;
  within_process_ = within;
}

void AgreementSeat::tell(std::uint64_t word) {
  if (board_ == nullptr) { return; }
  std::atomic<std::uint64_t>& told = board_->members[index_].told;
  // The line is read by the leader: it stays with the ranks that have it as long as nothing changes.
  if (told.load(std::memory_order_relaxed) != word) { told.store(word, std::memory_order_release); }
}

bool AgreementSeat::all_told(std::uint64_t word) const {
  return board_ != nullptr && std::all_of(board_->members.begin(), board_->members.begin() + ranks_, [word](const auto& member) {
           return member.told.load(std::memory_order_acquire) == word;
         });
}

bool AgreementSeat::all_acknowledged(std::uint64_t at) const {
  return std::all_of(board_->members.begin(), board_->members.begin() + ranks_,
                     [at](const auto& member) { return member.acknowledged.load(std::memory_order_acquire) == at; });
}

bool AgreementSeat::all_passed(std::uint64_t at) const {
  return std::all_of(board_->members.begin(), board_->members.begin() + ranks_,
                     [at](const auto& member) { return member.sequence.load(std::memory_order_acquire) > at; });
}

bool AgreementSeat::turn(const Proposal& proposed, Fate fate) {
  std::uint64_t expected = packed(proposed);
  return board_->word.compare_exchange_strong(expected, packed({fate, proposed.value, proposed.at}), std::memory_order_acq_rel);
}

void AgreementSeat::propose(std::uint32_t wanted) {
  std::uint64_t furthest = 0;
  for (std::uint32_t i = 0; i < ranks_; ++i) {
    furthest = std::max(furthest, board_->members[i].sequence.load(std::memory_order_acquire));
  }
  const std::uint64_t distance = kLeastDistance << std::min(aborts_, kMostDoublings);
  // Nobody else writes a word that is not proposed.
  board_->word.store(packed({Fate::proposed, wanted, furthest + distance}), std::memory_order_release);
}

void AgreementSeat::lead(std::uint32_t wanted, std::uint64_t source) {
  if (board_ != nullptr && leader_ == kNobody) { find_leader(); }
  if (!leads() || board_->joined.load(std::memory_order_acquire) != ranks_) { return; }
  if (board_->source.load(std::memory_order_relaxed) != source) { board_->source.store(source, std::memory_order_relaxed); }
  const Proposal now = load();
  if (now.fate == Fate::proposed) {
    if (now.at > sequence_ && all_acknowledged(now.at) && turn(now, Fate::committed)) { aborts_ -= aborts_ > 0 ? 1 : 0; }
    return;
  }
  // A committed word stays until all have read it at its collective.
  if (now.fate == Fate::committed && !all_passed(now.at)) { return; }
  if (now.fate == Fate::aborted && wanted != value_) { ++aborts_; }
  if (wanted != value_) { propose(wanted); }
}

std::uint32_t AgreementSeat::next() {
  if (board_ == nullptr) { return 0; }
  if (leader_ == kNobody) { find_leader(); }
  AgreementBoard::Member& self = board_->members[index_];
  Proposal now = load();
  if (now.fate == Fate::proposed && now.at > sequence_) { self.acknowledged.store(now.at, std::memory_order_release); }
  // Without this rank's acknowledgement it cannot have been committed; with it, the word that the swap finds is the one for all.
  if (now.fate == Fate::proposed && now.at <= sequence_ && !turn(now, Fate::aborted)) { now = load(); }
  if (now.fate == Fate::committed && now.at == sequence_) { value_ = now.value; }
  ++sequence_;
  self.sequence.store(sequence_, std::memory_order_release);
  return value_;
}

}  // namespace elbowroom::interposer
