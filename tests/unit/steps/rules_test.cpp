#include "steps/rules.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "unit/steps/transformers.hpp"

namespace elbowroom {
namespace {

std::string refusal(const std::function<void(TransformerStep&)>& change) {
  TransformerStep request = small_request();
  request.parallel.dp = 2;
  change(request);
  const Result<Step> step = transformer_step(request);
  return step ? "" : step.error().message;
}

using Request = TransformerStep;
using Kind = GradientCompression::Kind;

TEST(StepRules, RefuseWhatDoesNotDivide) {
  EXPECT_EQ(refusal([](Request& r) { r.decoder.hidden = 100; }),
            "--hidden: 100, expected a multiple of 32 (4 heads of whole eights); the next is 128");
  EXPECT_EQ(refusal([](Request& r) { r.decoder.kv_heads = 2, r.parallel.tp = 4; }),
            "--kv-heads: 2, expected a multiple of 4 (--tp 4: no rank may lack keys); the next is 4");
  EXPECT_EQ(refusal([](Request& r) { r.parallel.pp = 3; }), "--layers: 4, expected a multiple of 3 (--pp 3); the next is 6");
  EXPECT_EQ(refusal([](Request& r) { r.parallel.micro = 3; }),
            "--tokens: 128, expected a multiple of 48 (--micro 3 parts of whole sixteens); the next is 144");
  EXPECT_EQ(refusal([](Request& r) { r.sequence = 48; }),
            "--sequence: 48, expected a multiple of 16 that divides the 128 tokens of a micro-batch; the next is 64");
  EXPECT_EQ(refusal([](Request& r) { r.tokens = 0; }), "--tokens: 0, expected 16 to 1073741824");
}

TEST(StepRules, NameNoNextSizeWhereThereIsNone) {
  // At most 1,024 experts; 820 layers of 20 kernels in four micro-batches are too long a step; a sequence of more tokens than a
  // micro-batch has.
  EXPECT_EQ(refusal([](Request& r) { r.decoder.experts = 1'000, r.parallel.dp = 1, r.parallel.ep = 999; }),
            "--experts: 1000, expected a multiple of --ep 999");
  EXPECT_EQ(refusal([](Request& r) { r.decoder.layers = 819, r.parallel.pp = 5, r.parallel.micro = 4; }),
            "--layers: 819, expected a multiple of 5 (--pp 5)");
  EXPECT_EQ(refusal([](Request& r) { r.sequence = 144; }),
            "--sequence: 144, expected a multiple of 16 that divides the 128 tokens of a micro-batch");
  // Twelve heads share 6 keys, not 8; 12 are the next that four ranks part.
  EXPECT_EQ(refusal([](Request& r) { r.decoder.hidden = 96, r.decoder.heads = 12, r.decoder.kv_heads = 6, r.parallel.tp = 4; }),
            "--kv-heads: 6, expected a multiple of 4 (--tp 4: no rank may lack keys); the next is 12");
  // Whole sixteens in each of two micro-batches, and whole eights for each of three ranks there: 2 x 48.
  EXPECT_EQ(
      refusal([](Request& r) {
        r.decoder.hidden = 96, r.decoder.heads = r.decoder.kv_heads = 3, r.decoder.ffn = 240;
        r.parallel.tp = 3, r.parallel.sequence_parallel = true, r.parallel.micro = 2;
      }),
      "--tokens: 128, expected whole eights for each of --tp 3 in each micro-batch, with --sequence-parallel; the next is 192");
}

TEST(StepRules, RefuseWhatMakesNoSense) {
  EXPECT_EQ(refusal([](Request& r) { r.parallel.dp = 1; }),
            "--dp, --fsdp, --tp, --pp, --ep: 1 each, expected one above 1 (a single rank communicates with nobody)");
  EXPECT_EQ(refusal([](Request& r) { r.parallel.sequence_parallel = true; }),
            "--sequence-parallel: given with --tp 1, expected more (its ranks share the tokens)");
  EXPECT_EQ(refusal([](Request& r) { r.parallel.schedule = PipelineSchedule::interleaved; }),
            "--schedule: interleaved, expected --pp above 1 (one stage has nothing to interleave)");
  EXPECT_EQ(refusal([](Request& r) { r.parallel.pp = 2, r.parallel.schedule = PipelineSchedule::interleaved; }),
            "--micro: 1, expected a multiple of --pp 2 (interleaved stages take turns by as many); the next is 2");
  EXPECT_EQ(refusal([](Request& r) { r.parallel.ep = 2; }), "--ep: 2, expected 1 without --experts");
  EXPECT_EQ(refusal([](Request& r) { r.decoder.experts = 3, r.parallel.ep = 2; }),
            "--experts: 3, expected a multiple of --ep 2; the next is 4");
  EXPECT_EQ(refusal([](Request& r) { r.decoder.experts = 4, r.imbalance = 1.5; }),
            "--imbalance: 1.5, expected 1 without --ep (all experts are here)");
  EXPECT_EQ(refusal([](Request& r) { r.decoder.vocabulary = 64, r.decoder.tied = true, r.parallel.fsdp = 2; }),
            "--fsdp: the head is the embedding, one unit that would stay gathered from the first to the last layer, expected "
            "--untied");
}

TEST(StepRules, RefusePairsOfMicroBatchesThatCannotAdvanceSideBySide) {
  const auto pairs = [](const std::function<void(Request&)>& change) {
    return refusal([&](Request& r) { r.parallel.two_batch = true, r.parallel.tp = 2, r.parallel.micro = 2, change(r); });
  };
  EXPECT_EQ(pairs([](Request&) {}), "");
  EXPECT_EQ(pairs([](Request& r) { r.parallel.micro = 1; }), "--micro: 1, expected a multiple of 2 (--two-batch); the next is 2");
  EXPECT_EQ(pairs([](Request& r) { r.parallel.micro = 3; }), "--micro: 3, expected a multiple of 2 (--two-batch); the next is 4");
  EXPECT_EQ(pairs([](Request& r) { r.parallel.pp = 2; }),
            "--pp: 2, expected 1 with --two-batch (it orders the operations of one stage)");
  EXPECT_EQ(pairs([](Request& r) { r.parallel.fsdp = 2; }),
            "--fsdp: 2, expected 1 with --two-batch (a pair would gather each layer twice)");
  EXPECT_EQ(pairs([](Request& r) { r.parallel.tp = 1; }),
            "--two-batch: given with --tp 1 and --ep 1, expected one above 1 (no layer waits for communication)");
}

TEST(StepRules, RefuseCompressionWithoutASum) {
  EXPECT_EQ(refusal([](Request& r) { r.compression.kind = Kind::fp8, r.parallel.dp = 1, r.parallel.tp = 2; }),
            "--compress: no ranks add gradients, expected --dp, --fsdp or --ep above 1");
  EXPECT_EQ(refusal([](Request& r) { r.compression.kind = Kind::bf16; }),
            "--compress: bf16 of gradients that are bf16 already, expected --gradients f32");
  EXPECT_EQ(refusal([](Request& r) { r.compression = {Kind::powersgd, 8, 0}, r.parallel.fsdp = 2; }),
            "--compress: powersgd needs whole gradients on every rank, expected --fsdp 1");
  EXPECT_EQ(refusal([](Request& r) { r.compression = {Kind::powersgd, 7, 0}; }),
            "--compress powersgd: 7, expected a multiple of 8 from 8 to 1024");
  EXPECT_EQ(refusal([](Request& r) { r.compression = {Kind::topk, 0, 0.75}; }),
            "--compress topk: 0.75, expected above 0 and at most 0.5 (a position takes twice what a value takes)");
}

TEST(StepRules, RefuseZeroWhereNothingIsParted) {
  const auto zero = [](int stage, int dp) { return refusal([&](Request& r) { r.parallel.zero = stage, r.parallel.dp = dp; }); };
  EXPECT_EQ(zero(1, 2), "");
  EXPECT_EQ(zero(3, 2), "--zero: 3, expected 1 or 2; --fsdp is stage 3");
  EXPECT_EQ(refusal([](Request& r) { r.parallel.zero = 1, r.parallel.dp = 1, r.parallel.tp = 2; }),
            "--zero: 1, expected --dp above 1 (its ranks part the optimizer)");
  EXPECT_EQ(refusal([](Request& r) { r.parallel.zero = 2, r.parallel.dp = 2, r.repeats = 2; }),
            "--repeats: 2, expected 1 with --zero (a step ends with whole parameters)");
  EXPECT_EQ(refusal([](Request& r) { r.compression = {Kind::topk, 0, 0.1}, r.parallel.zero = 1, r.parallel.dp = 2; }),
            "--compress: topk needs whole gradients on every rank, expected no --zero");
}

TEST(StepRules, RefuseAnAttentionFasterThanProducts) {
  EXPECT_EQ(refusal([](Request& r) { r.attention_rate = 1.1; }), "--attention-rate: 1.1, expected 0.05 to 1");
  EXPECT_EQ(refusal([](Request& r) { r.attention_rate = 0.5, r.kernels = Kernels::eager; }),
            "--attention-rate: 0.5, expected 1 with --kernels eager (its attention is products and passes)");
}

// 4 layers x 1,000 micro-batches of 20 kernels at least.
TEST(StepRules, RefuseStepsThatAreTooLong) {
  EXPECT_EQ(refusal([](Request& r) { r.parallel.micro = 1'000, r.tokens = 16'000; }),
            "--layers, --micro: at least 80000 operations, expected at most 65536 (fewer layers or micro-batches)");
}

}  // namespace
}  // namespace elbowroom
