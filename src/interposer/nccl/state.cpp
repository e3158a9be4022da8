#include "interposer/nccl/state.hpp"

#include <pthread.h>

#include "interposer/core/own_mutex.hpp"
#include "interposer/process/process.hpp"

namespace elbowroom::interposer::nccl {
namespace {

constinit State the_state;
constinit Rules read_once;
constinit std::atomic<bool> have_read{false};
constinit const Rules kNothingAsked;
pthread_once_t once = PTHREAD_ONCE_INIT;

void read() {
  const process::Uncancelled reading;
  process::read_rules(read_once);
  have_read.store(true, std::memory_order_release);
}

}  // namespace

State& state() { return the_state; }

const Rules& rules() {
  if (have_read.load(std::memory_order_acquire)) { return read_once; }
  if (OwnMutex::held_here()) { return kNothingAsked; }
  const OwnMutex::Busy reading;  // a handler that interrupts this would wait for ever for it to end
  pthread_once(&once, &read);
  return read_once;
}

RankAgreement rank_agreement() {
  constexpr auto relaxed = std::memory_order_relaxed;
  return {.standing =
              [] {
                const SharedWish& shared = state().shared;
                return RankStanding{shared.asked.load(relaxed),     shared.as_wanted.load(relaxed),
                                    shared.all_ready.load(relaxed), shared.agreed.load(relaxed),
                                    shared.follows.load(relaxed),   shared.with_processes.load(relaxed)};
              },
          .agreed = [] { return state().shared.agreed.load(relaxed); },
          .want =
              [](const RankWish& wish) {
                state().shared.wanted.store(wish.value, relaxed);
                state().shared.ready.store(wish.ready, relaxed);
              },
          .several = [] { return state().communicators.several_ranks(); }};
}

}  // namespace elbowroom::interposer::nccl
