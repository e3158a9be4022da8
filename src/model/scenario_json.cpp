// The `elbowroom.scenario/1` document: text to Scenario and back.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "elbowroom/model/collective_facts.hpp"
#include "elbowroom/model/scenario.hpp"
#include "elbowroom/model/size.hpp"
#include "model/json_document.hpp"
#include "model/json_fields.hpp"
#include "model/scenario_limits.hpp"
#include "model/scenario_words.hpp"

namespace elbowroom {
namespace {

using detail::collective_of;
using detail::JsonFields;
using detail::kDataTypes;
using detail::kElementwiseOps;
using detail::kLongestSide;
using detail::kPatterns;
using detail::word_of;
using nlohmann::json;

constexpr const char* kSchema = "elbowroom.scenario/1";

std::string expected_collective() {
  std::string names;
  for (const CollectiveFacts& facts : collectives()) {
    const bool last = &facts == &collectives().back();
    names += fmt::format("{}\"{}\"", names.empty() ? "" : last ? " or " : ", ", facts.name);
  }
  return names;
}

DataType read_dtype(JsonFields& fields) { return fields.word("dtype", word_of(kDataTypes), "\"f32\" or \"bf16\"", DataType::f32); }

std::optional<GridShape> read_grid(JsonFields& fields) {
  constexpr std::string_view expected = "\"full\" or [X, Y] with X and Y from 1 to 1048576";
  const json* grid = fields.member("grid");
  if (grid == nullptr || *grid == "full") return std::nullopt;
  const auto valid = [](const json& side) {
    return side.is_number_unsigned() && side.get<std::uint64_t>() >= 1 && side.get<std::uint64_t>() <= kLongestSide;
  };
  if (grid->is_array() && grid->size() == 2 && valid((*grid)[0]) && valid((*grid)[1])) {
    return GridShape{(*grid)[0].get<std::int64_t>(), (*grid)[1].get<std::int64_t>()};
  }
  fields.reject("grid", detail::shown(*grid), expected);
  return std::nullopt;
}

Compute read_tiled_gemm(JsonFields& fields) {
  TiledGemm gemm;
  gemm.m = fields.integer("m", 1, kLongestSide);
  gemm.n = fields.integer("n", 1, kLongestSide);
  gemm.k = fields.integer("k", 1, kLongestSide);
  gemm.tile_m = fields.integer("tile_m", 1, kLongestSide);
  gemm.tile_n = fields.integer("tile_n", 1, kLongestSide);
  gemm.tile_k = fields.integer("tile_k", 1, kLongestSide);
  gemm.grid = read_grid(fields);
  gemm.dtype = read_dtype(fields);
  return gemm;
}

Compute read_library_gemm(JsonFields& fields) {
  LibraryGemm gemm;
  gemm.m = fields.integer("m", 1, kLongestSide);
  gemm.n = fields.integer("n", 1, kLongestSide);
  gemm.k = fields.integer("k", 1, kLongestSide);
  gemm.dtype = read_dtype(fields);
  return gemm;
}

Compute read_elementwise(JsonFields& fields) {
  Elementwise elementwise;
  elementwise.op = fields.word("op", word_of(kElementwiseOps), "\"gelu\", \"relu\" or \"copy\"", ElementwiseOp::gelu);
  elementwise.dtype = read_dtype(fields);
  elementwise.bytes = fields.size("bytes");
  return elementwise;
}

Result<Compute> read_compute(const json& object, const std::string& source) {
  using Reader = Compute (*)(JsonFields&);
  constexpr std::array<std::pair<std::string_view, Reader>, 3> readers{
      {{"tiled_gemm", read_tiled_gemm}, {"library_gemm", read_library_gemm}, {"elementwise", read_elementwise}}};
  JsonFields fields(object, "compute.", source);
  const auto reader_of = [&readers](std::string_view word) -> std::optional<Reader> {
    for (const auto& [name, reader] : readers) {
      if (name == word) return reader;
    }
    return std::nullopt;
  };
  const Reader read = fields.word<Reader>("kernel", reader_of, "\"tiled_gemm\", \"library_gemm\" or \"elementwise\"", nullptr);
  if (read == nullptr) return fields.finish().error();
  Compute compute = read(fields);
  if (Status status = fields.finish(); !status) return status.error();
  return compute;
}

Result<Collective> read_collective(const json& object, const std::string& source) {
  JsonFields fields(object, "collective.", source);
  Collective collective;
  collective.op = fields.word("op", collective_of, expected_collective(), CollectiveOp::all_reduce);
  collective.bytes = fields.size("bytes");
  collective.dtype = read_dtype(fields);
  if (const auto blocks = fields.optional_integer("comm_blocks", 1, 64)) collective.comm_blocks = Blocks(*blocks);
  if (const auto cluster = fields.optional_integer("cluster", 1, 8)) collective.cluster = static_cast<int>(*cluster);
  if (Status status = fields.finish(); !status) return status.error();
  return collective;
}

const json* object_member(JsonFields& fields, const char* name) {
  const json* member = fields.member(name);
  if (member != nullptr && member->is_object()) return member;
  fields.reject(name, member == nullptr ? "missing" : detail::shown(*member), "an object");
  return nullptr;
}

Result<Scenario> read_scenario(const json& document, const std::string& source) {
  JsonFields fields(document, "", source);
  const auto is_schema = [](std::string_view word) { return word == kSchema ? std::optional(word) : std::nullopt; };
  fields.word<std::string_view>("schema", is_schema, fmt::format("\"{}\"", kSchema), kSchema);
  Scenario scenario;
  scenario.name = fields.text("name");
  scenario.gpus = static_cast<int>(fields.integer("gpus", 2, 8));
  scenario.iterations = static_cast<int>(fields.integer("iterations", 1, 10'000));
  scenario.pattern = fields.word("pattern", word_of(kPatterns), "\"pipeline\" or \"pair\"", Pattern::pipeline);
  const json* compute = object_member(fields, "compute");
  const json* collective = object_member(fields, "collective");
  if (Status status = fields.finish(); !status) return status.error();

  Result<Compute> read = read_compute(*compute, source);
  if (!read) return read.error();
  scenario.compute = *read;
  Result<Collective> ends = read_collective(*collective, source);
  if (!ends) return ends.error();
  scenario.collective = *ends;
  return scenario;
}

nlohmann::ordered_json compute_json(const TiledGemm& gemm) {
  nlohmann::ordered_json out{{"m", gemm.m},           {"n", gemm.n},           {"k", gemm.k},
                             {"tile_m", gemm.tile_m}, {"tile_n", gemm.tile_n}, {"tile_k", gemm.tile_k}};
  if (gemm.grid) {
    out["grid"] = nlohmann::ordered_json::array({gemm.grid->x, gemm.grid->y});
  } else {
    out["grid"] = "full";
  }
  out["dtype"] = to_string(gemm.dtype);
  return out;
}

nlohmann::ordered_json compute_json(const LibraryGemm& gemm) {
  return {{"m", gemm.m}, {"n", gemm.n}, {"k", gemm.k}, {"dtype", to_string(gemm.dtype)}};
}

nlohmann::ordered_json compute_json(const Elementwise& elementwise) {
  return {{"op", to_string(elementwise.op)}, {"dtype", to_string(elementwise.dtype)}, {"bytes", format_size(elementwise.bytes)}};
}

}  // namespace

Result<Scenario> parse_scenario(std::string_view text, std::string_view source) {
  const std::string where(source);
  const Result<json> document = detail::read_json_object(text, where, fmt::format("an {} document", kSchema));
  if (!document) return document.error();
  Result<Scenario> scenario = read_scenario(*document, where);
  if (!scenario) return scenario;
  if (Status status = validate(*scenario); !status) return invalid_input(fmt::format("{}: {}", where, status.error().message));
  return scenario;
}

std::string to_json(const Scenario& scenario, int indent) {
  nlohmann::ordered_json compute{{"kernel", kernel_name(scenario.compute)}};
  compute.update(std::visit([](const auto& kernel) { return compute_json(kernel); }, scenario.compute));

  nlohmann::ordered_json collective{{"op", to_string(scenario.collective.op)},
                                    {"bytes", format_size(scenario.collective.bytes)},
                                    {"dtype", to_string(scenario.collective.dtype)}};
  if (scenario.collective.comm_blocks) collective["comm_blocks"] = scenario.collective.comm_blocks->count();
  if (scenario.collective.cluster) collective["cluster"] = *scenario.collective.cluster;

  const nlohmann::ordered_json document{{"schema", kSchema},
                                        {"name", scenario.name},
                                        {"gpus", scenario.gpus},
                                        {"iterations", scenario.iterations},
                                        {"pattern", to_string(scenario.pattern)},
                                        {"compute", std::move(compute)},
                                        {"collective", std::move(collective)}};
  return document.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace elbowroom
