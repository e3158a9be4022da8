#include "model/described_kernels.hpp"

#include <gtest/gtest.h>

#include <string>

#include "elbowroom/model/scenario.hpp"

namespace elbowroom {
namespace {

std::string document(const std::string& compute) {
  return R"({"schema": "elbowroom.scenario/1", "name": "own", "gpus": 2, "iterations": 1, "pattern": "pair", "compute": )" +
         compute + R"(, "collective": {"op": "all_reduce", "bytes": "64M", "dtype": "bf16"}})";
}

Result<Scenario> scenario_of(const std::string& compute) { return parse_scenario(document(compute), "own.json"); }

std::string refusal_of(const std::string& compute) {
  const Result<Scenario> scenario = scenario_of(compute);
  return scenario ? "accepted" : scenario.error().message;
}

const std::string kSaxpy = R"({"kernel": "module", "file": "saxpy.cubin", "function": "saxpy", "grid": [65536], "block": [256],
  "dynamic_shared": 1024, "cluster": 4, "arguments": [{"f32": 2.5}, {"buffer": "64M", "fill": "uniform"},
  {"buffer": 67108864, "dtype": "bf16", "compared": false}, {"i64": -3}, {"i32": 7}, {"f64": 0.1}]})";
const std::string kBlocks = R"({"kernel": "footprint", "threads": 256, "registers": 56, "static_shared": 4096, "blocks": 2640,
  "us_per_block": 12.5, "bytes_per_block": 65536})";

std::string with(std::string text, const std::string& old_text, const std::string& new_text) {
  return text.replace(text.find(old_text), old_text.size(), new_text);
}

TEST(ModuleKernel, IsReadAndWritten) {
  const Result<Scenario> scenario = scenario_of(kSaxpy);
  ASSERT_TRUE(scenario) << scenario.error().message;
  const ModuleKernel wanted{
      "saxpy.cubin",
      "saxpy",
      {65'536, 1, 1},
      {256, 1, 1},
      Bytes(1'024),
      4,
      {2.5F, ModuleBuffer{mebibytes(64), ModuleBuffer::Fill::uniform, DataType::f32, true},
       ModuleBuffer{mebibytes(64), ModuleBuffer::Fill::zero, DataType::bf16, false}, std::int64_t{-3}, std::int32_t{7}, 0.1}};
  EXPECT_EQ(std::get<ModuleKernel>(scenario->compute), wanted);
  const Result<Scenario> again = parse_scenario(to_json(*scenario), "again");
  ASSERT_TRUE(again) << again.error().message;
  EXPECT_EQ(*again, *scenario);
}

// Two buffers of 64 MiB; of a module's work nothing is known.
TEST(ModuleKernel, HasTheMemoryOfItsBuffers) {
  const Compute compute = scenario_of(kSaxpy)->compute;
  EXPECT_EQ(memory_of(compute), mebibytes(128));
  EXPECT_EQ(least_traffic_of(compute), Bytes(0));
  EXPECT_EQ(flop_of(compute), 0);
  EXPECT_EQ(compute_blocks(compute), Blocks(65'536));
  EXPECT_EQ(kernel_name(compute), "module");
}

TEST(ModuleKernel, IsRefusedByItsMember) {
  const std::string sides = "[X], [X, Y] or [X, Y, Z], each from 1 to ";
  EXPECT_EQ(refusal_of(with(kSaxpy, "\"grid\": [65536]", "\"grid\": 65536")),
            "own.json: compute.grid: 65536, expected " + sides + "2147483647, 65535, 65535");
  EXPECT_EQ(refusal_of(with(kSaxpy, "\"block\": [256]", "\"block\": [256, 8]")),
            "own.json: compute.block: 2048, expected 1 to 1024");
  EXPECT_EQ(refusal_of(with(kSaxpy, "\"block\": [256],", "")),
            "own.json: compute.block: missing, expected " + sides + "1024, 1024, 64");
  EXPECT_EQ(refusal_of(with(kSaxpy, "\"cluster\": 4", "\"cluster\": 3")),
            "own.json: compute.cluster: 3, expected a divisor of 65536 (compute.grid[0])");
  EXPECT_EQ(refusal_of(with(kSaxpy, "\"function\": \"saxpy\"", "\"function\": \"\"")),
            "own.json: compute.function: \"\", expected a text that is not empty");
  EXPECT_EQ(refusal_of(with(kSaxpy, "67108864", "67108863")),
            "own.json: compute.arguments[2].buffer: 67108863, expected a multiple of 2 (bf16)");
}

TEST(ModuleKernel, RefusesArgumentsThatAreNone) {
  for (const std::string argument :
       {"4", "{}", R"({"i32": 2147483648})", R"({"i32": 1.5})", R"({"f32": 1e39})", R"({"i32": 1, "i64": 1})", R"({"u8": 1})",
        R"({"buffer": -1})", R"({"buffer": "64Q"})", R"({"buffer": "1M", "fill": "ones"})", R"({"buffer": "1M", "kind": 1})",
        R"({"buffer": "1M", "compared": 1})"}) {
    const std::string message = refusal_of(with(kSaxpy, R"({"i32": 7})", argument));
    EXPECT_TRUE(message.starts_with("own.json: compute.\"arguments[4]\": ") ||
                message.starts_with("own.json: compute.arguments[4]: "))
        << argument << ": " << message;
  }
}

TEST(FootprintKernel, IsReadAndWritten) {
  const Result<Scenario> scenario = scenario_of(kBlocks);
  ASSERT_TRUE(scenario) << scenario.error().message;
  const FootprintKernel wanted{
      {Threads(256), Registers(56), Bytes(4'096), Bytes(0), 1}, Blocks(2'640), Microseconds(12.5), kibibytes(64)};
  EXPECT_EQ(std::get<FootprintKernel>(scenario->compute), wanted);
  EXPECT_EQ(*parse_scenario(to_json(*scenario), "again"), *scenario);
  EXPECT_EQ(memory_of(scenario->compute), Bytes(0));
  EXPECT_EQ(least_traffic_of(scenario->compute), kibibytes(64 * 2'640));
}

TEST(FootprintKernel, IsRefusedByItsMember) {
  EXPECT_EQ(refusal_of(with(kBlocks, "12.5", "0")),
            "own.json: compute.us_per_block: 0, expected microseconds above 0, at most 1e9");
  EXPECT_EQ(refusal_of(with(kBlocks, "\"threads\": 256", "\"threads\": 0")),
            "own.json: compute.threads: 0, expected a whole number from 1 to 1024");
  EXPECT_EQ(refusal_of(with(kBlocks, "\"blocks\": 2640,", "")).substr(0, 28), "own.json: compute.blocks: mi");
  EXPECT_EQ(refusal_of(with(kBlocks, "\"static_shared\"", "\"shared\"")).substr(0, 26), "own.json: compute.\"shared\"");
}

}  // namespace
}  // namespace elbowroom
