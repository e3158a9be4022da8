#pragma once

#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <new>
#include <random>
#include <vector>

#include "program.hpp"

/// Ranks as processes of their own, which come to the same collectives one after the other.

inline constexpr std::size_t kMostRanks = 8;
inline constexpr std::size_t kNever = ~std::size_t{0};

struct Job {
  std::size_t ranks = 2;
  std::size_t steps = 1000;
  std::uint32_t ahead = 4;    ///< collectives by which a rank may run ahead of the slowest one
  unsigned jitter_us = 0;     ///< at random before a collective
  std::size_t dies = kNever;  ///< the last rank, at this collective
  std::uint32_t seed = 1;
  bool first_dies = false;  ///< the first rank in the place of the last

  [[nodiscard]] std::size_t victim() const { return first_dies ? 0 : ranks - 1; }
};

struct Progress {
  std::array<std::atomic<std::uint32_t>, kMostRanks> at;
  std::array<std::atomic<bool>, kMostRanks> gone;
};

inline Progress& progress() {
  static auto* mapped = new (mmap(nullptr, sizeof(Progress), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Progress{};
  return *mapped;
}

/// One rank's way through its collectives.
class Rank {
 public:
  Rank(const Job& job, std::size_t rank) : job_(job), rank_(rank), random_(job.seed * 100 + static_cast<std::uint32_t>(rank)) {}

  /// A collective ends when all have come to it; the host may run ahead of that.
  void before(std::size_t collective) {
    if (rank_ == job_.victim() && collective == job_.dies) { raise(SIGKILL); }
    for (std::size_t other = 0; other < job_.ranks; ++other) {
      while (!progress().gone[other] && progress().at[other] + job_.ahead < collective) { sched_yield(); }
    }
    if (job_.jitter_us > 0 && random_() % 64 == 0) { usleep(static_cast<useconds_t>(random_() % job_.jitter_us)); }
  }
  void after(std::size_t collective) { progress().at[rank_] = static_cast<std::uint32_t>(collective + 1); }
  [[nodiscard]] std::size_t number() const { return rank_; }

 private:
  const Job& job_;
  std::size_t rank_;
  std::minstd_rand random_;
};

/// Each rank ends well, but for the one that is killed.
template <class Body>
void run_ranks(const Job& job, Body be_rank) {
  new (&progress()) Progress{};
  std::vector<pid_t> children;
  for (std::size_t rank = 0; rank < job.ranks; ++rank) {
    children.push_back(fork());
    if (children.back() == 0) { be_rank(Rank(job, rank)); }
  }
  for (std::size_t left = job.ranks; left > 0; --left) {
    int status = 0;
    const pid_t ended = wait(&status);
    const auto rank = static_cast<std::size_t>(std::ranges::find(children, ended) - children.begin());
    EXPECT(rank < job.ranks);
    progress().gone[rank] = true;
    const bool killed = job.dies != kNever && rank == job.victim();
    EXPECT(killed ? WIFSIGNALED(status) : status == 0);
  }
}
