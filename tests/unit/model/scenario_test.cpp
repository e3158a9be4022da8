#include "elbowroom/model/scenario.hpp"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <string>
#include <variant>
#include <vector>

#include "elbowroom/model/step.hpp"
#include "unit/model/scenarios.hpp"

namespace elbowroom {
namespace {

using testing::any_scenario;

constexpr std::string_view kDocument = R"({"schema": "elbowroom.scenario/1", "name": "gelu-ar",
 "gpus": 2, "iterations": 8, "pattern": "pipeline",
 "compute": {"kernel": "elementwise", "op": "gelu", "dtype": "f32", "bytes": "4096M"},
 "collective": {"op": "all_reduce", "bytes": "512M", "dtype": "bf16", "comm_blocks": 8}})";

TEST(ParseScenario, ReadsTheElementwisePipeline) {
  const Result<Scenario> scenario = parse_scenario(kDocument, "gelu.json");
  ASSERT_TRUE(scenario.ok()) << scenario.error().message;
  Scenario expected;
  expected.name = "gelu-ar";
  expected.gpus = 2;
  expected.iterations = 8;
  expected.pattern = Pattern::pipeline;
  expected.compute = Elementwise{ElementwiseOp::gelu, DataType::f32, Bytes(4'294'967'296)};  // 4096 * 1024 * 1024
  expected.collective.op = CollectiveOp::all_reduce;
  expected.collective.bytes = Bytes(536'870'912);  // 512 * 1024 * 1024
  expected.collective.dtype = DataType::bf16;
  expected.collective.comm_blocks = Blocks(8);
  EXPECT_EQ(*scenario, expected);
}

TEST(ParseScenario, ReadsATiledPairOnAGivenGrid) {
  const Result<Scenario> scenario = parse_scenario(
      R"({"schema": "elbowroom.scenario/1", "name": "pair", "gpus": 8, "iterations": 10000, "pattern": "pair",
          "compute": {"kernel": "tiled_gemm", "m": 256, "n": 512, "k": 96, "tile_m": 64, "tile_n": 128, "tile_k": 32,
                      "grid": [3, 4], "dtype": "bf16"},
          "collective": {"op": "all_to_all", "bytes": 64, "dtype": "f32", "cluster": 1}})",
      "pair.json");
  ASSERT_TRUE(scenario.ok()) << scenario.error().message;
  EXPECT_EQ(scenario->gpus, 8);
  EXPECT_EQ(scenario->iterations, 10'000);
  EXPECT_EQ(scenario->pattern, Pattern::pair);
  EXPECT_EQ(std::get<TiledGemm>(scenario->compute), (TiledGemm{256, 512, 96, 64, 128, 32, GridShape{3, 4}, DataType::bf16}));
  EXPECT_EQ(scenario->collective, (Collective{CollectiveOp::all_to_all, Bytes(64), DataType::f32, std::nullopt, 1}));
}

/// The document above with one text for another, which must be in it once.
std::string replaced(const std::string& old_text, const std::string& new_text) {
  std::string document(kDocument);
  const std::size_t at = document.find(old_text);
  EXPECT_NE(at, std::string::npos) << old_text;
  EXPECT_EQ(document.find(old_text, at + 1), std::string::npos) << old_text << " is there twice";
  return at == std::string::npos ? document : document.replace(at, old_text.size(), new_text);
}

/// The same with another compute object.
std::string computing(const std::string& fields) {
  return replaced(R"({"kernel": "elementwise", "op": "gelu", "dtype": "f32", "bytes": "4096M"})", "{" + fields + "}");
}

const std::string kSides = R"("kernel": "tiled_gemm", "dtype": "f32", "tile_m": 64, "tile_n": 64, "tile_k": 32, )";

std::string on_grid(const std::string& grid) { return computing(kSides + R"("m": 128, "n": 256, "k": 64, "grid": )" + grid); }

TEST(ParseScenario, TakesAFullGridByNameAndByAbsence) {
  for (const std::string& document : {on_grid("\"full\""), computing(kSides + R"("m": 128, "n": 256, "k": 64)")}) {
    const Result<Scenario> scenario = parse_scenario(document, "a.json");
    ASSERT_TRUE(scenario.ok()) << scenario.error().message;
    EXPECT_EQ(std::get<TiledGemm>(scenario->compute).grid, std::nullopt);
    EXPECT_EQ(compute_blocks(scenario->compute), Blocks(8));  // 256/64 along n, 128/64 along m
  }
  EXPECT_EQ(compute_blocks(parse_scenario(on_grid("[4, 1]"), "a.json")->compute), Blocks(4));
  EXPECT_EQ(compute_blocks(parse_scenario(kDocument, "a.json")->compute), std::nullopt);
}

TEST(ParseScenario, TakesNullForTheLibrarysOwnChoice) {
  const Result<Scenario> scenario = parse_scenario(replaced(R"("comm_blocks": 8)", R"("comm_blocks": null, "cluster": null)"), "a");
  ASSERT_TRUE(scenario.ok()) << scenario.error().message;
  EXPECT_EQ(scenario->collective.comm_blocks, std::nullopt);
  EXPECT_EQ(scenario->collective.cluster, std::nullopt);
}

struct BadDocument {
  std::string text;
  std::string message;  ///< after the file's name
};

void expect_refused(const std::vector<BadDocument>& documents) {
  for (const BadDocument& document : documents) {
    const Result<Scenario> scenario = parse_scenario(document.text, "bad.json");
    ASSERT_FALSE(scenario.ok()) << "accepted; expected " << document.message;
    EXPECT_EQ(scenario.error().kind, ErrorKind::invalid_input);
    EXPECT_EQ(scenario.error().message, "bad.json: " + document.message);
  }
}

TEST(ParseScenarioRefuses, TextThatIsNoScenarioDocument) {
  const std::string document = "expected an elbowroom.scenario/1 document";
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  expect_refused({
      {"", "not valid JSON at byte 1, " + document},
      {"nonsense", "not valid JSON at byte 2, " + document},
      {"{} {}", "not valid JSON at byte 4, " + document},
      {R"({"schema": )", "not valid JSON at byte 12, " + document},
      {std::string("{}\0", 3), "not valid JSON at byte 3, " + document},
      {"{\"name\": \"\xff\"}", "not valid JSON at byte 11, " + document},
      {R"({"gpus": 1e999})", "not valid JSON at byte 14, " + document},
      {"[]", "not a JSON object, " + document},
      {"null", "not a JSON object, " + document},
      {"\"elbowroom.scenario/1\"", "not a JSON object, " + document},
      {deep, "nested deeper than 16 levels, " + document},
      {R"({"gpus": )" + deep + "}", "nested deeper than 16 levels, " + document},
      {R"({"gpus": [[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]})", "nested deeper than 16 levels, " + document},
      {R"({"gpus": [[1]]})", "schema: missing, expected \"elbowroom.scenario/1\""},
  });
}

TEST(ParseScenarioRefuses, AnotherSchema) {
  const std::string expected = ", expected \"elbowroom.scenario/1\"";
  expect_refused({
      {replaced(R"("schema": "elbowroom.scenario/1", )", ""), "schema: missing" + expected},
      {replaced("elbowroom.scenario/1", "elbowroom.scenario/2"), "schema: \"elbowroom.scenario/2\"" + expected},
      {replaced("elbowroom.scenario/1", R"(a\nb)"), R"(schema: "a\nb")" + expected},
      {replaced(R"("elbowroom.scenario/1")", "1"), "schema: 1" + expected},
      {replaced("elbowroom.scenario/1", std::string(200, 'x')), "schema: \"" + std::string(79, 'x') + "..." + expected},
  });
}

TEST(ParseScenarioRefuses, UnknownFieldsAtEveryLevel) {
  expect_refused({
      {replaced(R"("gpus": 2)", R"("gpus": 2, "gpu": 2)"),
       "\"gpu\": unknown field, expected one of collective, compute, gpus, iterations, name, pattern, schema"},
      {replaced(R"("op": "gelu")", R"("op": "gelu", "m": 4)"),
       "compute.\"m\": unknown field, expected one of bytes, dtype, kernel, op"},
      {replaced(R"("comm_blocks": 8)", R"("blocks": 8)"),
       "collective.\"blocks\": unknown field, expected one of bytes, cluster, comm_blocks, dtype, op, root, shares"},
      {replaced(R"("gpus": 2)", R"("gpus": 2, "a\nb": 2)"),
       R"("a\nb": unknown field, expected one of collective, compute, gpus, iterations, name, pattern, schema)"},
  });
}

TEST(ParseScenarioRefuses, FieldsGivenTwice) {
  expect_refused({
      {replaced(R"("gpus": 2)", R"("gpus": 2, "gpus": 4)"), "gpus: given twice, expected once"},
      {replaced(R"("op": "gelu")", R"("op": "gelu", "op": "gelu")"), "compute.op: given twice, expected once"},
      {replaced(R"("comm_blocks": 8)", R"("op": "all_gather")"), "collective.op: given twice, expected once"},
      {replaced(R"("gpus": 2)", R"("a\nb": 2, "a\nb": 4)"), R"("a\nb": given twice, expected once)"},
  });
}

TEST(ParseScenarioRefuses, BadFieldsOfTheScenario) {
  expect_refused({
      {replaced(R"("name": "gelu-ar",)", ""), "name: missing, expected a text"},
      {replaced("gelu-ar", ""), "name: \"\", expected a text that is not empty"},
      {replaced(R"("gelu-ar")", "7"), "name: 7, expected a text that is not empty"},
      {replaced("gelu-ar", R"(a\nb)"), "name: has control characters, expected a text on one line"},
      {replaced(R"("gpus": 2)", R"("gpus": 1)"), "gpus: 1, expected a whole number from 2 to 4096"},
      {replaced(R"("gpus": 2)", R"("gpus": 4097)"), "gpus: 4097, expected a whole number from 2 to 4096"},
      {replaced(R"("gpus": 2)", R"("gpus": "2")"), "gpus: \"2\", expected a whole number from 2 to 4096"},
      {replaced(R"("gpus": 2)", R"("gpus": 2.0)"), "gpus: 2.0, expected a whole number from 2 to 4096"},
      {replaced(R"("gpus": 2)", R"("gpus": null)"), "gpus: null, expected a whole number from 2 to 4096"},
      {replaced(R"("gpus": 2)", R"("gpus": 4294967298)"), "gpus: 4294967298, expected a whole number from 2 to 4096"},
      {replaced(R"("gpus": 2)", R"("gpus": 18446744073709551615)"),
       "gpus: 18446744073709551615, expected a whole number from 2 to 4096"},
      {replaced(R"("iterations": 8)", R"("iterations": 0)"), "iterations: 0, expected a whole number from 1 to 10000"},
      {replaced(R"("iterations": 8)", R"("iterations": -8)"), "iterations: -8, expected a whole number from 1 to 10000"},
      {replaced(R"("iterations": 8)", R"("iterations": 10001)"), "iterations: 10001, expected a whole number from 1 to 10000"},
      {replaced(R"("pipeline")", R"("Pair")"), "pattern: \"Pair\", expected \"pipeline\" or \"pair\""},
      {replaced(R"("pipeline")", "true"), "pattern: true, expected \"pipeline\" or \"pair\""},
      {R"({"schema": "elbowroom.scenario/1", "name": "n", "gpus": 2, "iterations": 1, "pattern": "pair", "compute": 5})",
       "compute: 5, expected an object"},
      {R"({"schema": "elbowroom.scenario/1", "name": "n", "gpus": 2, "iterations": 1, "pattern": "pair", "compute": {}})",
       "collective: missing, expected an object"},
  });
}

TEST(ParseScenarioRefuses, BadFieldsOfTheKernel) {
  const std::string kernels = ", expected \"tiled_gemm\", \"library_gemm\", \"elementwise\", \"module\" or \"footprint\"";
  const std::string size = ", expected a size of at least 1 byte such as \"512M\" or 536870912";
  const std::string side = ", expected a whole number from 1 to 1048576";
  const std::string library = R"("kernel": "library_gemm", "dtype": "bf16", )";
  expect_refused({
      {computing(""), "compute.kernel: missing" + kernels},
      {computing(R"("kernel": "gemm")"), "compute.kernel: \"gemm\"" + kernels},
      {computing(R"("kernel": 3)"), "compute.kernel: 3" + kernels},
      {replaced("\"gelu\"", "\"tanh\""), R"(compute.op: "tanh", expected "gelu", "relu" or "copy")"},
      {replaced("\"f32\"", "\"f64\""), R"(compute.dtype: "f64", expected "f32", "bf16" or "f16")"},
      {replaced("\"4096M\"", "0"), "compute.bytes: 0" + size},
      {replaced("\"4096M\"", "\"0\""), "compute.bytes: \"0\"" + size},
      {replaced("\"4096M\"", "-16"), "compute.bytes: -16" + size},
      {replaced("\"4096M\"", "1.5"), "compute.bytes: 1.5" + size},
      {replaced("\"4096M\"", "\"4GX\""), "compute.bytes: \"4GX\"" + size},
      {replaced("\"4096M\"", "9223372036854775807"), "compute.bytes: 9223372036854775807" + size},
      {replaced("\"4096M\"", "24"), "compute.bytes: 24, expected a multiple of 16 up to 16 TiB"},
      {computing(kSides + R"("n": 256, "k": 64)"), "compute.m: missing" + side},
      {computing(kSides + R"("m": 0, "n": 256, "k": 64)"), "compute.m: 0" + side},
      {computing(kSides + R"("m": 1048577, "n": 256, "k": 64)"), "compute.m: 1048577" + side},
      {computing(kSides + R"("m": 100, "n": 256, "k": 64)"), "compute.m: 100, expected a multiple of compute.tile_m (64)"},
      {computing(kSides + R"("m": 128, "n": 32, "k": 64)"), "compute.n: 32, expected a multiple of compute.tile_n (64)"},
      {computing(kSides + R"("m": 128, "n": 256, "k": 33)"), "compute.k: 33, expected a multiple of compute.tile_k (32)"},
      {computing(library + R"("m": 128, "n": 12, "k": 64)"), "compute.n: 12, expected a multiple of 8 from 8 to 1048576"},
      {computing(library + R"("m": 128, "n": 64, "k": "64")"), "compute.k: \"64\"" + side},
  });
}

TEST(ParseScenarioRefuses, GridsThatAreNoPairOrLargerThanTheTiles) {
  // 256 / 64 = 4 tiles along n, 128 / 64 = 2 along m.
  const std::string pair = R"(, expected "full" or [X, Y] with X and Y from 1 to 1048576)";
  expect_refused({
      {on_grid("[5, 2]"), "compute.grid[0]: 5, expected 1 to 4 (tiles along n)"},
      {on_grid("[4, 3]"), "compute.grid[1]: 3, expected 1 to 2 (tiles along m)"},
      {on_grid("[0, 1]"), "compute.grid: [0,1]" + pair},
      {on_grid("[-1, 1]"), "compute.grid: [-1,1]" + pair},
      {on_grid("[1.5, 1]"), "compute.grid: [1.5,1]" + pair},
      {on_grid("[1]"), "compute.grid: [1]" + pair},
      {on_grid("[1, 1, 1]"), "compute.grid: [1,1,1]" + pair},
      {on_grid("[1, 18446744073709551615]"), "compute.grid: [1,18446744073709551615]" + pair},
      {on_grid("8"), "compute.grid: 8" + pair},
      {on_grid("null"), "compute.grid: null" + pair},
      {on_grid("\"half\""), "compute.grid: \"half\"" + pair},
  });
}

TEST(ParseScenarioRefuses, BadFieldsOfTheCollective) {
  const std::string blocks = ", expected a whole number from 1 to 64";
  const std::string cluster = ", expected a whole number from 1 to 8";
  expect_refused({
      {replaced("all_reduce", "gather"),
       R"(collective.op: "gather", expected "all_reduce", "all_gather", "reduce_scatter", "all_to_all", )"
       R"("broadcast", "all_to_all_v" or "send_recv")"},
      // 2 ranks of 2 bytes
      {replaced("\"512M\"", "6"), "collective.bytes: 6, expected a multiple of 4 (2 ranks of bf16) up to 16 TiB; the next is 8"},
      {replaced("\"512M\"", "0"), "collective.bytes: 0, expected a size of at least 1 byte such as \"512M\" or 536870912"},
      {replaced(R"("comm_blocks": 8)", R"("comm_blocks": 0)"), "collective.comm_blocks: 0" + blocks},
      {replaced(R"("comm_blocks": 8)", R"("comm_blocks": 65)"), "collective.comm_blocks: 65" + blocks},
      {replaced(R"("comm_blocks": 8)", R"("comm_blocks": "8")"), "collective.comm_blocks: \"8\"" + blocks},
      {replaced(R"("comm_blocks": 8)", R"("cluster": 0)"), "collective.cluster: 0" + cluster},
      {replaced(R"("comm_blocks": 8)", R"("cluster": 9)"), "collective.cluster: 9" + cluster},
  });
}

TEST(ValidateScenario, HoldsForScenariosThatNoDocumentDescribes) {
  Scenario scenario = *parse_scenario(kDocument, "a.json");
  ASSERT_TRUE(validate(scenario).ok());
  const auto message = [](const Scenario& changed) { return validate(changed).error().message; };
  Scenario changed = scenario;
  changed.name.clear();
  EXPECT_EQ(message(changed), "name: empty, expected a text");
  changed = scenario;
  changed.gpus = 1;
  EXPECT_EQ(message(changed), "gpus: 1, expected 2 to 4096");
  changed = scenario;
  changed.iterations = 0;
  EXPECT_EQ(message(changed), "iterations: 0, expected 1 to 10000");
  changed = scenario;
  changed.compute = TiledGemm{64, 64, 64, 64, 0, 64, std::nullopt, DataType::f32};
  EXPECT_EQ(message(changed), "compute.tile_n: 0, expected a positive number");
  changed.compute = TiledGemm{64, 64, 64, 64, 64, 64, GridShape{0, 1}, DataType::f32};
  EXPECT_EQ(message(changed), "compute.grid[0]: 0, expected 1 to 1 (tiles along n)");
  changed = scenario;
  changed.collective.comm_blocks = Blocks(65);
  EXPECT_EQ(message(changed), "collective.comm_blocks: 65, expected 1 to 64");
  changed = scenario;
  changed.collective.cluster = 9;
  EXPECT_EQ(message(changed), "collective.cluster: 9, expected 1 to 8");
}

TEST(Scenario, OneBufferIsAShareWhereRanksGatherOrScatter) {
  const auto sizes = [](CollectiveOp op) { return buffer_sizes({op, Bytes(1200), DataType::bf16, std::nullopt, std::nullopt}, 3); };
  EXPECT_EQ((BufferSizes{Bytes(1200), Bytes(1200)}), sizes(CollectiveOp::all_reduce));
  EXPECT_EQ((BufferSizes{Bytes(400), Bytes(1200)}), sizes(CollectiveOp::all_gather));
  EXPECT_EQ((BufferSizes{Bytes(1200), Bytes(400)}), sizes(CollectiveOp::reduce_scatter));
  EXPECT_EQ((BufferSizes{Bytes(1200), Bytes(1200)}), sizes(CollectiveOp::all_to_all));
}

TEST(Scenario, MemoryPerDeviceIsOperandsResultAndBothBuffers) {
  const auto memory = [](const Compute& compute, CollectiveOp op) {
    return memory_per_device(
        step_of({"memory", 4, 1, Pattern::pair, compute, {op, Bytes(1024), DataType::bf16, std::nullopt, std::nullopt}}));
  };
  // A 64 x 32 and B 32 x 128 in 2 bytes: 12,288. C 64 x 128 in 4 bytes, whatever A and B are: 32,768. Buffers 1024 + 1024.
  const TiledGemm tiled{64, 128, 32, 64, 64, 32, std::nullopt, DataType::bf16};
  EXPECT_EQ(Bytes(12'288 + 32'768 + 2048), memory(tiled, CollectiveOp::all_reduce));
  // The same product through a library: C in 2 bytes as A and B are, 16,384. Each of 4 ranks gives 256 to 1024.
  EXPECT_EQ(Bytes(12'288 + 16'384 + 1280), memory(LibraryGemm{64, 128, 32, DataType::bf16}, CollectiveOp::all_gather));
  // In 4 bytes all three double but the buffers.
  EXPECT_EQ(Bytes(24'576 + 32'768 + 1280), memory(LibraryGemm{64, 128, 32, DataType::f32}, CollectiveOp::reduce_scatter));
  // 4096 read, 4096 written.
  EXPECT_EQ(Bytes(8192 + 2048), memory(Elementwise{ElementwiseOp::relu, DataType::f32, Bytes(4096)}, CollectiveOp::all_to_all));
}

TEST(ScenarioJson, ReadsBackEveryKernelWithEveryCollective) {
  const std::vector<Compute> kernels{
      TiledGemm{256, 512, 96, 64, 128, 32, std::nullopt, DataType::f32},
      TiledGemm{256, 512, 96, 64, 128, 32, GridShape{3, 4}, DataType::bf16},
      LibraryGemm{64, 128, 256, DataType::f32},
      LibraryGemm{64, 128, 256, DataType::bf16},
      Elementwise{ElementwiseOp::gelu, DataType::f32, mebibytes(1)},
      Elementwise{ElementwiseOp::relu, DataType::bf16, Bytes(16)},
      Elementwise{ElementwiseOp::copy, DataType::f32, Bytes(48)},
  };
  for (const Compute& kernel : kernels) {
    for (const CollectiveOp op :
         {CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::reduce_scatter, CollectiveOp::all_to_all}) {
      Scenario scenario;
      scenario.name = "each";
      scenario.compute = kernel;
      scenario.collective = {op, Bytes(64), DataType::f32, Blocks(64), 8};
      const Result<Scenario> again = parse_scenario(to_json(scenario), "written");
      ASSERT_TRUE(again.ok()) << again.error().message;
      EXPECT_EQ(*again, scenario) << to_json(scenario);
    }
  }
}

TEST(ScenarioJson, KeepsTheOrderOfTheContract) {
  EXPECT_EQ(to_json(*parse_scenario(kDocument, "a.json"), -1),
            R"({"schema":"elbowroom.scenario/1","name":"gelu-ar","gpus":2,"iterations":8,"pattern":"pipeline",)"
            R"("compute":{"kernel":"elementwise","op":"gelu","dtype":"f32","bytes":"4G"},)"
            R"("collective":{"op":"all_reduce","bytes":"512M","dtype":"bf16","comm_blocks":8}})");
}

RC_GTEST_PROP(ScenarioProperty, ReadsBackWhatItWrites, ()) {
  const Scenario scenario = *any_scenario();
  RC_ASSERT(validate(scenario).ok());
  const Result<Scenario> again = parse_scenario(to_json(scenario), "written");
  RC_ASSERT(again.ok());
  RC_ASSERT(*again == scenario);
}

/// A scenario that keeps the rules and survives being written, or one line that begins with the file's name.
void expect_an_answer(const std::string& text) {
  const Result<Scenario> scenario = parse_scenario(text, "any.json");
  if (scenario) {
    RC_ASSERT(validate(*scenario).ok());
    const Result<Scenario> again = parse_scenario(to_json(*scenario), "written");
    RC_ASSERT(again.ok());
    RC_ASSERT(*again == *scenario);
    return;
  }
  RC_ASSERT(scenario.error().message.starts_with("any.json: "));
  RC_ASSERT(scenario.error().message.find_first_of("\n\r") == std::string::npos);
}

RC_GTEST_PROP(ScenarioProperty, AnswersArbitraryBytes, (const std::string& bytes)) { expect_an_answer(bytes); }

// One byte of a good document changed, added or lost reaches further into the reader than noise does.
RC_GTEST_PROP(ScenarioProperty, AnswersADocumentWithOneByteWrong, ()) {
  std::string text = to_json(*any_scenario(), -1);
  const auto at = *rc::gen::inRange<std::size_t>(0, text.size());
  const auto length = *rc::gen::inRange<std::size_t>(0, 2);
  text.replace(at, length, *rc::gen::inRange<std::size_t>(0, 2), *rc::gen::arbitrary<char>());
  expect_an_answer(text);
}

}  // namespace
}  // namespace elbowroom
