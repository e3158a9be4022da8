// The order in which a scenario is enqueued, written down by calls that do nothing else.
#include "backend/schedule.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

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

/// Streams and events are names.
class Written {
 public:
  using Stream = std::string;
  using Lanes = DeviceLanes<std::string, std::string>;
  using StartLine = Line;

  explicit Written(std::vector<std::string>& log, const Trouble& trouble = {}) : log_(&log), trouble_(trouble) {}

  Status use(std::size_t device) {
    device_ = device;
    return {};
  }
  Status hold(Line& line, std::size_t, const std::string& stream) {
    ++line.holds;
    return write("hold " + stream);
  }
  Status record(const std::string& event, const std::string& stream) { return write(fmt::format("{}: record {}", stream, event)); }
  Status wait(const std::string& stream, const std::string& event) { return write(fmt::format("{}: wait {}", stream, event)); }
  Status compute(std::size_t device, const std::string& stream, const OverlapPlan& plan) {
    EXPECT_EQ(device, device_) << "is not current";
    return write(fmt::format("{}: compute, pad {}", stream, plan.pad.count()));
  }
  Status collective(Place place, const std::vector<std::string>& streams) {
    return write(fmt::format("{}: collective {}", streams.front(), place == Place::in_window ? "in window" : "outside"));
  }
  Status gated_collective(const std::vector<std::string>& streams, const std::vector<std::string>& gated) {
    return write(fmt::format("{}: collective, {} waits", streams.front(), gated.back()));
  }
  Result<bool> passed(const std::string&) { return questions_++ >= trouble_.passed_after; }
  Result<Microseconds> between(const std::string& begin, const std::string&) const {
    return Microseconds(begin == "begin" ? 7 : 9);
  }
  Status healthy() const { return questions_ < trouble_.unhealthy_from ? Status() : failed("a rank is gone"); }

 private:
  Status write(std::string line) {
    if (log_->size() == trouble_.call) return failed("refused");
    log_->push_back(std::move(line));
    return {};
  }
  std::vector<std::string>* log_;
  Trouble trouble_;
  std::size_t device_ = ~std::size_t{0};
  int questions_ = 0;
};

class ScheduleOrder : public ::testing::Test {
 protected:
  std::vector<std::string> enqueued(Order order, const OverlapPlan& plan, const LaneStreams<std::string>& streams) {
    log_.clear();
    Schedule<Written> schedule{scenario_, order, plan, Written(log_), lanes_, streams};
    const Status all = enqueue_schedule(schedule, line_, Deadline(std::chrono::seconds(10)));
    EXPECT_TRUE(all);
    return log_;
  }
  std::vector<std::string> enqueued(Order order, const OverlapPlan& plan) { return enqueued(order, plan, {{"A"}, {}, {"B"}}); }

  Scenario scenario_{"test", 1, 3, Pattern::pipeline, Elementwise{}, {}};
  std::vector<Written::Lanes> lanes_{{"", "", "", "done", "joined", "begin", "end", {"a0", "a1"}, {"b0", "b1"}}};
  Line line_;
  std::vector<std::string> log_;
};

using Lines = std::vector<std::string>;

TEST_F(ScheduleOrder, APipelinesCollectiveWaitsForItsOwnComputeOnly) {
  scenario_.iterations = 2;
  OverlapPlan plan;
  plan.pad = Bytes(64);
  EXPECT_EQ(enqueued(Order::concurrent, plan),
            (Lines{"hold A", "A: record begin", "B: wait begin",                                       //
                   "A: compute, pad 64", "A: record done", "B: wait done", "B: collective in window",  //
                   "A: compute, pad 64", "A: record done", "B: wait done", "B: collective outside",    //
                   "B: record joined", "A: wait joined", "A: record end"}));
  EXPECT_EQ(line_.holds, 1);
  EXPECT_EQ(line_.releases, 1);
}

TEST_F(ScheduleOrder, InWindowsOnlyTheFirstComputeHasNoPad) {
  OverlapPlan plan;
  plan.pad = Bytes(64);
  plan.launch_gate = plan.windows_only = true;
  EXPECT_EQ(enqueued(Order::concurrent, plan),
            (Lines{"hold A", "A: record begin", "B: wait begin",                                      //
                   "A: compute, pad 0", "A: record done", "B: wait done", "B: collective, A waits",   //
                   "A: compute, pad 64", "A: record done", "B: wait done", "B: collective, A waits",  //
                   "A: compute, pad 64", "A: record done", "B: wait done", "B: collective outside",   //
                   "B: record joined", "A: wait joined", "A: record end"}));
}

TEST_F(ScheduleOrder, ComputeThatMovesToAnotherStreamWaitsForWhatItLeftBehind) {
  scenario_.iterations = 2;
  OverlapPlan plan;
  plan.windows_only = true;
  EXPECT_EQ(enqueued(Order::concurrent, plan, {{"part"}, {"A"}, {"B"}}),
            (Lines{"hold A", "A: record begin", "B: wait begin",                                                             //
                   "A: compute, pad 0", "A: record done", "B: wait done", "B: collective in window",                         //
                   "part: wait done", "part: compute, pad 0", "part: record done", "B: wait done", "B: collective outside",  //
                   "B: record joined", "part: wait joined", "part: record end"}));
}

