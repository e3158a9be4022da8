#include "model/work_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/most_ranks.hpp"
#include "elbowroom/model/collective_facts.hpp"
#include "elbowroom/model/comm_catalog.hpp"
#include "elbowroom/model/size.hpp"
#include "model/described_kernels.hpp"
#include "model/scenario_limits.hpp"
#include "model/scenario_words.hpp"

namespace elbowroom::detail {
namespace {

using nlohmann::json;

std::optional<GridShape> read_grid(JsonFields& fields) {
  constexpr std::string_view expected = "\"full\" or [X, Y] with X and Y from 1 to 1048576";
  const json* grid = fields.member("grid");
  if (grid == nullptr || *grid == "full") { return std::nullopt; }
  const auto valid = [](const json& side) {
    return side.is_number_unsigned() && side.get<std::uint64_t>() >= 1 && side.get<std::uint64_t>() <= kLongestSide;
  };
  if (grid->is_array() && grid->size() == 2 && valid((*grid)[0]) && valid((*grid)[1])) {
    return GridShape{(*grid)[0].get<std::int64_t>(), (*grid)[1].get<std::int64_t>()};
  }
  fields.reject("grid", shown(*grid), expected);
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
  gemm.dtype = read_dtype(fields, kTiledTypes);
  return gemm;
}

Compute read_library_gemm(JsonFields& fields) {
  LibraryGemm gemm;
  gemm.m = fields.integer("m", 1, kLongestSide);
  gemm.n = fields.integer("n", 1, kLongestSide);
  gemm.k = fields.integer("k", 1, kLongestSide);
  gemm.dtype = read_dtype(fields, kDataTypes);
  return gemm;
}

Compute read_elementwise(JsonFields& fields) {
  Elementwise elementwise;
  elementwise.op = fields.word("op", word_of(kElementwiseOps), "\"gelu\", \"relu\" or \"copy\"", ElementwiseOp::gelu);
  elementwise.dtype = read_dtype(fields, kElementwiseTypes);
  elementwise.bytes = fields.size("bytes");
  return elementwise;
}

nlohmann::ordered_json json_of(const TiledGemm& gemm) {
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

nlohmann::ordered_json json_of(const LibraryGemm& gemm) {
  return {{"m", gemm.m}, {"n", gemm.n}, {"k", gemm.k}, {"dtype", to_string(gemm.dtype)}};
}

nlohmann::ordered_json json_of(const Elementwise& elementwise) {
  return {{"op", to_string(elementwise.op)}, {"dtype", to_string(elementwise.dtype)}, {"bytes", format_size(elementwise.bytes)}};
}

}  // namespace

DataType read_dtype(JsonFields& fields, std::span<const DataType> allowed) {
  return fields.word("dtype", word_of(allowed), alternatives(allowed, [](DataType dtype) { return to_string(dtype); }),
                     DataType::f32);
}

Result<Compute> read_compute(const json& object, const std::string& path, const std::string& source) {
  using Reader = Compute (*)(JsonFields&);
  constexpr std::array<std::pair<std::string_view, Reader>, 5> readers{{{"tiled_gemm", read_tiled_gemm},
                                                                        {"library_gemm", read_library_gemm},
                                                                        {"elementwise", read_elementwise},
                                                                        {"module", read_module},
                                                                        {"footprint", read_footprint_kernel}}};
  JsonFields fields(object, path, source);
  const auto reader_of = [&readers](std::string_view word) -> std::optional<Reader> {
    for (const auto& [name, reader] : readers) {
      if (name == word) { return reader; }
    }
    return std::nullopt;
  };
  const json* kernel = fields.member("kernel");
  std::string expected = alternatives(readers, [](const auto& one) { return one.first; });
  if (kernel != nullptr && *kernel == "attention") { expected += " (attention is not built; a module may hold such a kernel)"; }
  const Reader read = fields.word<Reader>("kernel", reader_of, expected, nullptr);
  if (read == nullptr) { return fields.finish().error(); }
  Compute compute = read(fields);
  if (Status status = fields.finish(); !status) { return status.error(); }
  return compute;
}

Result<Collective> read_collective(const json& object, const std::string& path, const std::string& source) {
  JsonFields fields(object, path, source);
  Collective collective;
  collective.op = fields.word("op", collective_of, alternatives(collectives(), &CollectiveFacts::name), CollectiveOp::all_reduce);
  collective.bytes = fields.size("bytes");
  collective.dtype = read_dtype(fields, kCollectiveTypes);
  if (const auto blocks = fields.optional_integer("comm_blocks", 1, kGreatestCommBlocks.count())) {
    collective.comm_blocks = Blocks(*blocks);
  }
  if (const auto cluster = fields.optional_integer("cluster", 1, kGreatestCluster)) {
    collective.cluster = static_cast<int>(*cluster);
  }
  if (const auto root = fields.optional_integer("root", 0, kMostRanks)) { collective.root = static_cast<int>(*root); }
  if (const json* shares = fields.member("shares")) {
    if (shares->is_array() && std::ranges::all_of(*shares, [](const json& share) { return share.is_number(); })) {
      collective.shares = shares->get<std::vector<double>>();
    } else {
      fields.reject("shares", shown(*shares), "a list of numbers, one for each rank");
    }
  }
  if (Status status = fields.finish(); !status) { return status.error(); }
  return collective;
}

const json* object_member(JsonFields& fields, const char* name) {
  const json* member = fields.member(name);
  if (member != nullptr && member->is_object()) { return member; }
  fields.reject(name, member == nullptr ? "missing" : shown(*member), "an object");
  return nullptr;
}

nlohmann::ordered_json compute_json(const Compute& compute) {
  nlohmann::ordered_json object{{"kernel", kernel_name(compute)}};
  object.update(std::visit([](const auto& kernel) { return json_of(kernel); }, compute));
  return object;
}

nlohmann::ordered_json collective_json(const Collective& collective) {
  nlohmann::ordered_json object{
      {"op", to_string(collective.op)}, {"bytes", format_size(collective.bytes)}, {"dtype", to_string(collective.dtype)}};
  if (collective.comm_blocks) { object["comm_blocks"] = collective.comm_blocks->count(); }
  if (collective.cluster) { object["cluster"] = *collective.cluster; }
  if (collective.root) { object["root"] = *collective.root; }
  if (!collective.shares.empty()) { object["shares"] = collective.shares; }
  return object;
}

}  // namespace elbowroom::detail
