#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/over_ranks.hpp"
#include "elbowroom/model/step.hpp"
#include "elbowroom/plan/capabilities.hpp"
#include "elbowroom/plan/compute_facts.hpp"
#include "elbowroom/plan/lower.hpp"
#include "elbowroom/plan/program.hpp"
#include "elbowroom/trace/timeline.hpp"
#include "ranks/socket.hpp"

namespace elbowroom {
namespace {

using namespace std::chrono_literals;

/// What a rank's own backend does, and what it was asked.
struct Script {
  std::string device = "h200";
  Provenance provenance = Provenance::simulated;
  Microseconds time{100};
  std::string prepares;  ///< why it does not; empty: it does, as what follows
  std::string accepts;
  std::string runs;
  std::string verifies;
  std::string joins;
  std::string bootstraps;           ///< what it gives the others
  std::vector<std::string> joined;  ///< what it was given
  std::atomic<int> runs_asked = 0;
  std::atomic<int> workloads = 0;
};

Status outcome(const std::string& why) { return why.empty() ? Status() : Status(failed(why)); }

class ScriptedWorkload final : public Workload {
 public:
  ScriptedWorkload(Step step, Script& script) : step_(std::move(step)), script_(script) { ++script_.workloads; }
  ~ScriptedWorkload() override { --script_.workloads; }

  [[nodiscard]] const Step& step() const override { return step_; }
  [[nodiscard]] const ComputeFacts& compute(int) const override { return facts_; }
  [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }
  [[nodiscard]] Status accepts(const Program&) const override { return outcome(script_.accepts); }
  Result<Microseconds> run(const Program&) override {
    ++script_.runs_asked;
    if (!script_.runs.empty()) { return failed(script_.runs); }
    return script_.time;
  }
  /// A span of each device, called by the script's device.
  Result<Timeline> record(const Program&) override {
    Timeline timeline{script_.provenance, {}};
    for (int device = 0; device < step_.ranks; ++device) {
      timeline.spans.push_back({script_.device + std::to_string(static_cast<int>(script_.time.count())),
                                SpanKind::compute,
                                device,
                                0,
                                Nanoseconds(0),
                                Nanoseconds(1),
                                {}});
    }
    return timeline;
  }
  Status verify(const Program&) override { return outcome(script_.verifies); }
  Result<std::string> bootstrap(const Program&) override { return script_.bootstraps; }
  Status join(const Program&, std::string_view bootstrap) override {
    script_.joined.emplace_back(bootstrap);
    return outcome(script_.joins);
  }

 private:
  Step step_;
  Script& script_;
  ComputeFacts facts_;
  Capabilities capabilities_;
};

class ScriptedBackend final : public Backend {
 public:
  explicit ScriptedBackend(Script& script) : script_(script) {
    DeviceInfo device;
    device.name = "a device";
    device.limits.name = script.device;
    devices_.assign(8, device);
  }

  [[nodiscard]] std::string_view name() const override { return "scripted"; }
  [[nodiscard]] Provenance provenance() const override { return script_.provenance; }
  [[nodiscard]] const std::vector<DeviceInfo>& devices() const override { return devices_; }
  [[nodiscard]] const std::vector<std::pair<std::string, std::string>>& versions() const override { return versions_; }
  [[nodiscard]] Result<Capabilities> capabilities() const override { return Capabilities{}; }

  using Backend::prepare;
  Result<std::unique_ptr<Workload>> prepare(const Step& step) override {
    if (!script_.prepares.empty()) { return invalid_input(script_.prepares); }
    return std::unique_ptr<Workload>(std::make_unique<ScriptedWorkload>(step, script_));
  }

 private:
  Script& script_;
  std::vector<DeviceInfo> devices_;
  std::vector<std::pair<std::string, std::string>> versions_{{"library", "1.0"}};
};

Step gelu_step() {
  const Result<Step> step = parse_step(R"({"schema": "elbowroom.step/1", "name": "gelu", "ranks": 3, "operations": [
    {"name": "a", "compute": {"kernel": "elementwise", "op": "gelu", "bytes": "3M", "dtype": "f32"}},
    {"name": "b", "collective": {"op": "all_reduce", "bytes": "3M", "dtype": "f32"}, "after": ["a"]}]})",
                                       "gelu");
  EXPECT_TRUE(step) << step.error().message;
  return step ? *step : Step{};
}

Program program_of(const Step& step, Order order = Order::concurrent) {
  const Result<Program> program = lower(step, order, {});
  EXPECT_TRUE(program) << program.error().message;
  return program ? *program : Program{};
}