TEST_F(ScheduleOrder, APairHasNoOrderBetweenItsSides) {
  scenario_.pattern = Pattern::pair;
  scenario_.iterations = 1;
  OverlapPlan plan;
  plan.pad = Bytes(64);
  EXPECT_EQ(enqueued(Order::concurrent, plan), (Lines{"hold A", "A: record begin", "B: wait begin",     //
                                                      "A: compute, pad 64", "B: collective in window",  //
                                                      "B: record joined", "A: wait joined", "A: record end"}));
}

TEST_F(ScheduleOrder, WithoutOverlapAPlanMeansEveryLaunch) {
  scenario_.iterations = 1;
  OverlapPlan plan;
  plan.pad = Bytes(64);
  EXPECT_EQ(enqueued(Order::sequential, plan), (Lines{"hold A", "A: record begin", "B: wait begin",     //
                                                      "A: compute, pad 64", "A: collective in window",  //
                                                      "B: record joined", "A: wait joined", "A: record end"}));
  const Lines alone = enqueued(Order::compute_only, plan);
  EXPECT_EQ(std::count(alone.begin(), alone.end(), "A: compute, pad 64"), 1);
}

TEST_F(ScheduleOrder, ManyIterationsAreEnqueuedInBatchesAndHeldForTheFirst) {
  scenario_.iterations = 70;
  const Lines all = enqueued(Order::concurrent, {});
  EXPECT_EQ(std::count(all.begin(), all.end(), "A: compute, pad 0"), 70);
  // After 32 and after 64 iterations.
  EXPECT_EQ(std::count(all.begin(), all.end(), "A: record a0"), 1);
  EXPECT_EQ(std::count(all.begin(), all.end(), "B: record b1"), 1);
  EXPECT_EQ(line_.releases, 1);
}

TEST_F(ScheduleOrder, EveryDeviceIsCurrentForItsLaunchesAndTheSlowestCounts) {
  lanes_.push_back({"", "", "", "done2", "joined2", "begin2", "end2", {"a2", "a3"}, {"b2", "b3"}});
  scenario_.iterations = 2;
  OverlapPlan plan;
  plan.launch_gate = true;
  Schedule<Written> schedule{scenario_, Order::concurrent, plan, Written(log_), lanes_, {{"A", "A2"}, {}, {"B", "B2"}}};
  ASSERT_TRUE(enqueue_schedule(schedule, line_, Deadline(std::chrono::seconds(10))));
  EXPECT_EQ(std::count(log_.begin(), log_.end(), "A2: compute, pad 0"), 2);
  EXPECT_EQ(std::count(log_.begin(), log_.end(), "B: collective, A2 waits"), 1);
  EXPECT_EQ(std::count(log_.begin(), log_.end(), "B2: wait done2"), 2);
  ASSERT_TRUE(await_end(schedule, Deadline(std::chrono::seconds(10))));
  EXPECT_EQ(*slowest(schedule), Microseconds(9));
}

TEST_F(ScheduleOrder, WhateverFailsTheStreamsAreReleasedOnce) {
  const std::size_t calls = enqueued(Order::concurrent, {}).size();
  for (std::size_t call = 0; call < calls; ++call) {
    log_.clear();
    line_ = {};
    const OverlapPlan plan;
    Schedule<Written> schedule{scenario_, Order::concurrent, plan, Written(log_, with([&](Trouble& t) { t.call = call; })),
                               lanes_,    {{"A"}, {}, {"B"}}};
    const Status enqueued = enqueue_schedule(schedule, line_, Deadline(std::chrono::seconds(10)));
    ASSERT_FALSE(enqueued);
    EXPECT_EQ(enqueued.error().message, "refused");
    EXPECT_EQ(line_.releases, 1) << call;
  }
}

TEST_F(ScheduleOrder, WaitingEndsWithTheDevicesTheLimitOrALostRank) {
  const auto waited = [&](const Trouble& trouble, std::chrono::milliseconds limit) {
    const OverlapPlan plan;
    Schedule<Written> schedule{scenario_, Order::concurrent, plan, Written(log_, trouble), lanes_, {{"A"}, {}, {"B"}}};
    const Status ended = await_end(schedule, Deadline(limit));
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
  plan.windows_only = true;
  Schedule<Written> schedule{scenario_, Order::concurrent, plan, Written(log_), lanes_, {{"A"}, {}, {"B"}}};
  ASSERT_TRUE(enqueue_once(schedule));
  for (const char* const kind : {"A: compute, pad 0", "A: compute, pad 64", "B: collective in window", "B: collective outside"}) {
    EXPECT_EQ(std::count(log_.begin(), log_.end(), kind), 1) << kind;
  }
  const Result<Microseconds> time = slowest(schedule);
  ASSERT_TRUE(time);
  EXPECT_EQ(*time, Microseconds(7));
}

}  // namespace
}  // namespace elbowroom::detail
