#include "interposer/process/loader_visit.hpp"

#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdint>

#include "interposer/process/process.hpp"

namespace elbowroom::interposer::process {
namespace {

// A walk takes milliseconds. Where one waits for the thread that forks, each side is held up by this.
constexpr std::uint64_t kLongestWaitNs = 100'000'000;

// How many threads walk, and how many fork.
constinit std::atomic<unsigned> walking{0};
constinit std::atomic<unsigned> forking{0};
// Of this thread.
constinit thread_local unsigned depth = 0;
constinit thread_local bool forks = false;

// As the system has it, and by itself: a sanitizer's runtime is not always ready for calls of the C library's.
using SignalMask = std::uint64_t;
constexpr SignalMask kAllSignals = ~SignalMask{0};
SignalMask set_signal_mask(SignalMask mask) {
  SignalMask before = 0;
  syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, &before, sizeof mask);
  return before;
}

template <class Done>
void await(Done&& done) {
  if (done()) { return; }
  const std::uint64_t end = now_ns() + kLongestWaitNs;
  while (!done() && now_ns() < end) { sched_yield(); }
}

void before_fork() {
  forks = true;
  forking.fetch_add(1);
  await([] { return walking.load() == 0; });
}

void after_fork() {
  forking.fetch_sub(1);
  forks = false;
}

void after_fork_in_child() {
  walking.store(0);
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
  signals_ = set_signal_mask(kAllSignals);
  depth = 1;
  walking.fetch_add(1);
  if (forks || forking.load() == 0) { return; }
  walking.fetch_sub(1);
  await([] { return forking.load() == 0; });
  walking.fetch_add(1);
}

LoaderVisit::~LoaderVisit() {
  if (--depth != 0) { return; }
  walking.fetch_sub(1);
  set_signal_mask(signals_);
}

}  // namespace elbowroom::interposer::process
