#include "interposer/process/loader_visit.hpp"

#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <ctime>

namespace elbowroom::interposer::process {
namespace {

constexpr std::time_t kLongestWaitS = 1;

// How many threads walk, and how many fork.
constinit std::atomic<unsigned> walking{0};
constinit std::atomic<unsigned> forking{0};
// Of this thread: a handler may interrupt it here, and fork.
constinit thread_local unsigned depth = 0;
constinit thread_local bool forks = false;

std::time_t seconds() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec;
}

template <class Done>
void await(Done&& done) {
  if (done()) { return; }
  const std::time_t begun = seconds();
  while (!done() && seconds() <= begun + kLongestWaitS) { sched_yield(); }
}

unsigned own_walks() { return depth != 0 ? 1 : 0; }

void before_fork() {
  forks = true;
  forking.fetch_add(1);
  await([] { return walking.load() <= own_walks(); });
}

void after_fork() {
  forking.fetch_sub(1);
  forks = false;
}

void after_fork_in_child() {
  walking.store(own_walks());
  forking.store(0);
  forks = false;
}

// As early as can be: handlers before a fork run in the reverse order. What others take there, a walk that goes on may need.
[[gnu::constructor]] void watch_forks() { pthread_atfork(&before_fork, &after_fork, &after_fork_in_child); }

}  // namespace

LoaderVisit::LoaderVisit() {
  if (depth++ != 0) { return; }
  walking.fetch_add(1);
  if (forks || forking.load() == 0) { return; }
  walking.fetch_sub(1);
  await([] { return forking.load() == 0; });
  walking.fetch_add(1);
}

LoaderVisit::~LoaderVisit() {
  if (depth == 1) { walking.fetch_sub(1); }
  --depth;
}

}  // namespace elbowroom::interposer::process
