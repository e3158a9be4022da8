#include "interposer/process/process.hpp"

#include <pthread.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstdio>
#include <cstdlib>
#include <ctime>

#include "interposer/core/own_mutex.hpp"
#include "interposer/core/unusual.hpp"
#include "interposer/process/files.hpp"
#include "run/environment.hpp"

namespace elbowroom::interposer::process {
namespace {

void warn(const char* what, const char* which) {
  std::fprintf(stderr, "elbowroom: %s '%s' is not understood and left out\n", what, which);
}

// Whoever cannot know what is to be left out leaves everything as it is: the program may have no descriptor left, or have given up
// its rights or its root.
void read_rules_file(const char* path, Rules& rules) {
  const Text file = mapped_file(path);
  if (file.data == nullptr) {
    std::fprintf(stderr, "elbowroom: the rules in %s cannot be read: nothing is changed\n", path);
    rules.policy = Policy::observe;
    return;
  }
  const std::size_t wrong_line = parse_rules({file.data, file.size}, rules);
  if (wrong_line != 0) {
    std::fprintf(stderr, "elbowroom: %s:%zu: not a rule; it and what follows is left out\n", path, wrong_line);
  }
}

}  // namespace

void read_rules(Rules& rules) {
  const char* policy = std::getenv(run::kPolicyVariable);
  if (policy != nullptr && *policy != '\0') {
    const auto known = run::parse_policy(policy);
    if (!known) { warn(run::kPolicyVariable, policy); }
    rules.policy = known.value_or(Policy::observe);
  }
  const char* path = std::getenv(run::kRulesVariable);
  if (path != nullptr && *path != '\0') { read_rules_file(path, rules); }
}

Text known_choices(void* /*self*/) {
  const char* const path = std::getenv(run::kChoicesVariable);
  if (path == nullptr || *path == '\0') { return {}; }
  const Uncancelled reading;
  const Text choices = mapped_file(path);
  if (choices.data == nullptr) { warn(run::kChoicesVariable, path); }
  return choices;
}

std::uint64_t now_ns() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(time.tv_nsec);
}

namespace {

// Numbers of threads that are alive. Without a lock, which a forked child could find held. Who takes a number that was given back
// sees what the thread before it has done under it.
constinit std::array<std::atomic<std::uint64_t>, 64> numbers_taken{};
constinit std::atomic<std::uint32_t> numbers_beyond{0};

std::uint32_t number_beyond() {
  return 64 * static_cast<std::uint32_t>(numbers_taken.size()) + numbers_beyond.fetch_add(1, std::memory_order_relaxed);
}

std::uint32_t take_number() {
  for (std::uint32_t word = 0; word < numbers_taken.size(); ++word) {
    std::uint64_t taken = numbers_taken[word].load(std::memory_order_relaxed);
    while (~taken != 0) {
      const auto bit = static_cast<std::uint32_t>(std::countr_one(taken));
      const std::uint64_t more = taken | (std::uint64_t{1} << bit);
      if (numbers_taken[word].compare_exchange_weak(taken, more, std::memory_order_acquire, std::memory_order_relaxed)) {
        return 64 * word + bit;
      }
    }
  }
  return number_beyond();
}

void give_number_back(std::uint32_t number) {
  if (number / 64 >= numbers_taken.size()) { return; }
  numbers_taken[number / 64].fetch_and(~(std::uint64_t{1} << (number % 64)), std::memory_order_release);
}

/// What is known of the calling thread. Nothing that needs a destructor. One would be registered under the lock of the loader,
/// which a thread that loads a library may hold while it waits for this one.
struct OwnThread {
  bool has_number = false;
  std::uint32_t number = 0;
};
thread_local constinit OwnThread own_thread;

pthread_once_t key_once = PTHREAD_ONCE_INIT;
pthread_key_t key_of_ends;
bool ends_are_told = false;

constinit std::atomic<void (*)(std::uint32_t number)> told_of_ends{nullptr};

// What the thread still calls, by destructors of the program's, takes a number anew, and its end is told once more.
void end_thread(void* /*own*/) {
  // In a handler that interrupted a hook: what that guards may be half written.
  if (OwnMutex::held_here()) { return stand_aside(Unusual::reentered); }
  const OwnMutex::Busy ending;
  if (const auto tell = told_of_ends.load(std::memory_order_acquire)) { tell(own_thread.number); }
  give_number_back(own_thread.number);
  own_thread.has_number = false;
}

void make_key() { ends_are_told = pthread_key_create(&key_of_ends, &end_thread) == 0; }

// The number of a thread whose end nobody would tell is never another's.
void meet_thread() {
  const OwnMutex::Busy meeting;  // a handler that interrupts this would meet it as well
  pthread_once(&key_once, &make_key);
  const bool told = ends_are_told && pthread_setspecific(key_of_ends, &own_thread) == 0;
  own_thread.number = told ? take_number() : number_beyond();
  own_thread.has_number = true;
}

}  // namespace

std::uint32_t thread_number() {
  if (!own_thread.has_number) { meet_thread(); }
  return own_thread.number;
}

Uncancelled::Uncancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
Uncancelled::~Uncancelled() { pthread_setcancelstate(before_, nullptr); }

void tell_of_ends(void (*tell)(std::uint32_t number)) { told_of_ends.store(tell, std::memory_order_release); }

}  // namespace elbowroom::interposer::process
