#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <optional>

#include "backend_sim/crowding.hpp"
#include "backend_sim/sm_pool.hpp"
#include "small_machine.hpp"

namespace elbowroom::sim {
namespace {

double between(int least, int greatest) { return *rc::gen::inRange(least, greatest + 1); }

/// A kernel whose blocks slow each other, but do more together than one after the other.
ComputeProfile any_compute() {
  ComputeProfile profile = compute(*rc::gen::inRange<std::int64_t>(1, 200));
  profile.footprint.threads = Threads(*rc::gen::element<std::int64_t>(128, 256, 512, 1'024));
  profile.footprint.dynamic_shared = kibibytes(*rc::gen::element<std::int64_t>(0, 20, 60, 120));
  const double latency = between(1, 50);
  const double issue = between(0, 10);
  profile.tile_time.clear();
  for (int resident = 1; resident <= 16; ++resident) { profile.tile_time.push_back(latency + issue * resident); }
  profile.traffic = between(0, 100'000);
  profile.memory_share = 1;
  profile.persistent = *rc::gen::arbitrary<bool>();
  if (profile.persistent) {
    profile.footprint.dynamic_shared = kPadToOne;
    profile.work.tiles_x *= *rc::gen::inRange(1, 5);
    profile.block_overhead = 1;  // a block that finds no tile left has begun before it ends
  }
  return profile;
}

CommProfile any_comm() {
  CommProfile profile = comm(*rc::gen::inRange(1, 17));
  profile.footprint.threads = Threads(*rc::gen::element<std::int64_t>(288, 544, 640));
  profile.footprint.registers_per_thread = Registers(96);
  profile.footprint.static_shared = kibibytes(100);
  if (profile.blocks % 2 == 0) { profile.footprint.cluster = *rc::gen::element(1, 2); }
  profile.bytes = between(0, 1'000'000);
  profile.block_rate = between(1, 50'000);
  profile.sm_rate = between(1, 50'000);
  profile.link_rate = between(1, 400'000);
  profile.traffic = between(0, 4);
  profile.memory_share = between(0, 1);
  return profile;
}

Machine any_machine() {
  Machine any = machine(*rc::gen::inRange(2, 40));
  any.memory_rate = between(1'000, 5'000'000);
  any.launch_gap = between(0, 3);
  any.copy_rate = between(1, 400'000);
  any.copy_gap = between(0, 20);
  any.block_spread = *rc::gen::element(0.0, 0.02);
  return any;
}

std::vector<Task> pipeline(int iterations, bool urgent, bool gated, double copied = 0) {
  std::vector<Task> program;
  int latest_comm = -1;
  for (int iteration = 0; iteration < iterations; ++iteration) {
    Task launch = compute_launch();
    if (gated && latest_comm >= 0) { launch.after_begun = {latest_comm}; }
    program.push_back(launch);
    latest_comm = static_cast<int>(program.size());
    program.push_back(comm_launch(urgent, {latest_comm - 1}));
    if (copied > 0) { program.push_back(copy_launch(copied)); }
  }
  return program;
}

RC_GTEST_PROP(EngineProperty, EveryBlockRunsOnceAndOrderHolds, ()) {
  const ComputeProfile kernel = any_compute();
  const CommProfile collective = any_comm();
  const Machine machine = any_machine();
  const int iterations = *rc::gen::inRange(1, 5);
  const double copied = *rc::gen::element(0, 1, 1'000'000);
  const std::vector<Task> program = pipeline(iterations, *rc::gen::arbitrary<bool>(), *rc::gen::arbitrary<bool>(), copied);
  const EngineRun result = run(machine, kernel, collective, program);

  RC_ASSERT(result.blocks == iterations * (kernel.work.blocks() + collective.blocks));
  const TaskTimes* previous[2] = {nullptr, nullptr};
  for (std::size_t at = 0; at < program.size(); ++at) {
    const TaskTimes& times = result.tasks[at];
    RC_ASSERT(times.begin <= times.all_begun && times.all_begun < times.end && times.end <= result.end);
    const TaskTimes*& before = previous[program[at].lane];
    const bool copies = !program[at].kernel;
    if (before != nullptr) { RC_ASSERT(times.begin >= before->end + (copies ? machine.copy_gap : machine.launch_gap)); }
    // Both ends are rounded as what is far from zero is.
    if (copies) { RC_ASSERT((times.end - times.begin + times.end * 1e-12) * machine.copy_rate >= copied); }
    before = &times;
    for (const int earlier : program[at].after) {
      RC_ASSERT(times.begin >= result.tasks[static_cast<std::size_t>(earlier)].end + machine.event_gap);
    }
    for (const int earlier : program[at].after_begun) {
      RC_ASSERT(times.begin >= result.tasks[static_cast<std::size_t>(earlier)].all_begun + machine.event_gap);
    }
  }
}

RC_GTEST_PROP(EngineProperty, NeverFasterThanTheWorkAllows, ()) {
  const ComputeProfile kernel = any_compute();
  const CommProfile collective = any_comm();
  const Machine machine = any_machine();
  const EngineRun result = run(machine, kernel, collective, pipeline(1, true, false));
  const double slack = 1 + machine.block_spread + 1e-9;
  const double moved = static_cast<double>(kernel.work.blocks()) * kernel.traffic;
  // Memory's rate, one block's own time, the links' rate: each alone bounds the schedule from below.
  RC_ASSERT(result.tasks[0].end * slack >= moved / machine.memory_rate);
  RC_ASSERT(result.tasks[0].end * slack >= kernel.tile_time.front());
  const double comm_time = result.tasks[1].end - result.tasks[1].begin;
  RC_ASSERT(comm_time * slack >= collective.blocks * collective.bytes / collective.link_rate);
  RC_ASSERT(comm_time * slack >= collective.startup + collective.bytes / collective.block_rate);
}

RC_GTEST_PROP(EngineProperty, MoreBandwidthNeverSlowsAKernel, ()) {
  const ComputeProfile kernel = any_compute();
  const Machine less = any_machine();
  Machine more = less;
  more.memory_rate *= between(1, 5);
  const double before = run(less, kernel, comm(1), {compute_launch()}).end;
  RC_ASSERT(run(more, kernel, comm(1), {compute_launch()}).end <= before * (1 + 1e-9));
}

RC_GTEST_PROP(EngineProperty, MoreSmsNeverSlowAKernel, ()) {
  const ComputeProfile profile = any_compute();
  const auto end_on = [&](const Machine& machine) {
    return run(machine, {uncrowded(machine, h200(), kernel(profile))->kernel}, {compute_launch()}).end;
  };
  const Machine less = any_machine();
  Machine more = less;
  more.sms += *rc::gen::inRange(0, 20);
  RC_ASSERT(end_on(more) <= end_on(less) * (1 + 1e-9));
}

RC_GTEST_PROP(EngineProperty, TheSameQuestionHasTheSameAnswer, ()) {
  const ComputeProfile kernel = any_compute();
  const CommProfile collective = any_comm();
  const Machine machine = any_machine();
  const std::vector<Task> program = pipeline(2, true, false);
  const EngineRun once = run(machine, kernel, collective, program);
  const EngineRun again = run(machine, kernel, collective, program);
  RC_ASSERT(once.end == again.end);
}

// An SM keeps the split of its memory while anything is resident. So what is left when the blocks have ended that needed the most
// shared memory may not fit the split that it would get by itself.
SmCapacity with_largest_split(std::vector<SimKernel> kernels) {
  for (SimKernel& kernel : kernels) { kernel.carveout = Percent(100); }
  return *SmCapacity::make(h200(), kernels);
}

// Blocks come and go at random; whatever is resident fits, and what moves stays within the machine's rates.
RC_GTEST_PROP(SmPoolProperty, NothingIsEverOverCommitted, ()) {
  const ComputeProfile kernel = any_compute();
  const CommProfile collective = any_comm();
  const Machine machine = any_machine();
  // Two computations and two collectives, each on its lane.
  const std::vector<SimKernel> kernels{sim::kernel(kernel), sim::kernel(collective), sim::kernel(any_compute()),
                                       sim::kernel(any_comm())};
  const int lanes = static_cast<int>(kernels.size());
  const SmCapacity capacity = *SmCapacity::make(h200(), kernels);
  const SmCapacity whole = with_largest_split(kernels);
  SmPool pool(machine, capacity, kernels, lanes);
  for (int lane = 0; lane < lanes; ++lane) { pool.begin(lane, lane, std::nullopt); }
  const auto resident = [&](int sm) {
    std::int64_t count = 0;
    for (const Share& share : pool.mix(sm)) { count += share.count; }
    return count;
  };
  std::int64_t started = 0;
  std::int64_t ended = 0;
  double now = 0;
  for (int step = 0; step < 60; ++step) {
    const int sm = *rc::gen::inRange(0, machine.sms);
    const int lane = *rc::gen::inRange(0, lanes);
    if (const int room = pool.room(lane, sm); room > 0) {
      const int count = *rc::gen::inRange(1, room + 1);
      pool.place(lane, sm, count, 1.0, step);
      started += count;
      RC_ASSERT(capacity.fits(pool.mix(sm)));
    }
    pool.set_copying(*rc::gen::arbitrary<bool>());
    pool.settle();
    RC_ASSERT(whole.fits(pool.mix(sm)));
    RC_ASSERT(pool.computing(sm) + pool.communicating(sm) == resident(sm));
    const double moved = pool.rates().memory_use() + pool.rates().memory_for_copies();
    RC_ASSERT(moved <= machine.memory_rate * (1 + 1e-9));
    const double links =
        pool.rates().link_use(1) / kernels[1].comm().link_rate + pool.rates().link_use(3) / kernels[3].comm().link_rate;
    RC_ASSERT(links <= 1 + 1e-9);
    if (*rc::gen::arbitrary<bool>() && started > ended) {
      RC_ASSERT(pool.next_end() >= now);
      now = pool.next_end();
      std::int64_t done = 0;
      for (const std::int64_t of_lane : pool.advance(now)) { done += of_lane; }
      RC_ASSERT(done > 0 || pool.next_end() >= now);
      ended += done;
      pool.settle();
    }
  }
  std::int64_t left = 0;
  for (int sm = 0; sm < machine.sms; ++sm) { left += resident(sm); }
  RC_ASSERT(left == started - ended);
}

}  // namespace
}  // namespace elbowroom::sim
