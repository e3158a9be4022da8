#include "interposer/process/loader_visit.hpp"

#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <atomic>
#include <cstdint>

#include "interposer/process/process.hpp"
#include "interposer/process/signal_mask.hpp"

namespace elbowroom::interposer::process {
namespace {

// A walk takes milliseconds. Where one waits for the thread that forks, each side is held up by this.
constexpr std::uint64_t kLongestWaitNs = 100'000'000;

// How many threads walk, how many unloads are under way, and how many threads fork.
constinit std::atomic<unsigned> walking{0};
constinit std::atomic<unsigned> unloads{0};
constinit std::atomic<unsigned> forking{0};
constinit std::atomic<bool> lost{false};
// Of this thread.
constinit thread_local unsigned depth = 0;
constinit thread_local unsigned own_unloads = 0;
constinit thread_local bool forks = false;

template <class Done>
void await(Done&& done) {
  if (done()) { return; }
  const std::uint64_t end = now_ns() + kLongestWaitNs;
  while (!done() && now_ns() < end) { sched_yield(); }
}

// Counts what holds the loader's lock from now on, once no other thread forks.
void count_one_more(std::atomic<unsigned>& holders) {
  holders.fetch_add(1);
  if (forks || forking.load() == 0) { return; }
  holders.fetch_sub(1);
  await([] { return forking.load() == 0; });
  holders.fetch_add(1);
}

// What was begun before a fork is not counted in its child.
void count_one_less(std::atomic<unsigned>& holders) {
  unsigned known = holders.load();
  while (known != 0 && !holders.compare_exchange_weak(known, known - 1)) {}
}

void before_fork() {
  forks = true;
  forking.fetch_add(1);
  await([] { return walking.load() == 0 && unloads.load() <= own_unloads; });
}

void after_fork() {
  forking.fetch_sub(1);
  forks = false;
}

// The numbers are those of the moment of the fork. Nobody but this thread walks or unloads anything here: it may go on with what
// the fork interrupted. An unload was perhaps not counted yet.
void after_fork_in_child() {
  if (walking.load() != 0 || unloads.load() != 0) { lost.store(true); }
  walking.store(0);
  unloads.store(std::min(unloads.load(), own_unloads));
  forking.store(0);
  forks = false;
}

// As early as can be: handlers before a fork run in the reverse order. What others take there, a walk that goes on may need.
[[gnu::constructor]] void watch_forks() { pthread_atfork(&before_fork, &after_fork, &after_fork_in_child); }

}  // namespace

LoaderVisit::LoaderVisit() {
  if (depth != 0) {
    ++depth;
    return;
  }
  signals_ = block_signals();
  depth = 1;
  count_one_more(walking);
}

LoaderVisit::~LoaderVisit() {
  if (--depth != 0) { return; }
  count_one_less(walking);
  set_signal_mask(signals_);
}

LoaderUnload::LoaderUnload() {
  ++own_unloads;
  count_one_more(unloads);
}

LoaderUnload::~LoaderUnload() {
  unloads.fetch_sub(1);
  --own_unloads;
}

bool is_unloading() { return unloads.load(std::memory_order_acquire) != 0; }
bool unloads_here() { return own_unloads != 0; }
bool loader_is_lost() { return lost.load(std::memory_order_relaxed); }

}  // namespace elbowroom::interposer::process
