#include "experiment/stages.hpp"

#include <gtest/gtest.h>

namespace elbowroom::detail {
namespace {

Parallelism stages(int pp, int micro) {
  Parallelism parallel;
  parallel.pp = pp;
  parallel.micro = micro;
  return parallel;
}

const StageTime kEven{Microseconds(1), Microseconds(2)};

// Four micro-batches of 1 + 2 on three equal stages: (4 + 3 - 1) x 3.
TEST(PipelineTime, ABubbleHasOneMicroBatchForEachOtherStage) {
  EXPECT_DOUBLE_EQ(pipeline_time(stages(3, 4), {kEven, kEven, kEven}, Microseconds(0)).count(), 18);
  EXPECT_DOUBLE_EQ(pipeline_time(stages(1, 4), {kEven}, Microseconds(5)).count(), 12);
}

// One micro-batch on two stages: forward 1, send 10, forward 1 and back 2, send 10, back 2. The last stage sends its forward item
// nowhere, and is busy with it no longer than its own turn: 10 more before it goes back.
TEST(PipelineTime, StagesWaitForWhatIsSent) {
  EXPECT_DOUBLE_EQ(pipeline_time(stages(2, 1), {kEven, kEven}, Microseconds(10)).count(), 36);
}

// The last stage takes 5 + 10: it sets the pace. 1 before its first item, 4 x 15, and 2 behind its last one.
TEST(PipelineTime, TheSlowestStageSetsThePace) {
  const StageTime slow{Microseconds(5), Microseconds(10)};
  EXPECT_DOUBLE_EQ(pipeline_time(stages(2, 4), {kEven, slow}, Microseconds(0)).count(), 63);
}

}  // namespace
}  // namespace elbowroom::detail
