// Which kernel takes which type, in documents and in values.
#include <gtest/gtest.h>

#include <string>

#include "elbowroom/model/scenario.hpp"

namespace elbowroom {
namespace {

std::string typed_document(const std::string& compute, const std::string& dtype_of_collective = "bf16") {
  return R"({"schema": "elbowroom.scenario/1", "name": "types", "gpus": 2, "iterations": 1, "pattern": "pair", "compute": )" +
         compute + R"(, "collective": {"op": "all_reduce", "bytes": 64, "dtype": ")" + dtype_of_collective + "\"}}";
}

std::string typed_refusal(const std::string& text) {
  const Result<Scenario> scenario = parse_scenario(text, "a.json");
  return scenario ? "accepted" : scenario.error().message;
}

std::string typed_refusal(const Compute& compute) {
  Scenario scenario;
  scenario.name = "types";
  scenario.compute = compute;
  scenario.collective = {CollectiveOp::all_reduce, Bytes(64), DataType::bf16, std::nullopt, std::nullopt};
  const Status valid = validate(scenario);
  return valid ? "accepted" : valid.error().message;
}

TEST(DataTypes, ALibrarysProductTakesAllOfThem) {
  for (const char* dtype : {"f32", "bf16", "f16", "e4m3"}) {
    const std::string text =
        typed_document(R"({"kernel": "library_gemm", "m": 16, "n": 32, "k": 64, "dtype": ")" + std::string(dtype) + "\"}");
    const Result<Scenario> scenario = parse_scenario(text, "a.json");
    ASSERT_TRUE(scenario) << scenario.error().message;
    EXPECT_EQ(to_string(std::get<LibraryGemm>(scenario->compute).dtype), dtype);
    EXPECT_EQ(*parse_scenario(to_json(*scenario), "again"), *scenario);
  }
}

TEST(DataTypes, OthersTakeFewerAndSayWhich) {
  EXPECT_EQ(typed_refusal(typed_document(R"({"kernel": "elementwise", "op": "gelu", "dtype": "f16", "bytes": 64})")), "accepted");
  EXPECT_EQ(typed_refusal(typed_document(R"({"kernel": "elementwise", "op": "gelu", "dtype": "e4m3", "bytes": 64})")),
            R"(a.json: compute.dtype: "e4m3", expected "f32", "bf16" or "f16")");
  EXPECT_EQ(
      typed_refusal(typed_document(R"({"kernel": "tiled_gemm", "m": 64, "n": 64, "k": 64, "tile_m": 64, "tile_n": 64, "tile_k": 32,
                                 "dtype": "f16"})")),
      R"(a.json: compute.dtype: "f16", expected "f32" or "bf16")");
  EXPECT_EQ(typed_refusal(typed_document(R"({"kernel": "elementwise", "op": "gelu", "dtype": "f32", "bytes": 64})", "f16")),
            R"(a.json: collective.dtype: "f16", expected "f32" or "bf16")");
  EXPECT_EQ(typed_refusal(typed_document(R"({"kernel": "library_gemm", "m": 16, "n": 16, "k": 16, "dtype": "fp8"})")),
            R"(a.json: compute.dtype: "fp8", expected "f32", "bf16", "f16" or "e4m3")");
}

TEST(DataTypes, AttentionIsRefusedByName) {
  const std::string message = typed_refusal(typed_document(R"({"kernel": "attention"})"));
  EXPECT_EQ(message.substr(0, message.find(", expected")), R"(a.json: compute.kernel: "attention")");
  EXPECT_NE(message.find("(attention is not built; a module may hold such a kernel)"), std::string::npos) << message;
}

TEST(DataTypes, ValuesHaveTheRulesOfDocuments) {
  EXPECT_EQ(typed_refusal(Elementwise{ElementwiseOp::gelu, DataType::e4m3, Bytes(64)}),
            R"(compute.dtype: "e4m3", expected "f32", "bf16" or "f16")");
  EXPECT_EQ(typed_refusal(TiledGemm{64, 64, 64, 64, 64, 32, std::nullopt, DataType::f16}),
            R"(compute.dtype: "f16", expected "f32" or "bf16")");
  EXPECT_EQ(typed_refusal(LibraryGemm{16, 16, 24, DataType::f16}), "accepted");
  EXPECT_EQ(typed_refusal(LibraryGemm{16, 16, 24, DataType::e4m3}), "compute.k: 24, expected a multiple of 16 from 16 to 1048576");
}

// A 64 x 32 and B 32 x 128 of one byte: 6,144. C 64 x 128 in bf16: 16,384.
TEST(DataTypes, AProductInE4m3HasItsResultInBf16) {
  const LibraryGemm gemm{64, 128, 32, DataType::e4m3};
  EXPECT_EQ(gemm.result(), DataType::bf16);
  EXPECT_EQ(memory_of(gemm), Bytes(6'144 + 16'384));
  EXPECT_EQ(LibraryGemm({64, 128, 32, DataType::f16}).result(), DataType::f16);
}

}  // namespace
}  // namespace elbowroom
