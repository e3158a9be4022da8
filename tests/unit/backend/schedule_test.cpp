// The order in which a program is enqueued, written down by calls that do nothing else.
#include "backend/schedule.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "elbowroom/model/scenario.hpp"
#include "elbowroom/model/step.hpp"
#include "elbowroom/plan/lower.hpp"

namespace elbowroom::detail {
namespace {

struct Line {
  int holds = 0;
  int releases = 0;
  void release() { ++releases; }
};

constexpr int kNever = 1 << 30;

/// What goes wrong, by the number of the call that is written down or of the question.
struct Trouble {
  std::size_t call = ~std::size_t{0};
  int unhealthy_from = kNever;
  int passed_after = 0;
};

template <class Change>
Trouble with(Change change) {
  Trouble trouble;
  change(trouble);
  return trouble;
}

/// Streams are letters by lane, events have their roles' names.
class Written {
 public:
  using StartLine = Line;

  Written(std::vector<std::string>& log, const Program& program, std::size_t devices = 1, const Trouble& trouble = {})
      : log_(&log), events_(program), devices_(devices), trouble_(trouble) {}

  [[nodiscard]] std::size_t devices() const { return devices_; }
  [[nodiscard]] static int number(std::size_t device) { return static_cast<int>(device); }
  static Status meet() { return {}; }
  Status use(std::size_t device) {
    device_ = device;
    return {};
  }
  Status hold(Line& line, std::size_t device, int lane) {
    ++line.holds;
    return write("hold " + stream(device, lane));
  }
  Status record(std::size_t device, int lane, int event) {
    return write(fmt::format("{}: record {}", stream(device, lane), name(event)));
  }
  Status wait(std::size_t device, int lane, int event) {
    return write(fmt::format("{}: wait {}", stream(device, lane), name(event)));
  }
  Status compute(std::size_t device, const Launch& launch) {
    EXPECT_EQ(device, device_) << "is not current";
    return write(
        fmt::format("{}: compute, pad {}", stream(device, launch.lane), std::get<ComputeSettings>(launch.settings).pad.count()));
  }
  Status communicate(const Launch& launch, std::optional<int> begun) {
    const std::optional<Blocks> blocks = std::get<CommSettings>(launch.settings).comm_blocks;
    return write(fmt::format("{}: collective{}{}", stream(0, launch.lane), blocks ? fmt::format(" of {}", blocks->count()) : "",
                             begun ? ", begun is " + name(*begun) : ""));
  }
  Result<bool> passed(std::size_t, int) { return questions_++ >= trouble_.passed_after; }
  [[nodiscard]] Result<Microseconds> took(std::size_t device) const { return Microseconds(device == 0 ? 7 : 9); }
  [[nodiscard]] Status healthy() const { return questions_ < trouble_.unhealthy_from ? Status() : failed("a rank is gone"); }

 private:
  [[nodiscard]] static std::string stream(std::size_t device, int lane) {
    return std::string(1, static_cast<char>('A' + lane)) + (device == 0 ? "" : std::to_string(device + 1));
  }
  [[nodiscard]] std::string name(int event) const {
    if (event == EventNumbers::kBegin) { return "begin"; }
    if (event == EventNumbers::kEnd) { return "end"; }
    if (event >= events_.of_launch(0)) { return fmt::format("e{}", event - events_.of_launch(0)); }
    for (int lane = 0; lane < events_.lanes; ++lane) {
      if (event == events_.joined(lane)) { return "joined"; }
      for (const std::size_t batch : {0U, 1U}) {
        if (event == events_.batch(batch, lane)) { return fmt::format("batch {}", batch); }
      }
    }
    return "?";
  }
  Status write(std::string line) {
    if (log_->size() == trouble_.call) { return failed("refused"); }
    log_->push_back(std::move(line));
    return {};
  }
  std::vector<std::string>* log_;
  EventNumbers events_;
  std::size_t devices_;
  Trouble trouble_;
  std::size_t device_ = ~std::size_t{0};
  int questions_ = 0;
};

class ScheduleOrder : public ::testing::Test {
 protected:
  [[nodiscard]] Program program(Order order, const OverlapPlan& plan) const { return *lower(step_of(scenario_), order, plan); }

  std::vector<std::string> enqueued(Order order, const OverlapPlan& plan, std::size_t devices = 1) {
    log_.clear();
    const Program all = program(order, plan);
    Written calls(log_, all, devices);
    EXPECT_TRUE(enqueue_program(all, operations(devices), calls, line_, Deadline(std::chrono::seconds(10))));
    return log_;
  }

  Scenario scenario_{"test", 1, 3, Pattern::pipeline, Elementwise{}, {}};
  /// The computation and the collective on all of so many devices.
  static std::vector<OperationDevices> operations(std::size_t devices) {
    std::vector<std::size_t> all(devices);
    std::iota(all.begin(), all.end(), std::size_t{0});
    return {{true, all}, {false, all}};
  }

