#include "preload/backend.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace elbowroom::preload {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

std::string refusal(run::Policy policy, const Controls& asked) {
  EXPECT_TRUE(check_run_backend(RunBackend::cuda, policy, asked)) << "CUDA has it";
  const Status valid = check_run_backend(RunBackend::hip, policy, asked);
  return valid ? "" : valid.error().message;
}

TEST(RunBackend, HipRefusesWhatIsNotThere) {
  EXPECT_THAT(refusal(run::Policy::gate, {}), HasSubstr("--policy: gate is not there with hip"));
  Controls targeted;
  targeted.sm_target = Sms(108);
  EXPECT_THAT(refusal(run::Policy::automatic, targeted), HasSubstr("--sm-target: not there with hip"));
  Controls clustered;
  clustered.comm_library = {{"NCCL_CGA_CLUSTER_SIZE", "1"}};
  EXPECT_THAT(refusal(run::Policy::automatic, clustered), HasSubstr("--set: cluster is not there with hip"));
  Controls copying;
  copying.comm_library = {{"NCCL_CTA_POLICY", "2"}};
  EXPECT_THAT(refusal(run::Policy::automatic, copying), HasSubstr("--set: copy_engine is not there with hip"));
  Controls blocks;
  blocks.comm_library = {{"NCCL_SYM_CTAS", "8"}};
  EXPECT_EQ(refusal(run::Policy::automatic, blocks), "--set: symmetric_blocks is not there with hip: the setting is NCCL's");
  EXPECT_EQ(refusal(run::Policy::shape, {}), "");
}

TEST(RunBackend, HipTakesOfAProfileWhatItHas) {
  Controls offered;
  offered.product_targets = {{"mi300x", {DataType::bf16, 40}, Sms(200)}};
  offered.comm_library = {{"NCCL_CGA_CLUSTER_SIZE", "1"}, {"NCCL_MAX_CTAS", "8"}};
  EXPECT_EQ(possible_controls(RunBackend::cuda, offered).comm_library.size(), 2U);
  const Controls possible = possible_controls(RunBackend::hip, offered);
  EXPECT_THAT(possible.product_targets, IsEmpty());
  EXPECT_THAT(possible.comm_library, ElementsAre(Pair("NCCL_MAX_CTAS", "8")));
}

TEST(RunBackend, HipNeedsRcclsWordsAndPriorities) {
  Controls controls;
  controls.comm_library = {{"NCCL_MIN_CTAS", "4"}, {"NCCL_MAX_CTAS", "8"}};
  const run::Policy policy = run::Policy::automatic;
  EXPECT_THAT(backend_environment(RunBackend::cuda, policy, controls, {}), IsEmpty());
  EXPECT_THAT(
      backend_environment(RunBackend::hip, policy, controls, {}),
      ElementsAre(Pair("NCCL_MIN_NCHANNELS", "4"), Pair("NCCL_MAX_NCHANNELS", "8"), Pair("DEBUG_HIP_IGNORE_STREAM_PRIORITY", "0")));
  EXPECT_THAT(backend_environment(RunBackend::hip, policy, {}, {{"DEBUG_HIP_IGNORE_STREAM_PRIORITY", ""}}), IsEmpty());
  EXPECT_THAT(backend_environment(RunBackend::hip, run::Policy::observe, {}, {}), IsEmpty());
}

}  // namespace
}  // namespace elbowroom::preload
