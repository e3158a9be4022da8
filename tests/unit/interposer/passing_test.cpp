#include "interposer/core/passing.hpp"

#include <gtest/gtest.h>

#include <array>
#include <csignal>
#include <ctime>
#include <memory>
#include <vector>

#include "fake_platform.hpp"

namespace elbowroom::interposer {
namespace {

// Written down by three threads in turns, read in the order of time; what lies outside the two moments is moved to them.
TEST(Passing, ReadsInTheOrderOfTime) {
  PassGate gate;
  const auto passing = std::make_unique<interposer::Passing>(&gate);
  HostTime (*const host_time)() = [] { return HostTime{10'000, 100}; };
  passing->begin(host_time);
  passing->forget_shapes();
  std::array<PassingThread, 3> threads;
  const LaunchShape shape{kGemm, {4, 1, 1}, {32, 1, 1}, 0, 1};
  passing->shapes().remember(shape.print(PassingShapes::era(passing->round())), PassedKind{1, true, false, 2, 4}.pack(), 7,
                             [](const PassedKind& /*what*/, std::uint64_t /*launches*/) {});
  for (unsigned i = 0; i < threads.size(); ++i) {
    threads[i].use(passing->of(i));
    threads[i].tell(passing->round(), kComputeStream, {});
  }
  for (const std::uint64_t ticks : {50U, 110U, 120U, 130U, 150U, 190U, 300U}) {
    ASSERT_TRUE(threads[ticks / 10 % 3].take(gate, shape, kComputeStream, ticks));
  }
  std::vector<std::uint64_t> times;
  passing->read({12'000, 200}, [&](const PassedLaunch&, std::uint64_t time) { times.push_back(time); });
  // A hundred counts are 2,000 ns.
  EXPECT_EQ(times, (std::vector<std::uint64_t>{10'000, 10'200, 10'400, 10'600, 11'000, 11'800, 12'000}));
  EXPECT_FALSE(passing->any_unread());
}

PassGate handler_gate;
PassingThread handler_thread;
volatile int handled_launches = 0;
const LaunchShape kHandled{kGemm, {4, 1, 1}, {32, 1, 1}, 0, 1};

// Each launch is written down once, whoever interrupts whom.
TEST(Passing, IsInterruptedByAHandlerThatLaunches) {
  const auto passing = std::make_unique<interposer::Passing>(&handler_gate);
  passing->forget_shapes();
  passing->shapes().remember(kHandled.print(PassingShapes::era(passing->round())), PassedKind{1, true, false, 2, 4}.pack(), 7,
                             [](const PassedKind& /*what*/, std::uint64_t /*launches*/) {});
  handler_thread.use(passing->of(0));
  handler_thread.tell(passing->round(), kComputeStream, {});
  handled_launches = 0;
  struct sigaction action = {};
  action.sa_handler = [](int) {
    const auto number = static_cast<std::uint64_t>(handled_launches) + 1;
    if (handler_thread.take(handler_gate, kHandled, kComputeStream, 2 * number)) { handled_launches = handled_launches + 1; }
  };
  struct sigaction before = {};
  sigaction(SIGUSR1, &action, &before);
  timer_t timer = {};
  sigevent event = {};
  event.sigev_notify = SIGEV_SIGNAL;
  event.sigev_signo = SIGUSR1;
  ASSERT_EQ(timer_create(CLOCK_MONOTONIC, &event, &timer), 0);
  const itimerspec often = {{0, 20'000}, {0, 20'000}};
  timer_settime(timer, 0, &often, nullptr);
  std::uint64_t taken = 0;
  std::array<std::uint64_t, 2> read{};
  int out_of_order = 0;
  // Even counts are the handler's, odd ones are not; of each the next one comes.
  const auto visit = [&](const PassedLaunch& launch, std::uint64_t) {
    out_of_order += launch.ticks / 2 == ++read[launch.ticks % 2] ? 0 : 1;
  };
  for (int i = 0; i < 2'000'000 && handled_launches < 1'000; ++i) {
    taken += handler_thread.take(handler_gate, kHandled, kComputeStream, 2 * (taken + 1) + 1) ? 1 : 0;
    if (i % 32 == 0) { passing->read({}, visit); }
  }
  timer_delete(timer);
  sigaction(SIGUSR1, &before, nullptr);
  passing->read({}, visit);
  EXPECT_EQ(out_of_order, 0);
  EXPECT_EQ(read[0], static_cast<std::uint64_t>(handled_launches));
  EXPECT_EQ(read[1], taken);
  EXPECT_GT(handled_launches, 0);
}

}  // namespace
}  // namespace elbowroom::interposer
