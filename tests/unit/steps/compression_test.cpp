#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/steps/transformers.hpp"

// What each compression leaves of the gradients of one layer of 64 columns: matrices of 64 x 192, 64 x 64, 64 x 256 and 256 x 64,
// 49,152 elements, and two norms of 64. One bucket takes all of them.
namespace elbowroom {
namespace {

using ::testing::ElementsAre;

constexpr std::int64_t kElements = 49'152 + 128;

TransformerStep one_layer(GradientCompression compression) {
  TransformerStep request = small_request();
  request.decoder.layers = 1;
  request.parallel.dp = 4;
  request.compression = compression;
  return request;
}

Bytes read_by(const Step& step, const char* name) {
  return std::get<Elementwise>(std::get<Compute>(operation_named(step, name)->what)).bytes;
}

TEST(GradientCompression, Bf16SendsHalfOfF32) {
  TransformerStep request = one_layer({GradientCompression::Kind::bf16, 0, 0});
  request.gradients = DataType::f32;
  const Step step = *transformer_step(request);
  EXPECT_EQ(bytes_of(step, "all_reduce dp"), Bytes(2 * kElements));
  // 4 bytes read, 2 written, as much as 3 of each.
  EXPECT_EQ(read_by(step, "bucket0.cast"), Bytes(3 * kElements));
  EXPECT_EQ(read_by(step, "bucket0.cast_back"), Bytes(3 * kElements));
}

TEST(GradientCompression, Fp8SendsAByteThereAndBackAndAScale) {
  const Step step = *transformer_step(one_layer({GradientCompression::Kind::fp8, 0, 0}));
  EXPECT_EQ(bytes_of(step, "all_to_all dp"), Bytes(kElements));
  EXPECT_EQ(bytes_of(step, "all_gather dp"), Bytes(kElements));
  // One f32 for each rank's share of the buffer, which is the least that four ranks add.
  EXPECT_EQ(bytes_of(step, "all_reduce dp"), Bytes(16));
  EXPECT_THAT(names_before(step, "bucket0.all_to_all"), ElementsAre("bucket0.quantise"));
  // Four shares of a byte read, one written: (4 + 1) / 2 of a quarter of the elements.
  EXPECT_EQ(read_by(step, "bucket0.sum"), round_up(Bytes(kElements * 5 / 8), Bytes(16)));
}

// Factors of rank 8: 8 x (64 + 64 + 64 + 256) and 8 x (192 + 64 + 256 + 64) elements, and the norms as they are.
TEST(GradientCompression, PowerSgdSendsTwoThinFactors) {
  const Step step = *transformer_step(one_layer({GradientCompression::Kind::powersgd, 8, 0}));
  EXPECT_EQ(bytes_of(step, "all_reduce dp"), Bytes(2 * (8 * 448 + 8 * 576 + 128)));
  EXPECT_EQ(std::get<Compute>(operation_named(step, "l0.up.left")->what), Compute(LibraryGemm{64, 8, 256}));
  EXPECT_EQ(std::get<Compute>(operation_named(step, "l0.up.right")->what), Compute(LibraryGemm{256, 8, 64}));
  EXPECT_EQ(std::get<Compute>(operation_named(step, "l0.up.product")->what), Compute(LibraryGemm{64, 256, 8}));
}

// 1 % is 493 elements of 6 bytes from each of four ranks.
TEST(GradientCompression, TopKGathersValuesAndPositions) {
  const Step step = *transformer_step(one_layer({GradientCompression::Kind::topk, 0, 0.01}));
  EXPECT_EQ(bytes_of(step, "all_gather dp"), Bytes(4 * 493 * 6));
  EXPECT_EQ(bytes_of(step, "all_reduce dp"), Bytes(0));
}

// Its kernels wait for communication: on compute's stream they would hold up the backward pass.
TEST(GradientCompression, HasAStreamOfItsOwn) {
  const Step step = *transformer_step(one_layer({GradientCompression::Kind::topk, 0, 0.01}));
  EXPECT_EQ(lane_of(*operation_named(step, "bucket0.scatter")), "compression");
  EXPECT_EQ(lane_of(*operation_named(step, "bucket0.update")), "compute");
}

TEST(GradientCompression, OfShardsIsAddedOnTheirRank) {
  TransformerStep request = one_layer({GradientCompression::Kind::fp8, 0, 0});
  request.parallel.dp = 1;
  request.parallel.fsdp = 4;
  const Step step = *transformer_step(request);
  EXPECT_EQ(bytes_of(step, "all_to_all fsdp"), Bytes(kElements));
  EXPECT_EQ(bytes_of(step, "all_gather fsdp"), Bytes(2 * 2 * kElements));
}

}  // namespace
}  // namespace elbowroom
