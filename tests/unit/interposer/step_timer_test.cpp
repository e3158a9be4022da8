#include "interposer/driver/step_timer.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "fake_platform.hpp"
#include "interposer/core/ab_trial.hpp"
#include "interposer/cuda/driver.hpp"

namespace elbowroom::interposer::cuda {
namespace {

using StepTimer = driver::StepTimer<Driver>;

/// What the timer asked of a driver that finishes everything at once.
struct Asked {
  std::vector<cu::Context> current{nullptr};
  std::uintptr_t events_made = 0;
  int queries = 0;
  bool finished = true;
};
Asked asked;

template <class Handle>
Handle handle(std::uintptr_t value) {
  return reinterpret_cast<Handle>(value);
}

DriverCalls fake_calls() {
  DriverCalls calls{};
  calls.ctx_get_current = [](cu::Context* context) {
    *context = asked.current.back();
    return cu::kSuccess;
  };
  calls.ctx_push_current = [](cu::Context context) {
    asked.current.push_back(context);
    return cu::kSuccess;
  };
  calls.ctx_pop_current = [](cu::Context* context) {
    *context = asked.current.back();
    asked.current.pop_back();
    return cu::kSuccess;
  };
  calls.event_create = [](cu::Event* event, unsigned /*flags*/) {
    *event = handle<cu::Event>(0x10000 + ++asked.events_made);
    return cu::kSuccess;
  };
  calls.event_record = [](cu::Event /*event*/, cu::Stream /*stream*/) { return cu::kSuccess; };
  calls.event_query = [](cu::Event /*event*/) {
    ++asked.queries;
    return asked.finished ? cu::kSuccess : cu::kErrorNotReady;
  };
  calls.event_elapsed_time = [](float* milliseconds, cu::Event /*begin*/, cu::Event /*end*/) {
    *milliseconds = 1;
    return cu::kSuccess;
  };
  calls.exchange_capture_mode = [](int* /*mode*/) {
    ++asked.queries;
    return cu::kSuccess;
  };
  return calls;
}

class StepTimerTest : public ::testing::Test {
 protected:
  StepTimerTest() { asked = Asked{}; }

  /// Long after the last one, so that the interval between polls is over.
  void poll() {
    now_ns_ += 1'000'000'000;
    timer_.poll(now_ns_);
  }

  const cu::Context first_ = handle<cu::Context>(0x100);
  const cu::Context second_ = handle<cu::Context>(0x200);
  const cu::Stream stream_ = handle<cu::Stream>(0x2000);
  FakePlatform platform_;
  std::unique_ptr<Core> core_ = Core::create(rules_of(Policy::observe), platform_.platform(), platform_.fast_path);
  Driver driver_{fake_calls()};
  StepTimer timer_{driver_, *core_};
  std::uint64_t now_ns_ = 0;
};

TEST_F(StepTimerTest, AsksNothingWhileNoStepHasEnded) {
  poll();
  EXPECT_EQ(0, asked.queries);
  timer_.begin_step(first_, stream_, 1);
  asked.queries = 0;
  poll();
  EXPECT_EQ(0, asked.queries);  // step 1 still runs
  timer_.begin_step(first_, stream_, 2);
  asked.queries = 0;
  poll();
  EXPECT_GT(asked.queries, 0);
  asked.queries = 0;
  poll();
  EXPECT_EQ(0, asked.queries);  // step 1 is told, step 2 still runs
}

// A step in another context than the table's place has its event of has no time.
TEST_F(StepTimerTest, MakesOneEventForEachPlace) {
  constexpr std::uint64_t kMarks = AbTrial::kMostAhead;
  for (std::uint64_t step = 1; step <= 3 * kMarks; ++step) {
    timer_.begin_step((step / kMarks) % 2 == 0 ? first_ : second_, stream_, step);
  }
  EXPECT_EQ(asked.events_made, kMarks);
}

// No step of this program begins on the stream of the one before. Four trials of which no time is known take some twenty steps.
TEST_F(StepTimerTest, TellsAtOnceThatAStepHasNoTime) {
  Program program(rules_of(Policy::automatic));
  StepTimer timer(driver_, *program.core);
  const cu::Stream other = handle<cu::Stream>(0x3000);
  for (int collective = 0; collective < 6 * 100; ++collective) {
    const Decision decision = program.core->on_launch(program.facts(kAllReduce, kCommStream));
    program.tell(decision.ticket, kCommStream, LaunchOutcome::ok);
    if (decision.step == 0) { continue; }
    timer.begin_step(first_, decision.step % 2 == 0 ? stream_ : other, decision.step);
    timer.poll(now_ns_ += 1'000'000'000);
  }
  EXPECT_NE(program.report().find(R"("ab":{"state":"settled")"), std::string::npos) << program.report();
  EXPECT_NE(program.report().find(R"("decisions":0)"), std::string::npos) << "given up, which is no decision";
}

}  // namespace
}  // namespace elbowroom::interposer::cuda
