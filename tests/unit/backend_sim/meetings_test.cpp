// Devices that do different things, with collectives that join them. Times are those of small_machine.hpp: a computation's block
// takes 10 us, a collective's 5, an SM holds two, an event takes 1.
#include "backend_sim/meetings.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend_sim/sim_program.hpp"
#include "small_machine.hpp"

namespace elbowroom::sim {
namespace {

// Kernels of every test here: a computation of one block, collectives of one and of two, and what these are while they wait.
constexpr int kCompute = 0, kOne = 1, kTwo = 2, kOneWaits = 3, kTwoWait = 4, kComputeToo = 5;

std::vector<SimKernel> kernels_of_devices() {
  CommProfile one = comm(1);
  CommProfile two = comm(2);
  std::vector<SimKernel> kernels{kernel(compute(1)), kernel(one), kernel(two)};
  one.waits = two.waits = true;
  kernels.push_back(kernel(one));
  kernels.push_back(kernel(two));
  kernels.push_back(kernel(compute(1)));
  return kernels;
}

Task computation(int lane, int kernel = kCompute) {
  Task task;
  task.kernel = kernel;
  task.lane = lane;
  return task;
}

Task collective(int kernel, int lane, int meeting, std::vector<int> after = {}) {
  Task task;
  task.kernel = kernel;
  task.waiting = kernel == kOne ? kOneWaits : kTwoWait;
  task.lane = lane;
  task.meeting = meeting;
  task.after = std::move(after);
  return task;
}

SimRun run_devices(const std::vector<DeviceTasks>& devices, int sms = 1) {
  const std::vector<SimKernel> kernels = kernels_of_devices();
  return simulate(machine(sms), *SmCapacity::make(h200(), kernels), kernels, devices);
}

TEST(Meetings, ACollectiveWaitsForItsLastRankAndEndsEverywhereAtOnce) {
  // Device 0 computes until 10; its collective begins an event later and takes 5. Device 1's is there from the beginning.
  const SimRun run = run_devices({{computation(0), collective(kOne, 1, 0, {0})}, {collective(kOne, 0, 0)}});
  EXPECT_DOUBLE_EQ(run.devices[0].tasks[1].begin, 11);
  EXPECT_DOUBLE_EQ(run.devices[0].tasks[1].end, 16);
  EXPECT_DOUBLE_EQ(run.devices[1].tasks[0].begin, 0);
  EXPECT_DOUBLE_EQ(run.devices[1].tasks[0].end, 16);
  EXPECT_DOUBLE_EQ(run.end, 16);
}

TEST(Meetings, BlocksThatWaitTakeTheirRoom) {
  // Device 1's two waiting blocks fill its only SM until 16: its computation, ready after 1, begins then.
  const SimRun run = run_devices({{computation(0), collective(kTwo, 1, 0, {0})}, {collective(kTwo, 0, 0), computation(1)}});
  EXPECT_DOUBLE_EQ(run.devices[1].tasks[1].begin, 16);
  EXPECT_DOUBLE_EQ(run.devices[1].tasks[1].end, 26);
}

TEST(Meetings, BlocksArePairedInTheOrderInWhichTheyCome) {
  // Beside a computation there is room for one block: the first pair works from 1 to 6, the second from then to 11.
  const DeviceTasks alike{computation(0), collective(kTwo, 1, 0)};
  EXPECT_DOUBLE_EQ(run_devices({alike, alike}).devices[0].tasks[1].end, 11);
  // Two computations fill the SM of device 0 until 10 and 11: blocks come then, and those of device 1, there from 0 on, work from
  // then on.
  const SimRun late =
      run_devices({{computation(0), computation(1, kComputeToo), collective(kTwo, 2, 0)}, {collective(kTwo, 0, 0)}});
  EXPECT_DOUBLE_EQ(late.devices[0].tasks[2].begin, 10);
  EXPECT_DOUBLE_EQ(late.devices[0].tasks[2].all_begun, 11);
  EXPECT_DOUBLE_EQ(late.devices[1].tasks[0].end, 16);
}

TEST(Meetings, CopiesWaitForEachOtherAsWell) {
  // 5,000 B at 1,000 B/us, of which memory allows them less than half its rate: from when both are ready, at 11, to 16.
  Machine copying = machine(1);
  copying.copy_rate = 1'000;
  Task late = copy_launch(5'000);
  late.lane = 1;
  late.after = {0};
  late.meeting = 0;
  Task early = copy_launch(5'000);
  early.lane = 0;
  early.meeting = 0;
  const std::vector<SimKernel> kernels = kernels_of_devices();
  const SimRun run = simulate(copying, *SmCapacity::make(h200(), kernels), kernels, {{computation(0), late}, {early}});
  EXPECT_DOUBLE_EQ(run.devices[0].tasks[1].end, 16);
  EXPECT_DOUBLE_EQ(run.devices[1].tasks[0].end, 16);
}

TEST(Meetings, RanksThatCallInDifferentOrdersNeverMeetAndThatIsSaid) {
  SimProgram program;
  program.kernels = kernels_of_devices();
  // The first collective fills the SM of each device, so that the other never begins.
  program.devices = {{collective(kTwo, 0, 0), collective(kTwo, 0, 1)}, {collective(kTwo, 0, 1), collective(kTwo, 0, 0)}};
  const auto stopped = simulate(program, machine(1), h200());
  ASSERT_FALSE(stopped);
  EXPECT_EQ(stopped.error().message, "the schedule stops at 0.0 us: a collective waits for ranks that never come to it");
}

}  // namespace
}  // namespace elbowroom::sim
