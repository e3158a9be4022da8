#include "backend_ranks/program_bytes.hpp"

#include <gtest/gtest.h>
#include <rapidcheck.h>
#include <rapidcheck/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "elbowroom/experiment/suites.hpp"
#include "elbowroom/plan/lower.hpp"

namespace elbowroom::ranks {
namespace {

/// Plans that set each kind of launch apart from the default.
std::vector<OverlapPlan> plans() {
  OverlapPlan all;
  all.pad = Bytes(53'376);
  all.sm_target = Sms(108);
  all.carveout = Percent(50);
  all.comm_blocks = Blocks(8);
  all.cluster = 2;
  all.comm_threads = Threads(256);
  all.symmetric = true;
  all.copy_engine = true;
  all.peer_detour = true;
  all.priority = true;
  all.launch_gate = true;
  OverlapPlan partition;
  partition.comm_sms = Sms(16);
  return {OverlapPlan{}, all, partition};
}

Program program_of(const Step& step, Order order, const OverlapPlan& plan) {
  const Result<Program> program = lower(step, order, plan);
  EXPECT_TRUE(program) << step.name << ": " << program.error().message;
  return program ? *program : Program{};
}

std::vector<Step> steps_of_all_suites() {
  std::vector<Step> steps;
  for (const char* name : {"quick", "paper", "controls", "library"}) {
    const Result<Suite> suite = find_suite(name);
    EXPECT_TRUE(suite) << name;
    if (!suite) { continue; }
    for (const Scenario& scenario : suite->scenarios(2)) { steps.push_back(step_of(scenario)); }
  }
  return steps;
}

TEST(ProgramBytes, ComeBackAsTheProgramThatTheyWere) {
  const std::vector<Step> steps = steps_of_all_suites();
  EXPECT_GT(steps.size(), 40U);
  for (const Step& step : steps) {
    for (const Order order : {Order::compute_only, Order::comm_only, Order::sequential, Order::concurrent}) {
      for (const OverlapPlan& plan : plans()) {
        const Program program = program_of(step, order, plan);
        const Result<Program> read = program_in(bytes_of(program), step);
        ASSERT_TRUE(read) << step.name << ": " << read.error().message;
        EXPECT_EQ(*read, program) << step.name;
      }
    }
  }
}

TEST(ProgramBytes, TheirStepComesBackFromItsDocument) {
  for (const Step& step : steps_of_all_suites()) {
    const Result<Step> read = parse_step(to_json(step, -1), step.name);
    ASSERT_TRUE(read) << read.error().message;
    EXPECT_EQ(*read, step) << step.name;
  }
}

/// A computation and what waits for it.
Step small_step() {
  const Result<Step> step = parse_step(R"({"schema": "elbowroom.step/1", "name": "small", "ranks": 2, "repeats": 2, "operations": [
    {"name": "a", "compute": {"kernel": "elementwise", "op": "gelu", "bytes": "1M", "dtype": "f32"}},
    {"name": "b", "collective": {"op": "all_reduce", "bytes": "1M", "dtype": "f32"}, "after": ["a"]}]})",
                                       "small");
  EXPECT_TRUE(step) << step.error().message;
  return step ? *step : Step{};
}

template <class Amount>
Amount any_amount() {
  return Amount(*rc::gen::arbitrary<std::int64_t>());
}

template <class Value>
std::optional<Value> maybe(Value value) {
  return *rc::gen::arbitrary<bool>() ? std::optional<Value>(value) : std::nullopt;
}

// A binding lists all members, so that none is left at its default.

ComputeSettings any_compute() {
  ComputeSettings settings;
  auto& [pad, sm_target, carveout] = settings;
  pad = any_amount<Bytes>();
  sm_target = maybe(any_amount<Sms>());
  carveout = maybe(any_amount<Percent>());
  return settings;
}

CommSettings any_comm() {
  CommSettings settings;
  auto& [comm_blocks, cluster, comm_threads, symmetric, copy_engine, peer_detour] = settings;
  comm_blocks = maybe(any_amount<Blocks>());
  cluster = maybe(*rc::gen::arbitrary<int>());
  comm_threads = maybe(any_amount<Threads>());
  symmetric = *rc::gen::arbitrary<bool>();
  copy_engine = *rc::gen::arbitrary<bool>();
  peer_detour = *rc::gen::arbitrary<bool>();
  return settings;
}

RC_GTEST_PROP(ProgramBytes, KeepEveryMemberOfSettings, ()) {
  const Step step = small_step();
  Program program = program_of(step, Order::concurrent, {});
  for (Launch& launch : program.launches) {
    if (std::holds_alternative<ComputeSettings>(launch.settings)) {
      launch.settings = any_compute();
    } else {
      launch.settings = any_comm();
    }
  }
  const Result<Program> read = program_in(bytes_of(program), step);
  RC_ASSERT(read.ok());
  RC_ASSERT(*read == program);
}

TEST(ProgramBytes, OfAnotherStepAreRefused) {
  const Step step = small_step();
  const Program good = program_of(step, Order::concurrent, {});
  ASSERT_TRUE(program_in(bytes_of(good), step));
  ASSERT_EQ(good.launches.size(), 4U);
  const auto refuses = [&](auto&& spoil) {
    Program program = good;
    spoil(program.launches[1]);
    return !program_in(bytes_of(program), step);
  };
  EXPECT_TRUE(refuses([](Launch& launch) { launch.operation = 2; }));
  EXPECT_TRUE(refuses([](Launch& launch) { launch.operation = -1; }));
  EXPECT_TRUE(refuses([](Launch& launch) { launch.repeat = 2; }));
  EXPECT_TRUE(refuses([](Launch& launch) { launch.repeat = -1; }));
  EXPECT_TRUE(refuses([&](Launch& launch) { launch.lane = static_cast<int>(good.lanes.size()); }));
  EXPECT_TRUE(refuses([](Launch& launch) { launch.after = {1}; }));
  EXPECT_TRUE(refuses([](Launch& launch) { launch.after = {-1}; }));
  EXPECT_TRUE(refuses([](Launch& launch) { launch.after_begun = {1}; }));
  EXPECT_TRUE(refuses([](Launch& launch) {
    const bool computes = std::holds_alternative<ComputeSettings>(launch.settings);
    launch.settings = computes ? LaunchSettings(CommSettings{}) : LaunchSettings(ComputeSettings{});
  }));
}

TEST(ProgramBytes, ThatAreCutOffOrSpoiledAreRefusedOrAreAnotherProgram) {
  const Step step = small_step();
  const std::string good = bytes_of(program_of(step, Order::concurrent, plans()[1]));
  for (std::size_t size = 0; size < good.size(); ++size) { EXPECT_FALSE(program_in(good.substr(0, size), step)) << size; }
  EXPECT_FALSE(program_in(good + "x", step));
  for (std::size_t at = 0; at < good.size(); ++at) {
    std::string spoiled = good;
    spoiled[at] = static_cast<char>(~spoiled[at]);
    const Result<Program> read = program_in(spoiled, step);
    if (read) { EXPECT_EQ(bytes_of(*read), spoiled) << at; }
  }
}

}  // namespace
}  // namespace elbowroom::ranks
