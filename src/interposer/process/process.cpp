#include "interposer/process/process.hpp"

#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <ctime>

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

std::uint32_t thread_number() {
  static constinit std::atomic<std::uint32_t> taken{0};
  static thread_local constinit std::uint32_t number = 0;
  if (number == 0) { number = std::min(taken.fetch_add(1, std::memory_order_relaxed) + 1, kMostThreads); }
  if (number == kMostThreads) { stand_aside(Unusual::many_threads); }
  return number;
}

Uncancelled::Uncancelled() { pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
Uncancelled::~Uncancelled() { pthread_setcancelstate(before_, nullptr); }

}  // namespace elbowroom::interposer::process