/// Three ranks of one process, each with a script.
class Ranks : public ::testing::Test {
 protected:
  ~Ranks() override {
    hub_.reset();
    for (auto& server : servers_) { EXPECT_EQ(server.get(), "over"); }
  }

  /// Opens the backend of all ranks, with these seeds.
  Result<std::unique_ptr<Backend>> open(int needed = 3, std::uint64_t others_seed = 1) {
    static std::atomic<int> jobs = 0;
    const std::string job = "a test of " + std::to_string(getpid()) + " " + std::to_string(jobs++);
    for (int rank = 1; rank < 3; ++rank) {
      servers_.push_back(std::async(std::launch::async, [this, rank, job, others_seed] { return serve(rank, job, others_seed); }));
    }
    Result<std::unique_ptr<ranks::Hub>> hub = ranks::Hub::gather(membership(0, job), credentials_, 10s);
    EXPECT_TRUE(hub) << hub.error().message;
    if (!hub) { return hub.error(); }
    hub_ = *std::move(hub);
    return detail::over_ranks(std::make_unique<ScriptedBackend>(scripts_[0]), *hub_, needed, 1);
  }

  std::unique_ptr<Workload> prepared(const Result<std::unique_ptr<Backend>>& backend) {
    EXPECT_TRUE(backend) << backend.error().message;
    Result<std::unique_ptr<Workload>> workload = (*backend)->prepare(gelu_step());
    EXPECT_TRUE(workload) << workload.error().message;
    return *std::move(workload);
  }

  std::array<Script, 3> scripts_;

 private:
  static ranks::Membership membership(int rank, const std::string& job) {
    return {"a test", rank, 3, rank, "127.0.0.1", ranks::kDefaultPort, true, false, job};
  }

  std::string serve(int rank, const std::string& job, std::uint64_t seed) {
    Result<ranks::Spoke> spoke = ranks::Spoke::join(membership(rank, job), credentials_, 10s);
    if (!spoke) { return spoke.error().message; }
    const auto own = [&](int) -> Result<std::unique_ptr<Backend>> {
      return std::unique_ptr<Backend>(std::make_unique<ScriptedBackend>(scripts_[static_cast<std::size_t>(rank)]));
    };
    const Result<ranks::End> end = detail::serve_rank(*spoke, -1, own, rank, seed);
    if (!end) { return end.error().message; }
    return *end == ranks::End::over ? "over" : "refused";
  }

  ranks::Credentials credentials_{"1.0"};
  std::vector<std::future<std::string>> servers_;
  std::unique_ptr<ranks::Hub> hub_;
};

TEST_F(Ranks, TheSlowestCounts) {
  scripts_[0].time = Microseconds(100);
  scripts_[1].time = Microseconds(300.5);
  scripts_[2].time = Microseconds(200);
  const auto backend = open();
  const auto workload = prepared(backend);
  EXPECT_EQ(*workload->run(program_of(gelu_step())), Microseconds(300.5));
  scripts_[0].time = Microseconds(400);
  EXPECT_EQ(*workload->run(program_of(gelu_step(), Order::sequential)), Microseconds(400));
  for (const Script& script : scripts_) { EXPECT_EQ(script.runs_asked, 2); }
}

TEST_F(Ranks, EachDeviceIsRecordedByItsOwnRank) {
  for (int rank = 0; rank < 3; ++rank) { scripts_[static_cast<std::size_t>(rank)].time = Microseconds(rank); }
  const auto backend = open();
  const auto timeline = prepared(backend)->record(program_of(gelu_step()));
  ASSERT_TRUE(timeline) << timeline.error().message;
  std::vector<std::string> names;
  for (const Span& span : timeline->spans) { names.push_back(span.name + " on " + std::to_string(span.device)); }
  EXPECT_THAT(names, ::testing::ElementsAre("h2000 on 0", "h2001 on 1", "h2002 on 2"));
}