  Line line_;
  std::vector<std::string> log_;
};

using Lines = std::vector<std::string>;

TEST_F(ScheduleOrder, APipelinesCollectiveWaitsForItsOwnComputeOnly) {
  scenario_.iterations = 2;
  OverlapPlan plan;
  plan.pad = Bytes(64);
  EXPECT_EQ(enqueued(Order::concurrent, plan), (Lines{"hold A", "A: record begin", "B: wait begin",                         //
                                                      "A: compute, pad 64", "A: record e0", "B: wait e0", "B: collective",  //
                                                      "A: compute, pad 64", "A: record e0", "B: wait e0", "B: collective",  //
                                                      "B: record joined", "A: wait joined", "A: record end"}));
  EXPECT_EQ(line_.holds, 1);
  EXPECT_EQ(line_.releases, 1);
}

TEST_F(ScheduleOrder, AGateIsAnEventThatTheNextComputeWaitsFor) {
  OverlapPlan plan;
  plan.pad = Bytes(64);
  plan.comm_blocks = Blocks(8);
  plan.launch_gate = plan.windows_only = true;
  EXPECT_EQ(enqueued(Order::concurrent, plan), (Lines{"hold A",
                                                      "A: record begin",
                                                      "B: wait begin",  //
                                                      "A: compute, pad 0",
                                                      "A: record e0",
                                                      "B: wait e0",
                                                      "B: collective of 8, begun is e1",  //
                                                      "A: wait e1",
                                                      "A: compute, pad 64",
                                                      "A: record e0",
                                                      "B: wait e0",
                                                      "B: collective of 8, begun is e1",  //
                                                      "A: wait e1",
                                                      "A: compute, pad 64",
                                                      "A: record e0",
                                                      "B: wait e0",
                                                      "B: collective",  //
                                                      "B: record joined",
                                                      "A: wait joined",
                                                      "A: record end"}));
}

TEST_F(ScheduleOrder, ComputeThatMovesToAnotherStreamWaitsForWhatItLeftBehind) {
  scenario_.iterations = 2;
  OverlapPlan plan;
  plan.comm_sms = Sms(8);
  plan.windows_only = true;
  // C is the partition's stream.
  EXPECT_EQ(enqueued(Order::concurrent, plan),
            (Lines{"hold A", "A: record begin", "B: wait begin", "C: wait begin",                     //
                   "A: compute, pad 0", "A: record e0", "B: wait e0", "B: collective",                //
                   "C: wait e0", "C: compute, pad 0", "C: record e0", "B: wait e0", "B: collective",  //
                   "B: record joined", "A: wait joined", "C: record joined", "A: wait joined", "A: record end"}));
}

TEST_F(ScheduleOrder, APairHasNoOrderBetweenItsSides) {
  scenario_.pattern = Pattern::pair;
  scenario_.iterations = 1;
  OverlapPlan plan;
  plan.pad = Bytes(64);
  EXPECT_EQ(enqueued(Order::concurrent, plan), (Lines{"hold A", "A: record begin", "B: wait begin",  //
                                                      "A: compute, pad 64", "B: collective",         //
                                                      "B: record joined", "A: wait joined", "A: record end"}));
}

TEST_F(ScheduleOrder, WithoutOverlapThereIsOneStream) {
  scenario_.iterations = 1;
  OverlapPlan plan;
  plan.pad = Bytes(64);
  EXPECT_EQ(enqueued(Order::sequential, plan),
            (Lines{"hold A", "A: record begin", "A: compute, pad 64", "A: collective", "A: record end"}));
  EXPECT_EQ(enqueued(Order::compute_only, plan), (Lines{"hold A", "A: record begin", "A: compute, pad 64", "A: record end"}));
}

TEST_F(ScheduleOrder, ManyLaunchesAreEnqueuedInBatchesAndHeldForTheFirst) {
  scenario_.iterations = 70;
  const Lines all = enqueued(Order::concurrent, {});
  EXPECT_EQ(std::count(all.begin(), all.end(), "A: compute, pad 0"), 70);
  // After 64 and after 128 launches.
  EXPECT_EQ(std::count(all.begin(), all.end(), "A: record batch 0"), 1);
  EXPECT_EQ(std::count(all.begin(), all.end(), "B: record batch 1"), 1);
  EXPECT_EQ(line_.releases, 1);
}

TEST_F(ScheduleOrder, EveryDeviceIsCurrentForItsLaunchesAndTheSlowestCounts) {
  scenario_.iterations = 2;
  OverlapPlan plan;
  plan.launch_gate = true;
  const Lines all = enqueued(Order::concurrent, plan, 2);
  EXPECT_EQ(std::count(all.begin(), all.end(), "A2: compute, pad 0"), 2);
  EXPECT_EQ(std::count(all.begin(), all.end(), "A2: wait e1"), 1);
  EXPECT_EQ(std::count(all.begin(), all.end(), "B2: wait e0"), 2);
  Written calls(log_, program(Order::concurrent, plan), 2);
  ASSERT_TRUE(await_end(calls, Deadline(std::chrono::seconds(10))));
  EXPECT_EQ(*slowest(calls), Microseconds(9));
}

TEST_F(ScheduleOrder, ADeviceLaunchesAndWaitsForWhatItHas) {
  // The computation is on the first device alone, the collective on both.
  scenario_.iterations = 1;
  const Program all = program(Order::concurrent, {});
  const std::vector<OperationDevices> some{{true, {0}}, {false, {0, 1}}};
  Written calls(log_, all, 2);
  ASSERT_TRUE(enqueue_unheld(all, some, calls));
  EXPECT_EQ(log_, (Lines{"A: record begin", "B: wait begin", "A2: record begin", "B2: wait begin",  //
                         "A: compute, pad 0", "A: record e0", "B: wait e0", "B: collective",        //
                         "B: record joined", "A: wait joined", "A: record end",                     //
                         "B2: record joined", "A2: wait joined", "A2: record end"}));
}

TEST_F(ScheduleOrder, WhateverFailsTheStreamsAreReleasedOnce) {
  const std::size_t calls = enqueued(Order::concurrent, {}).size();
  const Program all = program(Order::concurrent, {});
  for (std::size_t call = 0; call < calls; ++call) {
    log_.clear();
    line_ = {};
    Written written(log_, all, 1, with([&](Trouble& t) { t.call = call; }));
    const Status enqueued = enqueue_program(all, operations(1), written, line_, Deadline(std::chrono::seconds(10)));
    ASSERT_FALSE(enqueued);
    EXPECT_EQ(enqueued.error().message, "refused");
    EXPECT_EQ(line_.releases, 1) << call;
  }
}

TEST_F(ScheduleOrder, WaitingEndsWithTheDevicesTheLimitOrALostRank) {
  const auto waited = [&](const Trouble& trouble, std::chrono::milliseconds limit) {
    Written calls(log_, program(Order::concurrent, {}), 1, trouble);
    const Status ended = await_end(calls, Deadline(limit));
    return ended ? std::string("ended") : ended.error().message;
  };
  EXPECT_EQ(waited(with([](Trouble& t) { t.passed_after = 3; }), std::chrono::seconds(10)), "ended");
  EXPECT_EQ(waited(with([](Trouble& t) {
                     t.unhealthy_from = 2;
                     t.passed_after = kNever;
                   }),
                   std::chrono::seconds(10)),
            "a rank is gone");
  EXPECT_EQ(waited(with([](Trouble& t) { t.passed_after = kNever; }), std::chrono::milliseconds(20)),
            "GPU 0 has not finished after the time limit of 0.020 s; its collectives are aborted");
}

TEST_F(ScheduleOrder, WhatIsRunFirstHasEveryKindOfLaunch) {
  OverlapPlan plan;
  plan.pad = Bytes(64);
  plan.comm_blocks = Blocks(8);
  plan.windows_only = true;
  const Program kinds = kinds_of(program(Order::concurrent, plan));
  Written calls(log_, kinds);
  ASSERT_TRUE(enqueue_unheld(kinds, operations(1), calls));
  for (const char* const kind : {"A: compute, pad 0", "A: compute, pad 64", "B: collective of 8", "B: collective"}) {
    EXPECT_EQ(std::count(log_.begin(), log_.end(), kind), 1) << kind;
  }
  EXPECT_EQ(*slowest(calls), Microseconds(7));
}

TEST(EventsOfPrograms, AreFewAndNeverRecordedAnewWhileSomebodyIsStillToWait) {
  // c waits for a after b waited for it: a's event is still needed when b's is recorded.
  Program program;
  program.lanes.resize(4);
  program.launches.resize(5);
  for (int at = 0; at < 5; ++at) { program.launches[static_cast<std::size_t>(at)].lane = at % 4; }
  program.launches[1].after = {0};
  program.launches[2].after = {0, 1};
  program.launches[3].after = {2};
  program.launches[4].after_begun = {1};
  const EventUse use = event_use(program);
  using Events = std::vector<std::optional<int>>;
  EXPECT_EQ(use.ended, (Events{0, 1, 0, std::nullopt, std::nullopt}));
  EXPECT_EQ(use.begun, (Events{std::nullopt, 2, std::nullopt, std::nullopt, std::nullopt}));
  EXPECT_EQ(use.events, 3);
}

}  // namespace
}  // namespace elbowroom::detail
