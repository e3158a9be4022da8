#include "elbowroom/steps/transformer.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/steps/transformers.hpp"

namespace elbowroom {
namespace {

using ::testing::ElementsAre;

TransformerStep llama(std::int64_t tokens) {
  TransformerStep request;
  request.decoder = *find_decoder("llama-3-8b");
  request.tokens = tokens;
  return request;
}

// Matrices that tokens pass: 8,030,261,248 parameters without the embedding's 128,256 x 4,096 and without the norms' 65 x 4,096 are
// 7,504,658,432. Each takes 2 flop forward and 4 backward for each of 4,096 tokens. Causal attention takes
// 2 x 4,096 tokens x 4,096 columns x 4,096 in a layer forward, two and a half times that backward (its scores once more).
TEST(TransformerStep, ProductsAreSixTimesParametersTimesTokens) {
  TransformerStep request = llama(4'096);
  request.parallel.dp = 2;
  const double attention = 32 * 3.5 * 2.0 * 4'096 * 4'096 * 4'096;
  EXPECT_DOUBLE_EQ(totals_of(*transformer_step(request), 0).gemm_flop, 6.0 * 7'504'658'432 * 4'096 + attention);
  // Four ranks share every product.
  request.parallel.tp = 4;
  EXPECT_DOUBLE_EQ(totals_of(*transformer_step(request), 5).gemm_flop, (6.0 * 7'504'658'432 * 4'096 + attention) / 4);
}

// 2 bytes for each parameter, in buckets of 25 MiB and more: none of the last is over what one gradient adds.
TEST(TransformerStep, ReplicasAddTwoBytesForEachParameter) {
  TransformerStep request = llama(512);
  request.parallel.dp = 2;
  const Step step = *transformer_step(request);
  EXPECT_EQ(bytes_of(step, "all_reduce dp"), Bytes(2 * 8'030'261'248));
  EXPECT_THAT(names_before(step, "bucket0.all_reduce"), ElementsAre("head.dw"));
  request.gradients = DataType::f32;
  EXPECT_EQ(bytes_of(*transformer_step(request), "all_reduce dp"), Bytes(4 * 8'030'261'248));
}

// Every parameter is gathered for the forward and for the backward pass, and its gradient scattered once.
TEST(TransformerStep, ShardedParametersAreGatheredTwiceAndScatteredOnce) {
  TransformerStep request = llama(512);
  request.parallel.fsdp = 8;
  request.repeats = 2;
  const Step step = *transformer_step(request);
  EXPECT_EQ(bytes_of(step, "all_gather fsdp"), Bytes(4 * 8'030'261'248));
  EXPECT_EQ(bytes_of(step, "reduce_scatter fsdp"), Bytes(2 * 8'030'261'248));
  // Ahead: layer 3 is gathered as soon as layer 1 has ended. Behind: its gradients leave when all are made.
  EXPECT_THAT(names_before(step, "l3.parameters.all_gather"), ElementsAre("l1.down", "l3.update@-1"));
  EXPECT_THAT(names_before(step, "back.l1.parameters.all_gather"), ElementsAre("l3.norm1.dx", "l1.update@-1"));
  EXPECT_THAT(names_before(step, "l3.gradients.reduce_scatter"),
              ElementsAre("l3.down.dw", "l3.up.dw", "l3.norm2.dx", "l3.out.dw", "l3.qkv.dw", "l3.norm1.dx"));
  // Adam on an eighth: 28 bytes read and written for each parameter, half of them read. 218,112,000 x 14 / 8.
  EXPECT_EQ(std::get<Elementwise>(std::get<Compute>(operation_named(step, "l3.update")->what)).bytes, Bytes(381'696'000));
}

// 4 all-reduces a layer of 2 bytes x 512 tokens x 4,096 columns, one behind the embedding, one of the head's input gradient;
// and 3 numbers for each token's loss.
TEST(TransformerStep, RanksThatShareMatricesAddActivations) {
  TransformerStep request = llama(512);
  request.parallel.tp = 8;
  const Step step = *transformer_step(request);
  EXPECT_EQ(totals_of(step, 3).comm.at("all_reduce tp"), (CommTotal{4 * 32 + 3, Bytes(130 * 4'194'304 + 12 * 512)}));
  // The gradient of the matrix is made beside the all-reduce.
  EXPECT_THAT(names_before(step, "l2.up.dx.all_reduce"), ElementsAre("l2.up.dx"));
  EXPECT_THAT(names_before(step, "l2.up.dw"), ElementsAre("l2.activation.dx"));
  EXPECT_THAT(names_before(step, "l2.norm2.dx"), ElementsAre("l2.up.dx.all_reduce"));
  request.parallel.sequence_parallel = true;
  const StepTotals shared = totals_of(*transformer_step(request), 3);
  EXPECT_EQ(shared.comm.at("all_gather tp"), (CommTotal{130, Bytes(130 * 4'194'304)}));
  EXPECT_EQ(shared.comm.at("reduce_scatter tp"), (CommTotal{130, Bytes(130 * 4'194'304)}));
}

// Inner stages get and send 2 bytes x 32 tokens x 64 columns, forward and backward, of 4 micro-batches; outer ones have one
// neighbour.
TEST(TransformerStep, StagesSendActivationsOfEachMicroBatch) {
  TransformerStep request = small_request();
  request.parallel.pp = 4;
  request.parallel.micro = 4;
  const Step step = *transformer_step(request);
  EXPECT_EQ(totals_of(step, 0).comm.at("send_recv pp"), (CommTotal{8, Bytes(8 * 4'096)}));
  EXPECT_EQ(totals_of(step, 1).comm.at("send_recv pp"), (CommTotal{16, Bytes(16 * 4'096)}));
  EXPECT_THAT(names_before(step, "m2.s1.l1.norm1"), ElementsAre("m2.s0.send_on"));
  EXPECT_THAT(names_before(step, "m2.s1.l1.down.dx"), ElementsAre("m2.s2.send_back"));
}

// With two chunks on each of two stages activations cross three times, and back.
TEST(TransformerStep, InterleavedStagesSendForEachChunk) {
  TransformerStep request = small_request();
  request.parallel.pp = 2;
  request.parallel.micro = 2;
  request.parallel.schedule = PipelineSchedule::interleaved;
  const Step step = *transformer_step(request);
  EXPECT_EQ(totals_of(step, 0).comm.at("send_recv pp"), (CommTotal{2 * 3 * 2, Bytes(12 * 64 * 64 * 2)}));
  const auto& turn = std::get<SendRecv>(operation_named(step, "m0.s1.send_on")->what);
  EXPECT_EQ(turn.from, 1);
  EXPECT_EQ(turn.to, 0);
}

// 2 of 8 experts for each of 512 tokens: 2 bytes x 1,024 rows x 4,096 columns, there and back, forward and backward, in 32 layers.
// A rank has one expert, with the rows of 8 ranks.
TEST(TransformerStep, TokensGoToTheirExpertsAndBack) {
  TransformerStep request;
  request.decoder = *find_decoder("mixtral-8x7b");
  request.tokens = 512;
  request.parallel.ep = 8;
  Step step = *transformer_step(request);
  EXPECT_EQ(totals_of(step, 0).comm.at("all_to_all ep"), (CommTotal{4 * 32, Bytes(128 * 8'388'608)}));
  EXPECT_EQ(std::get<Compute>(operation_named(step, "l0.expert0.down")->what), Compute(LibraryGemm{1'024, 4'096, 14'336}));
  // Ranks along ep are replicas of all but the experts: 46,702,792,704 parameters without 32 x 8 x 3 x 4,096 x 14,336.
  EXPECT_EQ(bytes_of(step, "all_reduce ep"), Bytes(3'211'272'192));
  request.capacity = 1.25;
  step = *transformer_step(request);
  EXPECT_EQ(totals_of(step, 0).comm.at("all_to_all ep").bytes, Bytes(128 * 10'485'760));
  EXPECT_EQ(std::get<Compute>(operation_named(step, "l0.expert0.down")->what), Compute(LibraryGemm{1'280, 4'096, 14'336}));
}

// The busiest rank gets 1.5 of the mean, the last 0.5: 1,536 and 512 of 1,024 rows.
TEST(TransformerStep, ExpertsMayBeUneven) {
  TransformerStep request;
  request.decoder = *find_decoder("mixtral-8x7b");
  request.decoder.layers = 1;
  request.tokens = 512;
  request.parallel.ep = 8;
  request.imbalance = 1.5;
  const Step step = *transformer_step(request);
  const auto rows = [&](const char* name) { return std::get<LibraryGemm>(std::get<Compute>(operation_named(step, name)->what)).m; };
  EXPECT_EQ(rows("l0.rank0.expert0.down"), 1'536);
  EXPECT_EQ(rows("l0.rank7.expert0.down"), 512);
  EXPECT_THAT(ranks_of(step, *operation_named(step, "l0.rank7.expert0.down")), ElementsAre(7));
}

// The head is the embedding: one matrix on one stage, two copies on two, whose gradients cross.
TEST(TransformerStep, ATiedHeadIsAddedOnce) {
  TransformerStep request = small_request();
  request.decoder.vocabulary = 512;
  request.decoder.tied = true;
  request.parallel.dp = 2;
  // 197,120 and 512 x 64 and the last norm.
  EXPECT_EQ(bytes_of(*transformer_step(request), "all_reduce dp"), Bytes(2 * (197'120 + 32'768 + 64)));
  request.parallel.pp = 2;
  const Step step = *transformer_step(request);
  // Two of four layers and the matrix; on the last stage with the norm.
  EXPECT_EQ(bytes_of(step, "all_reduce dp", 0), Bytes(2 * (98'560 + 32'768)));
  EXPECT_EQ(bytes_of(step, "all_reduce dp", 2), Bytes(2 * (98'560 + 32'768 + 64)));
  EXPECT_EQ(bytes_of(step, "send_recv pp"), Bytes(2 * 128 * 64 * 2 + 2 * 2 * 32'768));
}

// 197,120 parameters in one bucket of bf16 on 4 ranks: all are scattered, a quarter is updated, all are gathered.
TEST(TransformerStep, ZeroScattersGradientsAndGathersParameters) {
  TransformerStep request = small_request();
  request.parallel.dp = 4;
  request.parallel.zero = 1;
  const Step step = *transformer_step(request);
  EXPECT_EQ(bytes_of(step, "reduce_scatter dp"), Bytes(2 * 197'120));
  EXPECT_EQ(bytes_of(step, "all_gather dp"), Bytes(2 * 197'120));
  EXPECT_EQ(bytes_of(step, "all_reduce dp"), Bytes(0));
  EXPECT_EQ(names_before(step, "bucket0.update"), std::vector<std::string>{"bucket0.reduce_scatter"});
  EXPECT_EQ(names_before(step, "bucket0.parameters.all_gather"), std::vector<std::string>{"bucket0.update"});
}

// 128 tokens x 64 columns of heads x 128 tokens; at half a product's rate twice as much, backward two and a half times that.
TEST(TransformerStep, SlowAttentionIsAProductOfMoreFlop) {
  TransformerStep request = small_request();
  request.parallel.dp = 2;
  request.attention_rate = 0.5;
  const Step step = *transformer_step(request);
  const auto depth = [&](const char* name) {
    return std::get<LibraryGemm>(std::get<Compute>(operation_named(step, name)->what)).k;
  };
  EXPECT_EQ(depth("l0.attention"), 256);
  EXPECT_EQ(depth("l0.attention.dx"), 640);
}

}  // namespace
}  // namespace elbowroom
