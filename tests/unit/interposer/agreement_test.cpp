#include "interposer/core/agreement.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <array>
#include <memory>
#include <vector>

namespace elbowroom::interposer {
namespace {

/// Ranks at one board, each with what held for each of its collectives.
struct Table {
  std::unique_ptr<AgreementBoard> board = std::make_unique<AgreementBoard>();
  std::vector<AgreementSeat> seats;
  std::vector<std::vector<std::uint32_t>> held;

  explicit Table(std::uint32_t ranks) : held(ranks) {
    for (std::uint32_t i = 0; i < ranks; ++i) { seats.push_back(AgreementSeat::join(*board, ranks, i + 1)); }
  }
  void step(std::size_t rank, std::uint32_t wanted) {
    seats[rank].lead(wanted, 1);
    held[rank].push_back(seats[rank].next());
  }
  [[nodiscard]] Proposal word() const { return unpacked(board->word.load()); }
  /// All ranks that came to a collective had the same value there.
  [[nodiscard]] bool agrees() const {
    for (const auto& one : held) {
      for (const auto& other : held) {
        for (std::size_t i = 0; i < one.size() && i < other.size(); ++i) {
          if (one[i] != other[i]) { return false; }
        }
      }
    }
    return true;
  }
};

TEST(Agreement, PacksWhatItUnpacks) {
  const Proposal proposal{Fate::committed, 0x1ffe, (std::uint64_t{1} << 40U) - 1};
  EXPECT_EQ(unpacked(packed(proposal)), proposal);
  EXPECT_EQ(unpacked(0), Proposal());
}

// Both have begun none: the value is for number 0 + 8. The leader acknowledges in its first, the other in its first, the leader
// commits in its second.
TEST(Agreement, AValueHoldsFromTheSameCollective) {
  Table table(2);
  table.step(0, 16);
  EXPECT_EQ(table.word(), (Proposal{Fate::proposed, 16, 8}));
  table.step(1, 16);
  EXPECT_EQ(table.word().fate, Fate::proposed);
  table.step(0, 16);
  EXPECT_EQ(table.word(), (Proposal{Fate::committed, 16, 8}));
  for (int i = 2; i < 10; ++i) { table.step(0, 16); }
  for (int i = 1; i < 10; ++i) { table.step(1, 16); }
  for (const auto& held : table.held) { EXPECT_EQ(held, (std::vector<std::uint32_t>{0, 0, 0, 0, 0, 0, 0, 0, 16, 16})); }
}

// The other never comes: at its collective 8 the leader turns the word, and later proposals reach twice as far.
TEST(Agreement, WhoIsLateMakesItVoid) {
  Table table(2);
  for (int i = 0; i < 9; ++i) { table.step(0, 16); }
  EXPECT_EQ(table.word(), (Proposal{Fate::aborted, 16, 8}));
  table.step(0, 16);
  EXPECT_EQ(table.word(), (Proposal{Fate::proposed, 16, 9 + 16}));
  EXPECT_EQ(table.seats[0].value(), 0);
}

// A proposal that comes after a rank has passed it.
TEST(Agreement, WhoHasPassedMakesItVoid) {
  Table table(2);
  for (int i = 0; i < 12; ++i) { table.step(1, 0); }
  table.board->word.store(packed({Fate::proposed, 16, 8}));  // the leader had not seen how far the other one is
  table.step(0, 16);
  table.step(1, 0);
  EXPECT_EQ(table.word(), (Proposal{Fate::aborted, 16, 8}));
  for (int i = 0; i < 12; ++i) { table.step(0, 16); }
  EXPECT_TRUE(table.agrees());
}

TEST(Agreement, NothingIsProposedBeforeAllHaveCome) {
  auto board = std::make_unique<AgreementBoard>();
  AgreementSeat first = AgreementSeat::join(*board, 2, 1);
  first.lead(16, 1);
  EXPECT_EQ(board->word.load(), 0U);
  AgreementSeat second = AgreementSeat::join(*board, 2, 1);
  EXPECT_TRUE(second.is_last() && !second.leads());
  EXPECT_FALSE(AgreementSeat::join(*board, 2, 1).sits()) << "a third of two";
  first.lead(16, 1);
  EXPECT_EQ(board->word.load(), 0U) << "one too many has come";
}

// Whoever comes first: leaders by arrival could lead each other in a circle. Of two ranks of one process the first leads.
TEST(Agreement, TheLeaderIsOfTheProcessWithTheLeastNumber) {
  for (const std::array<std::uint64_t, 3>& order : {std::array<std::uint64_t, 3>{7, 5, 3}, {3, 7, 3}, {7, 3, 5}}) {
    auto board = std::make_unique<AgreementBoard>();
    std::vector<AgreementSeat> seats;
    for (const std::uint64_t process : order) { seats.push_back(AgreementSeat::join(*board, 3, process)); }
    const auto least = static_cast<std::size_t>(std::min_element(order.begin(), order.end()) - order.begin());
    for (std::size_t i = 0; i < seats.size(); ++i) {
      seats[i].next();
      EXPECT_EQ(seats[i].leads(), i == least) << i;
      EXPECT_EQ(seats[i].follows(), order[i] != 3) << i;
      EXPECT_EQ(seats[i].led_by_sibling(), order[i] == 3 && i != least) << i;
    }
  }
}

TEST(Agreement, OneRankOrTooManyHaveNoSeat) {
  auto board = std::make_unique<AgreementBoard>();
  EXPECT_FALSE(AgreementSeat::join(*board, 1, 1).sits());
  EXPECT_FALSE(AgreementSeat::join(*board, 65, 1).sits());
  AgreementSeat none;
  none.lead(3, 1);
  EXPECT_EQ(none.next(), 0U);
}

// Any order of ranks, whatever is wanted when, with ranks that stop: the same value at the same collective.
RC_GTEST_PROP(Agreement, HoldsForEveryOrderOfRanks, ()) {
  const auto ranks = static_cast<std::uint32_t>(*rc::gen::inRange(2, 6));
  Table table(ranks);
  const auto turns = *rc::gen::inRange<std::size_t>(0, 600);
  const auto dead = *rc::gen::inRange<std::size_t>(0, ranks * 2);
  const auto dies = *rc::gen::inRange<std::size_t>(0, 600);
  for (std::size_t turn = 0; turn < turns; ++turn) {
    const auto rank = *rc::gen::inRange<std::size_t>(0, ranks);
    if (rank == dead && turn >= dies) { continue; }
    const auto burst = *rc::gen::weightedElement<int>({{6, 1}, {2, 4}, {1, 20}});
    for (int i = 0; i < burst; ++i) { table.step(rank, static_cast<std::uint32_t>(turn / 40)); }
  }
  RC_ASSERT(table.agrees());
}

}  // namespace
}  // namespace elbowroom::interposer
