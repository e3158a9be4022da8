// What PyTorch's programs do beside products. Operations read what they count here and write as much.
#include <gtest/gtest.h>

#include <string>
#include <variant>

#include "unit/steps/transformers.hpp"

namespace elbowroom {
namespace {

TransformerStep by_modules() {
  TransformerStep request = small_request();
  request.kernels = Kernels::torch;
  request.parallel.dp = 2;
  return request;
}

std::int64_t read_by(const TransformerStep& request, const std::string& name) {
  const Step step = *transformer_step(request);
  const Operation* operation = operation_named(step, name);
  return operation == nullptr ? 0 : std::get<Elementwise>(std::get<Compute>(operation->what)).bytes.count();
}

// 128 tokens of 64 columns are 8,192 elements: 4 bytes each forward, 16 backward, 6 for a sum of two. Halves are read.
TEST(ModuleTraffic, EachOperationPassesThroughMemory) {
  EXPECT_EQ(read_by(by_modules(), "l0.norm1"), 4 * 8'192 / 2);
  EXPECT_EQ(read_by(by_modules(), "l0.norm1.dx"), 16 * 8'192 / 2);
  EXPECT_EQ(read_by(by_modules(), "l0.out.residual"), 6 * 8'192 / 2);
  // 128 x 256 elements; gradients of 192, 256, 64 and 64 columns are read for biases.
  EXPECT_EQ(read_by(by_modules(), "l0.activation"), 4 * 32'768 / 2);
  EXPECT_EQ(read_by(by_modules(), "l0.activation.dx"), (6 * 32'768 + 2 * 128 * 576) / 2);
  EXPECT_EQ(read_by(by_modules(), "l0.arranged"), 0);
  EXPECT_EQ(read_by(by_modules(), "l0.arranged.dx"), 128 * 4 * 192 / 2);
}

// Of 192 columns of queries, keys and values 4 bytes and 6 backward, of 64 of results 6 and 4; and 4 to join gradients.
TEST(ModuleTraffic, PaddingIsRemovedAroundAttention) {
  TransformerStep request = by_modules();
  request.unpad = true;
  EXPECT_EQ(read_by(request, "l0.arranged"), 128 * (4 * 192 + 6 * 64) / 2);
  EXPECT_EQ(read_by(request, "l0.arranged.dx"), 128 * (6 * 192 + 4 * 64 + 4 * 192) / 2);
}

// 8 bytes for each of 128 x 1,024 logits and pass, of which half are read.
TEST(ModuleTraffic, TheLossIsInF32) {
  TransformerStep request = by_modules();
  request.decoder.vocabulary = 1'024;
  for (const char* pass : {"loss0", "loss", "loss.dx0", "loss.dx1", "loss.dx2", "loss.dx"}) {
    EXPECT_EQ(read_by(request, pass), 4 * 128 * 1'024) << pass;
  }
  // By one kernel, 2 bytes each.
  request.fused_loss = true;
  EXPECT_EQ(read_by(request, "loss0"), 0);
  EXPECT_EQ(read_by(request, "loss"), 2 * 128 * 1'024);
  EXPECT_EQ(read_by(request, "loss.dx"), 2 * 128 * 1'024);
}

// Attention is one kernel, as where kernels are fused.
TEST(ModuleTraffic, AttentionStaysFused) {
  TransformerStep fused = by_modules();
  fused.kernels = Kernels::fused;
  EXPECT_EQ(totals_of(*transformer_step(by_modules()), 0).gemm_flop, totals_of(*transformer_step(fused), 0).gemm_flop);
}

// Heads of 16 columns: queries have 64, keys of two heads 32. 20 bytes for each of 96, and 4 to repeat keys and values.
TEST(ModuleTraffic, GatedModelsRotateAndRepeat) {
  TransformerStep request = by_modules();
  request.decoder.activation = Activation::swiglu;
  request.decoder.kv_heads = 2;
  EXPECT_EQ(read_by(request, "l0.arranged"), 128 * (20 * 96 + 4 * 96) / 2);
  EXPECT_EQ(read_by(request, "l0.arranged.dx"), 128 * (20 * 96 + 4 * 96) / 2);
  EXPECT_EQ(read_by(request, "l0.activation"), 10 * 32'768 / 2);
  EXPECT_EQ(read_by(request, "l0.activation.dx"), (18 * 32'768 + 18 * 8'192) / 2);
  request.norm_in_f32 = true;
  EXPECT_EQ(read_by(request, "l0.norm1"), 36 * 8'192 / 2);
  EXPECT_EQ(read_by(request, "l0.norm1.dx"), 82 * 8'192 / 2);
}

// 2 m n k of keys 128 x 32 x 64, output 128 x 64 x 64 and up 128 x 256 x 64, in each of four layers.
TEST(ModuleTraffic, EverySecondProductIsRepeated) {
  TransformerStep request = by_modules();
  request.decoder.activation = Activation::swiglu;
  request.decoder.kv_heads = 2;
  const double none = totals_of(*transformer_step(request), 0).gemm_flop;
  request.recompute = Recompute::alternate;
  EXPECT_EQ(totals_of(*transformer_step(request), 0).gemm_flop - none, 4 * 2.0 * 128 * 64 * (32 + 64 + 256));
  EXPECT_EQ(read_by(request, "l0.again.norm2"), 4 * 8'192 / 2);
}

// All but the last product, whose 128 x 64 x 256 nothing needs: 192 columns of 64, attention's 128 x 64 x 128, 64 x 64 and 256
// x 64.
TEST(ModuleTraffic, ARepeatedPassEndsBeforeItsLastProduct) {
  TransformerStep request = by_modules();
  const double none = totals_of(*transformer_step(request), 0).gemm_flop;
  request.recompute = Recompute::full;
  const double repeated = totals_of(*transformer_step(request), 0).gemm_flop - none;
  EXPECT_EQ(repeated, 4 * 2.0 * 128 * (192 * 64 + 64 * 128 + 64 * 64 + 256 * 64));
}

// A layer's 12 x 64^2 + 2 x 64 = 49,280 parameters: two bytes each are read from the buffer, and in f32 4 written into the other.
// The first version, in f32: 2 and 2 to join, 2 and 4 to cast, 4 and 4 to divide.
TEST(ModuleTraffic, ShardsAreCopied) {
  TransformerStep request = by_modules();
  request.parallel = {};
  request.parallel.fsdp = 2;
  EXPECT_EQ(read_by(request, "l1.copy_out"), 0);
  request.shard_copies = ShardCopies::fsdp1;
  EXPECT_EQ(read_by(request, "l1.copy_out"), 0);
  EXPECT_EQ(read_by(request, "l1.gradients.copy_in"), 4 * 49'280);  // and divided
  request.gradients = DataType::f32;
  EXPECT_EQ(read_by(request, "l1.gradients.copy_in"), 9 * 49'280);
  request.gradients = DataType::bf16;
  request.shard_copies = ShardCopies::fsdp2;
  EXPECT_EQ(read_by(request, "l1.copy_out"), 2 * 49'280);
  EXPECT_EQ(read_by(request, "back.l1.copy_out"), 2 * 49'280);
  EXPECT_EQ(read_by(request, "back.l1.parameters.all_gather.copy_in"), 2 * 49'280 / 2);
  EXPECT_EQ(read_by(request, "l1.gradients.copy_in"), 2 * 49'280);
  request.gradients = DataType::f32;
  EXPECT_EQ(read_by(request, "l1.gradients.copy_in"), 3 * 49'280);
  const Step step = *transformer_step(request);
  EXPECT_EQ(names_before(step, "l1.gradients.reduce_scatter"), std::vector<std::string>{"l1.gradients.copy_in"});
  EXPECT_EQ(names_before(step, "l1.copy_out"), std::vector<std::string>{"l1.parameters.all_gather"});
  EXPECT_EQ(names_before(step, "l1.parameters.all_gather").front(), "l1.parameters.all_gather.copy_in");
}

// Half of 49,280 parameters: 28 bytes each by one kernel, 86 operation by operation, three times the gradient's 2 to clip it.
TEST(ModuleTraffic, AdamOperationByOperationReadsTheSameAgain) {
  TransformerStep request = by_modules();
  request.parallel = {};
  request.parallel.fsdp = 2;
  EXPECT_EQ(read_by(request, "l0.update"), 28 * 24'640 / 2);
  request.adam = Adam::foreach;
  EXPECT_EQ(read_by(request, "l0.update"), 86 * 24'640 / 2);
  request.clip = true;
  EXPECT_EQ(read_by(request, "l0.update"), 92 * 24'640 / 2);
}

std::string refused(const TransformerStep& request) {
  const Result<Step> made = transformer_step(request);
  return made ? "" : made.error().message;
}

TEST(ModuleTraffic, WhatMakesNoSenseIsRefused) {
  TransformerStep request = by_modules();
  request.shard_copies = ShardCopies::fsdp2;
  EXPECT_EQ(refused(request).substr(0, 15), "--shard-copies:");
  request = by_modules();
  request.recompute = Recompute::alternate;
  request.kernels = Kernels::eager;
  EXPECT_EQ(refused(request).substr(0, 12), "--recompute:");
  request = by_modules();
  request.kernels = Kernels::fused;
  request.norm_in_f32 = true;
  EXPECT_EQ(refused(request).substr(0, 14), "--norm-in-f32:");
  request.norm_in_f32 = false;
  request.fused_loss = true;
  EXPECT_EQ(refused(request).substr(0, 13), "--fused-loss:");
  request = by_modules();
  request.decoder.experts = 4;
  EXPECT_EQ(refused(request).substr(0, 10), "--kernels:");
}

}  // namespace
}  // namespace elbowroom
