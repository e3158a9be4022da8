#include <algorithm>
#include <array>
#include <set>
#include <string>

#include "driver_program.hpp"
#include "fake_nccl.hpp"
#include "ranks.hpp"

// Ranks that agree on budgets under the rule `budget 0 8 16 4 every 64`. A communicator has 24 channels. The leader, which joined
// first, sees each turn at a multiple of 64 and proposes it for eight collectives later: 8 blocks from number 72 on, 16 from 136, 4
// from 200, 24 from 264.

namespace {

constexpr std::size_t kFloats = 16U << 20U;
constexpr std::size_t kMostSteps = 4000;

nccl::Communicator tuned(unsigned long long id, int ranks = 2, int nodes = 1) {
  const nccl::Communicator communicator = fake_tuned_communicator(id, ranks, nodes);
  EXPECT(communicator != nullptr);
  return communicator;
}

// Beside the launch the interposer may record events.
unsigned last_grid() {
  for (std::size_t i = fake_call_count(); i > 0; --i) {
    if (fake_call(i - 1)->grid[0] != 0) { return fake_call(i - 1)->grid[0]; }
  }
  return 0;
}

// The blocks of one kernel, of so many collectives in a group.
unsigned blocks(nccl::Communicator communicator, cu::Stream stream, int collectives = 1, std::size_t floats = kFloats) {
  fake_reset();
  if (collectives > 1) { EXPECT(ncclGroupStart() == 0); }
  for (int i = 0; i < collectives; ++i) { EXPECT(ncclAllReduce(nullptr, nullptr, floats, 7, 0, communicator, stream) == 0); }
  if (collectives > 1) { EXPECT(ncclGroupEnd() == 0); }
  return last_grid();
}

unsigned expected_blocks(std::size_t step) {
  constexpr std::array<unsigned, 4> kTurns{24, 8, 16, 4};
  return step < 8 ? 24 : kTurns[(step - 8) / 64 % 4];
}

void load() { EXPECT(fake_nccl_load_tuner(5) == 5); }

// Both ranks in one process, in turns.
struct Pair {
  cu::Stream stream;
  std::array<nccl::Communicator, 2> ranks;

