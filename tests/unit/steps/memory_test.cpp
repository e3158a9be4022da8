#include "elbowroom/steps/memory.hpp"

#include <gtest/gtest.h>

#include "unit/steps/transformers.hpp"

namespace elbowroom {
namespace {

// 197,120 parameters of four layers: 2 bytes, 2 of their gradients, 12 of the optimizer. Each layer keeps 34 bytes for each of 128
// tokens and 64 columns.
TEST(MemoryOfTraining, CountsWhatOneRankKeeps) {
  TransformerStep request = small_request();
  const TrainingMemory memory = training_memory(request);
  EXPECT_EQ(memory.parameters, Bytes(2 * 197'120));
  EXPECT_EQ(memory.gradients, Bytes(2 * 197'120));
  EXPECT_EQ(memory.optimizer, Bytes(12 * 197'120));
  EXPECT_EQ(memory.activations, Bytes(4 * 34 * 128 * 64));
  EXPECT_EQ(memory.total(), Bytes(16 * 197'120 + 4 * 34 * 128 * 64));
  request.gradients = DataType::f32;
  request.optimizer = false;
  EXPECT_EQ(training_memory(request).gradients, Bytes(4 * 197'120));
  EXPECT_EQ(training_memory(request).optimizer, Bytes(0));
}

// Scores: 5 bytes for each of 4 heads x 128 x 128. What is computed again keeps 2 bytes of each layer's input, and one layer.
TEST(MemoryOfTraining, KeepsLessOfWhatIsComputedAgain) {
  TransformerStep request = small_request();
  request.kernels = Kernels::eager;
  const std::int64_t columns = 128 * 64;
  EXPECT_EQ(training_memory(request).activations, Bytes(4 * (34 * columns + 5 * 4 * 128 * 128)));
  request.recompute = Recompute::selective;
  EXPECT_EQ(training_memory(request).activations, Bytes(4 * 34 * columns));
  request.recompute = Recompute::full;
  EXPECT_EQ(training_memory(request).activations, Bytes(4 * 2 * columns + 34 * columns));
}

// Two stages of two layers: the first one has two micro-batches of 32 tokens under way, of four. Along tp 24 of 34 bytes are
// shared.
TEST(MemoryOfTraining, SharesWhatRanksShare) {
  TransformerStep request = small_request();
  request.parallel.pp = 2;
  request.parallel.micro = 4;
  EXPECT_EQ(training_memory(request).activations, Bytes(2 * 2 * 34 * 32 * 64));
  EXPECT_EQ(training_memory(request).parameters, Bytes(197'120));
  request = small_request();
  request.parallel.tp = 2;
  EXPECT_EQ(training_memory(request).activations, Bytes(4 * (10 + 12) * 128 * 64));
  request = small_request();
  request.parallel.fsdp = 4;
  EXPECT_EQ(training_memory(request).optimizer, Bytes(3 * 197'120));
}

TEST(MemoryOfTraining, ZeroPartsTheOptimizerAndThenGradients) {
  TransformerStep request = small_request();
  request.parallel.dp = 4;
  request.parallel.zero = 1;
  EXPECT_EQ(training_memory(request).optimizer, Bytes(3 * 197'120));
  EXPECT_EQ(training_memory(request).gradients, Bytes(2 * 197'120));
  request.parallel.zero = 2;
  EXPECT_EQ(training_memory(request).gradients, Bytes(2 * 197'120 / 4));
  EXPECT_EQ(training_memory(request).parameters, Bytes(2 * 197'120));
}

}  // namespace
}  // namespace elbowroom
