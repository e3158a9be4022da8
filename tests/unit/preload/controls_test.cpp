#include "preload/controls.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace elbowroom::preload {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

std::string refusal(const ControlTexts& texts) {
  const Result<Controls> controls = read_controls(texts);
  return controls ? "" : controls.error().message;
}

TEST(PreloadControls, AreReadFromTheirTexts) {
  const Result<Controls> controls = read_controls({.communication = {"ring"},
                                                   .caps = {"gelu=4", "2"},
                                                   .settings = {"comm_blocks=8", "cluster=1"},
                                                   .off = {"gate", "symmetric"},
                                                   .sm_target = 108});
  ASSERT_TRUE(controls) << controls.error().message;
  EXPECT_THAT(controls->communication, ElementsAre("ring"));
  ASSERT_EQ(controls->caps.size(), 2U);
  EXPECT_EQ(controls->caps[0].kernel, "gelu");
  EXPECT_EQ(controls->caps[0].blocks_per_sm, BlocksPerSm(4));
  EXPECT_EQ(controls->caps[1].kernel, "*") << "every kernel";
  EXPECT_THAT(controls->comm_library,
              ElementsAre(Pair("NCCL_MIN_CTAS", "8"), Pair("NCCL_MAX_CTAS", "8"), Pair("NCCL_CGA_CLUSTER_SIZE", "1")));
  EXPECT_TRUE(controls->leaves_out("symmetric"));
  EXPECT_FALSE(controls->leaves_out("ab"));
  EXPECT_EQ(controls->sm_target, Sms(108));
}

// The library's word for its policy of copy engines is 2. A budget is a greatest number alone.
TEST(PreloadControls, AreGivenToTheLibraryInItsOwnWords) {
  EXPECT_THAT(read_controls({.settings = {"copy_engine=1"}})->comm_library, ElementsAre(Pair("NCCL_CTA_POLICY", "2")));
  EXPECT_THAT(read_controls({.settings = {"budget=16"}})->comm_library, ElementsAre(Pair("NCCL_MAX_CTAS", "16")));
  EXPECT_THAT(read_controls({.settings = {"symmetric_blocks=16"}})->comm_library, ElementsAre(Pair("NCCL_SYM_CTAS", "16")));
}

TEST(PreloadControls, HaveAnExampleEachThatCanBeRead) {
  const std::string examples = example_settings();
  EXPECT_EQ(examples,
            "comm_blocks=8, cluster=1, comm_threads=256, copy_engine=1, symmetric_blocks=16, budget=8, xla_symmetric_buffers=1");
  std::istringstream words(examples);
  for (std::string word; words >> word;) {
    if (word.back() == ',') { word.pop_back(); }
    EXPECT_EQ(refusal({.settings = {word}}), "");
  }
}

TEST(PreloadControls, AreRefusedInOneLineThatNamesTheOption) {
  EXPECT_THAT(refusal({.settings = {"blocks=8"}}), HasSubstr("--set: 'blocks=8', expected comm_blocks=N, cluster=N,"));
  EXPECT_EQ(refusal({.settings = {"comm_blocks=65"}}), "--set: 'comm_blocks=65', expected a whole number from 1 to 64");
  EXPECT_EQ(refusal({.settings = {"comm_blocks=8", "budget=9"}}), "--set: 'budget=9' sets what another one sets, expected one");
  EXPECT_EQ(refusal({.settings = {"symmetric_blocks=1", "symmetric_blocks=2"}}),
            "--set: 'symmetric_blocks=2' sets what another one sets, expected one");
  EXPECT_EQ(refusal({.settings = {"symmetric_blocks=8", "comm_blocks=8"}}),
            "--set: symmetric_blocks beside comm_blocks, which is the number for all kernels; expected one of them");
  EXPECT_EQ(refusal({.caps = {"gelu=33"}}), "--cap: 'gelu=33', expected [NAME=]N with N from 1 to 32 blocks per SM");
  EXPECT_THAT(refusal({.caps = {"a,b=3"}}), HasSubstr("--cap: 'a,b=3', expected part of a kernel's name"));
  EXPECT_EQ(refusal({.caps = std::vector<std::string>(65, "4")}), "--cap: given 65 times, expected at most 64");
  EXPECT_THAT(refusal({.communication = {"two words"}}), HasSubstr("--communication: 'two words', expected part"));
  EXPECT_EQ(refusal({.off = {"everything"}}),
            "--off: 'everything', expected one of gate, priority, ab, shape, sm_target, symmetric");
}

}  // namespace
}  // namespace elbowroom::preload