  explicit Pair(int nodes = 1) {
    use_device(0);
    load();
    stream = make_stream();
    ranks = {tuned(1, 2, nodes), tuned(1, 2, nodes)};
  }
  bool both(unsigned expected, int collectives = 1, std::size_t floats = kFloats) const {
    return std::ranges::all_of(ranks, [&](auto rank) { return blocks(rank, stream, collectives, floats) == expected; });
  }
  void pass(std::size_t steps) const {
    for (std::size_t step = 0; step < steps; ++step) {
      for (const nccl::Communicator rank : ranks) { blocks(rank, stream); }
    }
  }
};

void one_process() {
  const Pair pair;
  for (std::size_t step = 0; step < 300; ++step) { EXPECT(pair.both(expected_blocks(step))); }
}

// Blocks add up over a group: 8 are shared by its collectives, of which each has at least one.
void groups() {
  const Pair pair;
  pair.pass(72);
  EXPECT(pair.both(8));
  EXPECT(pair.both(8, 2));
  EXPECT(pair.both(6, 3));
  EXPECT(pair.both(12, 12));
  EXPECT(pair.both(24, 30));
}

// One rank has its collectives in a group with those of many other communicators: both share the budget among the same number.
void wide_group() {
  const Pair pair;
  const cu::Stream other = make_stream();
  pair.pass(72);
  EXPECT(pair.both(8));
  EXPECT(ncclGroupStart() == 0);
  for (unsigned long long id = 100; id < 140; ++id) {
    EXPECT(ncclAllReduce(nullptr, nullptr, kFloats, 7, 0, tuned(id), other) == 0);
  }
  blocks(pair.ranks[0], pair.stream, 2);
  EXPECT(ncclGroupEnd() == 0 && last_grid() == 8);
  EXPECT(blocks(pair.ranks[1], pair.stream, 2) == 8);
}

// NCCL may ask about the communicators of a process on threads of its own, which are in no call that was seen.
void planning_threads() {
  setenv("NCCL_SINGLE_PROC_MEM_REG_ENABLE", "1", 1);
  const Pair pair;
  for (int step = 0; step < 100; ++step) { EXPECT(pair.both(24)); }
}

// One rank asks what a group would take; nothing is launched, and its count of collectives stays with the other's.
void simulation() {
  const Pair pair;
  pair.pass(60);
  for (int i = 0; i < 5; ++i) {
    EXPECT(ncclGroupStart() == 0);
    EXPECT(ncclAllReduce(nullptr, nullptr, kFloats, 7, 0, pair.ranks[0], pair.stream) == 0);
    EXPECT(ncclGroupSimulateEnd(nullptr) == 0);
  }
  for (std::size_t step = 60; step < 150; ++step) { EXPECT(pair.both(expected_blocks(step))); }
}

// NCCL takes one channel for 4 KiB, and 9 for 327,676 bytes. From 8 x 40,960 bytes on it would take 10, which 8 lowers.
void small_messages() {
  const Pair pair;
  pair.pass(72);
  EXPECT(pair.both(1, 1, 1024));
  EXPECT(pair.both(9, 1, 327676 / 4));
  EXPECT(pair.both(8, 1, 327680 / 4));
}

// Asked outside a call that was seen, a rank cannot tell how many collectives a group has: it acknowledges nothing.
void unlinked() {
  const Pair pair;
  for (int step = 0; step < 300; ++step) {
    EXPECT(blocks(pair.ranks[0], pair.stream) == 24);
    EXPECT(fake_ask_tuner(pair.ranks[1], 4, 4 * kFloats, 1).channels == 0);
  }
}

void several_hosts() {
  const Pair pair(2);
  for (int step = 0; step < 100; ++step) { EXPECT(pair.both(24)); }
}

// NCCL counts hosts by what NCCL_HOSTID says: ranks that share memory agree all the same.
void named_hosts() {
  setenv("NCCL_HOSTID", "part-0", 1);
  const Pair pair(2);
  for (std::size_t step = 0; step < 300; ++step) { EXPECT(pair.both(expected_blocks(step))); }
}

// The user's plugin asks for 12: 8 lowers it, 16 does not raise it.
void users_plugin() {
  setenv("ELBOWROOM_RUN_TUNER_PLUGIN", "mine", 1);
  const Pair pair;
  for (std::size_t step = 0; step < 300; ++step) { EXPECT(pair.both(std::min(12U, expected_blocks(step)))); }
}

// --- ranks as processes ---

using Seen = std::array<std::array<std::atomic<std::uint8_t>, kMostSteps>, kMostRanks>;

Seen& seen() {
  static auto* mapped = new (mmap(nullptr, sizeof(Seen), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) Seen{};
  return *mapped;
}

void be_rank(const Job& job, Rank rank, unsigned long long id) {
  use_device(0);
  load();
  const cu::Stream stream = make_stream();
  const nccl::Communicator communicator = tuned(id, static_cast<int>(job.ranks));
  for (std::size_t step = 0; step < job.steps; ++step) {
    rank.before(step);
    seen()[rank.number()][step] = static_cast<std::uint8_t>(blocks(communicator, stream));
    rank.after(step);
  }
  fake_end_tuned(communicator);
  _exit(0);
}

// Returns the blocks that all ranks had, number by number.
std::set<unsigned> run_job(const Job& job, unsigned long long id = 1) {
  new (&seen()) Seen{};
  run_ranks(job, [&](const Rank& rank) { be_rank(job, rank, id); });
  std::set<unsigned> values;
  for (std::size_t step = 0; step < job.steps; ++step) {
    std::set<unsigned> here;
    for (std::size_t rank = 0; rank < job.ranks; ++rank) {
      if (const unsigned blocks_here = seen()[rank][step]; blocks_here != 0) { here.insert(blocks_here); }
    }
    EXPECT(here.size() == 1);
    values.insert(here.begin(), here.end());
  }
  return values;
}

const std::set<unsigned> kAllTurns{4, 8, 16, 24};

void two_ranks() { EXPECT(run_job({}) == kAllTurns); }
void many_ranks() { EXPECT(run_job({.ranks = 8, .steps = 600}) == kAllTurns); }

// Some rank is often further ahead than a proposal reaches at first, so that many are aborted.
void delayed() {
  for (std::uint32_t seed = 1; seed <= 6; ++seed) {
    const std::set<unsigned> values = run_job({.ranks = 3, .steps = 2000, .ahead = 40, .jitter_us = 3000, .seed = seed}, seed);
    EXPECT(values.size() > 1);
  }
}

// The others go on, with what holds then.
void lost() {
  std::minstd_rand random(7);
  for (std::uint32_t seed = 1; seed <= 12; ++seed) {
    run_job({.ranks = 3, .steps = 500, .ahead = 10, .jitter_us = 500, .dies = random() % 400, .seed = seed}, seed);
  }
}

// Elastic: the ranks come again, with a communicator of another id.
void restarted() {
  run_job({.ranks = 2, .steps = 300, .dies = 150}, 5);
  EXPECT(run_job({.ranks = 2, .steps = 400}, 6) == kAllTurns);
}

// Each communicator has its own board and its own count.
void several_communicators() {
  const Pair pair;
  const std::array<nccl::Communicator, 2> other{tuned(2), tuned(2)};
  for (std::size_t step = 0; step < 300; ++step) {
    EXPECT(pair.both(expected_blocks(step)));
    if (step % 3 == 0) {
      for (const nccl::Communicator rank : other) { EXPECT(blocks(rank, pair.stream) == expected_blocks(step / 3)); }
    }
  }
}

constexpr Case kCases[] = {{"one_process", one_process},
                           {"two_ranks", two_ranks},
                           {"several_communicators", several_communicators},
                           {"groups", groups},
                           {"simulation", simulation},
                           {"wide_group", wide_group},
                           {"planning_threads", planning_threads},
                           {"small_messages", small_messages},
                           {"many_ranks", many_ranks},
                           {"delayed", delayed},
                           {"lost", lost},
                           {"restarted", restarted},
                           {"unlinked", unlinked},
                           {"several_hosts", several_hosts},
                           {"named_hosts", named_hosts},
                           {"users_plugin", users_plugin}};

}  // namespace

int main(int argc, char** argv) {
  setenv("NCCL_TUNER_PLUGIN", std::getenv("ELBOWROOM_INTERPOSER"), 1);
  setenv("NCCL_CONF_FILE", "/tmp/elbowroom-no-such-file", 1);
  setenv("ELBOWROOM_RUN_TUNER_PLUGIN", "none", 1);
  setenv("ELBOWROOM_RUN_JOB", std::to_string(getpid()).c_str(), 1);
  return run_case(kCases, argc, argv);
}
