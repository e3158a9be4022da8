#include "elbowroom/steps/micro_batch.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "unit/steps/transformers.hpp"

namespace elbowroom {
namespace {

TransformerStep gpt() {
  TransformerStep request = small_request();
  request.decoder.vocabulary = 512;
  request.decoder.tied = true;
  request.parallel.tp = 2;
  request.parallel.pp = 2;
  request.parallel.micro = 2;
  return request;
}

int collectives(const std::vector<Operation>& operations) {
  return static_cast<int>(std::ranges::count_if(operations, [](const Operation& one) { return !computes(one); }));
}

double flop(const std::vector<Operation>& operations) {
  double sum = 0;
  for (const Operation& operation : operations) {
    const auto* kernel = std::get_if<Compute>(&operation.what);
    const auto* gemm = kernel == nullptr ? nullptr : std::get_if<LibraryGemm>(kernel);
    if (gemm != nullptr) { sum += 2.0 * static_cast<double>(gemm->m * gemm->n * gemm->k); }
  }
  return sum;
}

// 12 x 64^2 + 2 x 64 parameters of a layer, half of the matrices on each of two ranks; 512 x 64 / 2 of the embedding, which the
// head shares, but for its norm. 64 tokens x 64 columns x 2 bytes go to the next stage.
TEST(MicroBatch, HasAShareOfEachPart) {
  const MicroBatch work = *micro_batch_of(gpt());
  EXPECT_EQ(work.layer.parameters, 12 * 64 * 64 / 2 + 2 * 64);
  EXPECT_EQ(work.embedding.parameters, 512 * 64 / 2);
  EXPECT_EQ(work.head.parameters, 64);
  EXPECT_EQ(work.activations, Bytes(64 * 64 * 2));
  EXPECT_EQ(collectives(work.layer.forward), 2);
  EXPECT_EQ(collectives(work.layer.backward), 2);
}

// What is computed again is as much as the forward pass.
TEST(MicroBatch, FullRecomputationRepeatsTheForwardPass) {
  TransformerStep request = gpt();
  const MicroBatch once = *micro_batch_of(request);
  request.recompute = Recompute::full;
  const MicroBatch again = *micro_batch_of(request);
  EXPECT_DOUBLE_EQ(flop(again.layer.backward), flop(once.layer.backward) + flop(once.layer.forward));
  EXPECT_EQ(collectives(again.layer.backward), 4);
  EXPECT_EQ(again.head.backward.size(), once.head.backward.size());
}

// 64 tokens of one sequence, two heads of 16 columns on a rank: scores and values take 2 x 128 rows x 64 x 16 flop each, all of
// them, where a fused kernel leaves out what is masked: half. Backward there are four such products, of fused ones five halves.
TEST(MicroBatch, EagerAttentionComputesWhatIsMasked) {
  TransformerStep request = gpt();
  const MicroBatch fused = *micro_batch_of(request);
  request.kernels = Kernels::eager;
  const MicroBatch eager = *micro_batch_of(request);
  const double product = 2.0 * 128 * 64 * 16;
  EXPECT_DOUBLE_EQ(flop(eager.layer.forward) - flop(fused.layer.forward), 2 * product - product);
  EXPECT_DOUBLE_EQ(flop(eager.layer.backward) - flop(fused.layer.backward), 4 * product - 2.5 * product);
}

TEST(MicroBatch, TheHostLaunchesForwardPasses) {
  TransformerStep request = gpt();
  request.recompute = Recompute::full;
  request.host_launch = Microseconds(7);
  const MicroBatch work = *micro_batch_of(request);
  const auto gaps = [](const std::vector<Operation>& operations) {
    Microseconds sum{0};
    for (const Operation& operation : operations) { sum += operation.host_gap; }
    return sum;
  };
  const Microseconds forward = 7.0 * Microseconds(static_cast<double>(work.layer.forward.size()));
  EXPECT_EQ(gaps(work.layer.forward), forward);
  EXPECT_EQ(gaps(work.layer.backward), forward);
}

TEST(MicroBatch, RefusesWhatAStepWould) {
  TransformerStep request = gpt();
  request.recompute = Recompute::selective;
  EXPECT_EQ(micro_batch_of(request).error().message,
            "--recompute: selective, expected --kernels eager (fused attention repeats its scores anyway)");
  request = gpt();
  request.decoder.head_width = 12;
  EXPECT_EQ(micro_batch_of(request).error().message, "--head-width: 12, expected a multiple of 8 (whole eights); the next is 16");
}

// Heads of 32 columns, twice the width of the model parted among them: attention's matrices are twice as large.
TEST(MicroBatch, HeadsMayBeWiderThanTheModel) {
  TransformerStep request = gpt();
  const MicroBatch narrow = *micro_batch_of(request);
  request.decoder.head_width = 32;
  EXPECT_EQ(micro_batch_of(request)->layer.parameters, narrow.layer.parameters + 4 * 64 * 64 / 2);
}

}  // namespace
}  // namespace elbowroom