TEST_F(Ranks, AnErrorNamesTheRankThatHasIt) {
  const auto backend = open();
  const auto workload = prepared(backend);
  scripts_[2].runs = "too hot";
  EXPECT_EQ(workload->run(program_of(gelu_step())).error().message, "rank 2: too hot");
  scripts_[1].runs = "too cold";
  EXPECT_EQ(workload->run(program_of(gelu_step())).error().message, "rank 1: too cold");
  // Rank 0's own comes first. The next answers are those of the next question.
  scripts_[0].runs = "no power";
  EXPECT_EQ(workload->run(program_of(gelu_step())).error().message, "no power; rank 1: too cold");
  // What all ranks say is said as one process does.
  for (Script& script : scripts_) { script.runs = "no power"; }
  EXPECT_EQ(workload->run(program_of(gelu_step())).error().message, "no power");
  for (Script& script : scripts_) { script.runs.clear(); }
  EXPECT_TRUE(workload->run(program_of(gelu_step())));
  scripts_[1].accepts = "no such control";
  EXPECT_EQ(workload->accepts(program_of(gelu_step())).error().message, "rank 1: no such control");
  scripts_[2].verifies = "a wrong result";
  EXPECT_EQ(workload->verify(program_of(gelu_step())).error().message, "rank 2: a wrong result");
}

TEST_F(Ranks, AStepThatOneCannotPrepareIsRefused) {
  scripts_[1].prepares = "no memory";
  const auto backend = open();
  const auto workload = (*backend)->prepare(gelu_step());
  ASSERT_FALSE(workload);
  EXPECT_EQ(workload.error().message, "rank 1: no memory");
  EXPECT_EQ(workload.error().kind, ErrorKind::invalid_input);
}

TEST_F(Ranks, WorkloadsEndOnAllRanks) {
  const auto backend = open();
  {
    const auto one = prepared(backend);
    const auto other = prepared(backend);
    EXPECT_TRUE(one->run(program_of(gelu_step())));
    for (const Script& script : scripts_) { EXPECT_EQ(script.workloads, 2); }
  }
  EXPECT_TRUE(prepared(backend)->run(program_of(gelu_step())));
  for (const Script& script : scripts_) { EXPECT_EQ(script.workloads, 0); }
}

TEST_F(Ranks, HaveOneDeviceEach) {
  const auto backend = open();
  ASSERT_TRUE(backend);
  ASSERT_EQ((*backend)->devices().size(), 3U);
  EXPECT_EQ((*backend)->devices()[2].index, 2);
  EXPECT_EQ((*backend)->name(), "scripted");
}

TEST_F(Ranks, AnotherDeviceIsRefused) {
  scripts_[2].device = "h100";
  const auto backend = open();
  ASSERT_FALSE(backend);
  EXPECT_EQ(backend.error().message, "rank 2: device: h100, expected h200 (rank 0's)");
  EXPECT_EQ(backend.error().kind, ErrorKind::invalid_input);
}

TEST_F(Ranks, AnotherSeedIsRefused) { EXPECT_EQ(open(3, 7).error().message, "rank 1: seed: 7, expected 1 (rank 0's)"); }

TEST_F(Ranks, MoreGpusThanRanksAreRefused) {
  EXPECT_EQ(open(4).error().message, "gpus: 4, expected at most 3 (ranks that a test started)");
}

TEST_F(Ranks, WhatRankZeroGivesReachesAllBeforeTheyRun) {
  scripts_[0].bootstraps = "ids of two communicators";
  const auto backend = open();
  const auto workload = prepared(backend);
  EXPECT_TRUE(workload->run(program_of(gelu_step())));
  EXPECT_TRUE(workload->verify(program_of(gelu_step())));
  EXPECT_TRUE(workload->record(program_of(gelu_step())));
  const std::vector<std::string> thrice(3, scripts_[0].bootstraps);
  for (const Script& script : scripts_) { EXPECT_EQ(script.joined, thrice); }
  scripts_[2].joins = "no memory";
  EXPECT_EQ(workload->run(program_of(gelu_step())).error().message, "rank 2: no memory");
}

TEST_F(Ranks, ARankThatAStepDoesNotHaveIsNotAsked) {
  const auto backend = open();
  Step step = gelu_step();
  step.ranks = 2;
  Result<std::unique_ptr<Workload>> workload = (*backend)->prepare(step);
  ASSERT_TRUE(workload) << workload.error().message;
  EXPECT_TRUE((*workload)->run(program_of(step)));
  EXPECT_TRUE((*workload)->verify(program_of(step)));
  const Result<Timeline> timeline = (*workload)->record(program_of(step));
  ASSERT_TRUE(timeline) << timeline.error().message;
  EXPECT_EQ(timeline->spans.size(), 2U);
  EXPECT_EQ(scripts_[1].runs_asked, 1);
  EXPECT_EQ(scripts_[2].runs_asked, 0);
}

}  // namespace
}  // namespace elbowroom
