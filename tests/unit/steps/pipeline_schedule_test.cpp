#include "steps/pipeline_schedule.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

namespace elbowroom::steps {
namespace {

std::string words(const std::vector<PipelineItem>& items) {
  std::string text;
  for (const PipelineItem& item : items) {
    text += (text.empty() ? "" : " ") + std::string(item.backward ? "B" : "F") + std::to_string(item.micro);
    if (item.chunk > 0) { text += std::string(static_cast<std::size_t>(item.chunk), '\''); }
  }
  return text;
}

// Four stages: the first runs three forward passes before it has one of each in turn, the last none.
TEST(PipelineSchedule, OneForwardOneBackward) {
  Parallelism parallel;
  parallel.pp = 4;
  parallel.micro = 5;
  EXPECT_EQ(words(items_of_stage(parallel, 0)), "F0 F1 F2 F3 B0 F4 B1 B2 B3 B4");
  EXPECT_EQ(words(items_of_stage(parallel, 3)), "F0 B0 F1 B1 F2 B2 F3 B3 F4 B4");
  parallel.micro = 2;
  EXPECT_EQ(words(items_of_stage(parallel, 0)), "F0 F1 B0 B1");
}

// Two stages of two chunks, as Megatron-LM counts: 2 (2 - 0 - 1) + 2 = 4 passes ahead on the first, 2 on the last.
TEST(PipelineSchedule, Interleaved) {
  Parallelism parallel;
  parallel.pp = 2;
  parallel.micro = 4;
  parallel.schedule = PipelineSchedule::interleaved;
  EXPECT_EQ(words(items_of_stage(parallel, 0)), "F0 F1 F0' F1' F2 B0' F3 B1' F2' B0 F3' B1 B2' B3' B2 B3");
  EXPECT_EQ(words(items_of_stage(parallel, 1)), "F0 F1 F0' B0' F1' B1' F2 B0 F3 B1 F2' B2' F3' B3' B2 B3");
}

TEST(PipelineSchedule, EveryItemOnceAndBehindWhatItWaitsFor) {
  for (const PipelineSchedule schedule : {PipelineSchedule::one_forward_one_backward, PipelineSchedule::interleaved}) {
    for (const int stages : {1, 2, 3, 4, 8}) {
      Parallelism parallel;
      parallel.pp = stages;
      parallel.micro = 2 * stages;
      parallel.schedule = schedule;
      const std::vector<PipelineItem> order = pipeline_order(parallel);
      ASSERT_EQ(static_cast<int>(order.size()), 2 * parallel.micro * stages * chunks_of(parallel));
      const auto at = [&](int chunk, int micro, bool backward) {
        return std::ranges::find(order, PipelineItem{chunk % stages, chunk / stages, micro, backward}) - order.begin();
      };
      const int chunks = stages * chunks_of(parallel);
      for (int micro = 0; micro < parallel.micro; ++micro) {
        for (int chunk = 1; chunk < chunks; ++chunk) {
          EXPECT_LT(at(chunk - 1, micro, false), at(chunk, micro, false));
          EXPECT_LT(at(chunk, micro, true), at(chunk - 1, micro, true));
        }
        EXPECT_LT(at(chunks - 1, micro, false), at(chunks - 1, micro, true));
      }
    }
  }
}

}  // namespace
}  // namespace elbowroom::steps
