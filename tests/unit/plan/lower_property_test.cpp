#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <set>

#include "elbowroom/plan/lower.hpp"
#include "elbowroom/plan/program.hpp"
#include "unit/model/steps.hpp"

namespace elbowroom {
namespace {

/// Up to 6 operations on up to 4 lanes, each after some that stand before it or come from the repeat before.
Step any_step() {
  Step step;
  step.name = "any";
  step.repeats = *rc::gen::inRange(1, 4);
  const int count = *rc::gen::inRange(1, 7);
  const bool placed = *rc::gen::arbitrary<bool>();
  if (placed) { step.mesh = {{"x", 2}}; }
  for (int at = 0; at < count; ++at) {
    Operation operation =
        *rc::gen::arbitrary<bool>() ? compute_operation("o" + std::to_string(at)) : comm_operation("o" + std::to_string(at));
    for (int before = 0; before < count; ++before) {
      if (*rc::gen::inRange(0, 4) == 0) { operation.after.push_back({before, before >= at}); }
    }
    if (*rc::gen::inRange(0, 3) == 0) { operation.lane = *rc::gen::element("side", "compute", "comm"); }
    if (placed && *rc::gen::inRange(0, 3) == 0) { operation.at = {{0, *rc::gen::inRange(0, 2)}}; }
    step.operations.push_back(std::move(operation));
  }
  return step;
}

bool share_a_rank(const Step& step, int a, int b) {
  const std::vector<int> ranks = ranks_of(step, step.operations[static_cast<std::size_t>(a)]);
  return std::ranges::any_of(ranks_of(step, step.operations[static_cast<std::size_t>(b)]),
                             [&](int rank) { return std::ranges::find(ranks, rank) != ranks.end(); });
}

/// The oracle: which launches must have ended before which begin, on some rank, straight from the step and closed by brute force.
std::vector<std::set<int>> ended_before(const Step& step, const Program& program, bool one_lane) {
  const int count = static_cast<int>(program.launches.size());
  std::vector<std::vector<bool>> before(static_cast<std::size_t>(count), std::vector<bool>(static_cast<std::size_t>(count)));
  for (int b = 0; b < count; ++b) {
    const Launch& later = program.launches[static_cast<std::size_t>(b)];
    const Operation& operation = step.operations[static_cast<std::size_t>(later.operation)];
    for (int a = 0; a < b; ++a) {
      const Launch& earlier = program.launches[static_cast<std::size_t>(a)];
      if (!share_a_rank(step, earlier.operation, later.operation)) { continue; }
      bool ordered = one_lane || lane_of(step.operations[static_cast<std::size_t>(earlier.operation)]) == lane_of(operation);
      for (const Dependency& after : operation.after) {
        ordered = ordered || (after.operation == earlier.operation && earlier.repeat + (after.of_previous ? 1 : 0) == later.repeat);
      }
      before[static_cast<std::size_t>(a)][static_cast<std::size_t>(b)] = ordered;
    }
  }
  for (std::size_t k = 0; k < before.size(); ++k) {
    for (std::size_t a = 0; a < before.size(); ++a) {
      for (std::size_t b = 0; b < before.size(); ++b) { before[a][b] = before[a][b] || (before[a][k] && before[k][b]); }
    }
  }
  std::vector<std::set<int>> sets(before.size());
  for (std::size_t a = 0; a < before.size(); ++a) {
    for (std::size_t b = 0; b < before.size(); ++b) {
      if (before[a][b]) { sets[b].insert(static_cast<int>(a)); }
    }
  }
  return sets;
}

/// The same from the program alone: its lanes and edges.
std::vector<std::set<int>> kept_before(const Step& step, const Program& program) {
  std::vector<std::set<int>> sets;
  for (std::size_t b = 0; b < program.launches.size(); ++b) {
    const Launch& later = program.launches[b];
    std::set<int> all;
    for (std::size_t a = 0; a < b; ++a) {
      const Launch& earlier = program.launches[a];
      const bool edge = std::ranges::find(later.after, static_cast<int>(a)) != later.after.end();
      if (!share_a_rank(step, earlier.operation, later.operation) || (!edge && earlier.lane != later.lane)) { continue; }
      all.insert(static_cast<int>(a));
      all.insert(sets[a].begin(), sets[a].end());
    }
    sets.push_back(std::move(all));
  }
  return sets;
}

RC_GTEST_PROP(LowerProperty, EveryOperationIsLaunchedOnceARepeat, ()) {
  const Step step = any_step();
  for (const Order order : {Order::sequential, Order::concurrent}) {
    const Program program = *lower(step, order, {});
    std::set<std::pair<int, int>> launched;
    for (const Launch& launch : program.launches) { RC_ASSERT(launched.emplace(launch.operation, launch.repeat).second); }
    RC_ASSERT(launched.size() == step.operations.size() * static_cast<std::size_t>(step.repeats));
  }
}

RC_GTEST_PROP(LowerProperty, EdgesPointBackAndToOtherLanes, ()) {
  const Step step = any_step();
  OverlapPlan plan;
  plan.launch_gate = true;
  const Program program = *lower(step, Order::concurrent, plan);
  for (std::size_t at = 0; at < program.launches.size(); ++at) {
    const Launch& launch = program.launches[at];
    RC_ASSERT(launch.lane >= 0 && launch.lane < static_cast<int>(program.lanes.size()));
    for (const int before : launch.after) {
      RC_ASSERT(before >= 0 && before < static_cast<int>(at));
      RC_ASSERT(program.launches[static_cast<std::size_t>(before)].lane != launch.lane);
    }
    for (const int before : launch.after_begun) { RC_ASSERT(before >= 0 && before < static_cast<int>(at)); }
  }
}

RC_GTEST_PROP(LowerProperty, TheStepsOrderIsKeptAndNoOther, ()) {
  Step step = any_step();
  for (Operation& operation : step.operations) { operation.at.clear(); }
  for (const Order order : {Order::sequential, Order::concurrent}) {
    const Program program = *lower(step, order, {});
    RC_ASSERT(kept_before(step, program) == ended_before(step, program, order == Order::sequential));
  }
}

RC_GTEST_PROP(LowerProperty, GatesStandInWindowsAlone, ()) {
  Step step = any_step();
  for (Operation& operation : step.operations) { operation.at.clear(); }
  OverlapPlan plan;
  plan.launch_gate = true;
  const Program program = *lower(step, Order::concurrent, plan);
  const std::vector<std::set<int>> before = ended_before(step, program, false);
  const auto side = [&](int at) {
    return computes(step.operations[static_cast<std::size_t>(program.launches[static_cast<std::size_t>(at)].operation)]);
  };
  const int count = static_cast<int>(program.launches.size());
  for (int comm = 0; comm < count; ++comm) {
    if (side(comm)) { continue; }
    // Of each lane the first computation behind it that may run beside it.
    std::set<std::pair<int, int>> expected;
    std::set<int> lanes;
    for (int at = comm + 1; at < count; ++at) {
      const int lane = program.launches[static_cast<std::size_t>(at)].lane;
      if (!side(at) || before[static_cast<std::size_t>(at)].contains(comm) || !lanes.insert(lane).second) { continue; }
      expected.emplace(comm, at);
    }
    for (int at = 0; at < count; ++at) {
      const std::vector<int>& begun = program.launches[static_cast<std::size_t>(at)].after_begun;
      RC_ASSERT((std::ranges::find(begun, comm) != begun.end()) == expected.contains({comm, at}));
    }
  }
}

RC_GTEST_PROP(LowerProperty, SettingsHoldInWindowsAlone, ()) {
  Step step = any_step();
  for (Operation& operation : step.operations) { operation.at.clear(); }
  OverlapPlan plan;
  plan.windows_only = true;
  plan.pad = Bytes(1'024);
  plan.comm_blocks = Blocks(8);
  const Result<Program> program = lower(step, Order::concurrent, plan);
  const Program plain = *lower(step, Order::concurrent, {});
  const std::vector<std::set<int>> before = ended_before(step, plain, false);
  const int count = static_cast<int>(plain.launches.size());
  const auto side = [&](int at) {
    return computes(step.operations[static_cast<std::size_t>(plain.launches[static_cast<std::size_t>(at)].operation)]);
  };
  int inside = 0;
  for (int at = 0; at < count; ++at) {
    bool beside = false;
    for (int other = 0; other < count; ++other) {
      beside = beside || (side(at) != side(other) && !before[static_cast<std::size_t>(at)].contains(other) &&
                          !before[static_cast<std::size_t>(other)].contains(at));
    }
    inside += beside ? 1 : 0;
    if (!program) { continue; }
    const LaunchSettings& settings = program->launches[static_cast<std::size_t>(at)].settings;
    if (side(at)) {
      RC_ASSERT((std::get<ComputeSettings>(settings).pad == Bytes(1'024)) == beside);
    } else {
      RC_ASSERT(std::get<CommSettings>(settings).comm_blocks.has_value() == beside);
    }
  }
  RC_ASSERT(program.ok() == (inside > 0 && inside < count));
}

}  // namespace
}  // namespace elbowroom
