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

void State::count_communicator(Membership made) {
  communicators.fetch_add(1, std::memory_order_relaxed);
  if (made.ranks != 1) { several_ranks.store(true, std::memory_order_relaxed); }
  Membership known = greatest.load(std::memory_order_relaxed);
  const bool tells = made.rank >= 0;
  while (known.ranks < made.ranks &&
         !greatest.compare_exchange_weak(known, {made.ranks, tells ? made.rank : known.rank}, std::memory_order_relaxed)) {}
}

void write_report(ReportWriter& out) {
  out.key("nccl").begin_object();
  out.key("calls").number(the_state.calls.load(std::memory_order_relaxed));
  out.key("communicators_made").number(the_state.communicators.load(std::memory_order_relaxed));
  const Membership greatest = the_state.greatest.load(std::memory_order_relaxed);
  out.key("greatest_ranks").number(static_cast<std::uint64_t>(greatest.ranks));
  if (greatest.ranks > 0) { out.key("rank").number(static_cast<std::uint64_t>(greatest.rank)); }
  out.end_object();
}

State& state() { return the_state; }

const Rules& rules() {
  if (have_read.load(std::memory_order_acquire)) { return read_once; }
  if (OwnMutex::held_here()) { return kNothingAsked; }
  const OwnMutex::Busy reading;  // a handler that interrupts this would wait for ever for it to end
  pthread_once(&once, &read);
  return read_once;
}

}  // namespace elbowroom::interposer::nccl
