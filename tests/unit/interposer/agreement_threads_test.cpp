#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <set>
#include <thread>
#include <vector>

#include "interposer/core/agreement.hpp"

namespace elbowroom::interposer {
namespace {

// Four ranks as threads, kept within 16 collectives of each other, as collectives that end together would.
TEST(AgreementThreads, TheSameValueAtTheSameCollective) {
  constexpr std::uint32_t ranks = 4;
  constexpr std::size_t steps = 20000;
  auto board = std::make_unique<AgreementBoard>();
  std::vector<AgreementSeat> seats;
  for (std::uint32_t i = 0; i < ranks; ++i) { seats.push_back(AgreementSeat::join(*board, ranks, i + 1)); }
  std::vector<std::vector<std::uint32_t>> held(ranks, std::vector<std::uint32_t>(steps));
  std::array<std::atomic<std::size_t>, ranks> progress{};
  std::vector<std::thread> threads;
  for (std::uint32_t rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      for (std::size_t step = 0; step < steps; ++step) {
        for (const auto& other : progress) {
          while (other.load() + 16 < step) { std::this_thread::yield(); }
        }
        seats[rank].lead(static_cast<std::uint32_t>(step / 500 % 7), 1);
        held[rank][step] = seats[rank].next();
        progress[rank].store(step + 1);
      }
    });
  }
  for (std::thread& thread : threads) { thread.join(); }
  for (const auto& other : held) { EXPECT_EQ(other, held[0]); }
  EXPECT_GT(std::set<std::uint32_t>(held[0].begin(), held[0].end()).size(), 3U) << "values were switched";
}

}  // namespace
}  // namespace elbowroom::interposer
