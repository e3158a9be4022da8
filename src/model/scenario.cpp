#include "elbowroom/model/scenario.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <utility>
#include <variant>

#include "base/most_ranks.hpp"
#include "elbowroom/model/collective_facts.hpp"
#include "elbowroom/model/comm_catalog.hpp"
#include "model/described_kernels.hpp"
#include "model/scenario_limits.hpp"
#include "model/scenario_words.hpp"
#include "model/work_rules.hpp"

namespace elbowroom {
namespace {

using detail::check;
using detail::kLongestSide;
using detail::memory;

// Beyond every device's memory, and far from overflow in products and sums.
constexpr Bytes kLargestBuffer = mebibytes(std::int64_t{16} << 20);

// Of blocks in products with bytes.
constexpr std::int64_t kMostCounted = std::int64_t{1} << 22;

// Far from overflow in sums; only ratios count.
constexpr double kGreatestShare = 1e12;

Error bad(std::string_view field, std::int64_t value, std::string_view expected) {
  return invalid_input(fmt::format("{}: {}, expected {}", field, value, expected));
}

template <class Types>
Status check_type(std::string_view field, DataType dtype, const Types& allowed) {
  if (std::ranges::find(allowed, dtype) != allowed.end()) { return {}; }
  const auto word = [](DataType one) { return to_string(one); };
  return invalid_input(fmt::format("{}: \"{}\", expected {}", field, to_string(dtype), detail::alternatives(allowed, word)));
}

Status check(const TiledGemm& gemm) {
  if (Status typed = check_type("compute.dtype", gemm.dtype, detail::kTiledTypes); !typed) { return typed; }
  const std::array<std::tuple<const char*, std::int64_t, const char*, std::int64_t>, 3> sides{{
      {"compute.m", gemm.m, "compute.tile_m", gemm.tile_m},
      {"compute.n", gemm.n, "compute.tile_n", gemm.tile_n},
      {"compute.k", gemm.k, "compute.tile_k", gemm.tile_k},
  }};
  for (const auto& [side, extent, tile_side, tile] : sides) {
    if (extent <= 0 || extent > kLongestSide) { return bad(side, extent, fmt::format("1 to {}", kLongestSide)); }
    if (tile <= 0) { return bad(tile_side, tile, "a positive number"); }
    if (extent % tile != 0) { return bad(side, extent, fmt::format("a multiple of {} ({})", tile_side, tile)); }
  }
  if (!gemm.grid) { return {}; }
  const GridShape tiles{gemm.n / gemm.tile_n, gemm.m / gemm.tile_m};
  if (gemm.grid->x < 1 || gemm.grid->x > tiles.x) {
    return bad("compute.grid[0]", gemm.grid->x, fmt::format("1 to {} (tiles along n)", tiles.x));
  }
  if (gemm.grid->y < 1 || gemm.grid->y > tiles.y) {
    return bad("compute.grid[1]", gemm.grid->y, fmt::format("1 to {} (tiles along m)", tiles.y));
  }
  return {};
}

Status check(const LibraryGemm& gemm) {
  const std::array<std::pair<const char*, std::int64_t>, 3> sides{
      {{"compute.m", gemm.m}, {"compute.n", gemm.n}, {"compute.k", gemm.k}}};
  // Matrix units take rows of whole 16 bytes.
  const std::int64_t granule = gemm.dtype == DataType::e4m3 ? 16 : 8;
  for (const auto& [side, extent] : sides) {
    if (extent <= 0 || extent > kLongestSide || extent % granule != 0) {
      return bad(side, extent, fmt::format("a multiple of {0} from {0} to {1}", granule, kLongestSide));
    }
  }
  return {};
}

Status check(const Elementwise& elementwise) {
  if (Status typed = check_type("compute.dtype", elementwise.dtype, detail::kElementwiseTypes); !typed) { return typed; }
  // One thread handles 16 bytes.
  if (elementwise.bytes < Bytes(16) || elementwise.bytes > kLargestBuffer || elementwise.bytes.count() % 16 != 0) {
    return bad("compute.bytes", elementwise.bytes.count(), "a multiple of 16 up to 16 TiB");
  }
  return {};
}

Status check_any(const Compute& compute) {
  return std::visit([](const auto& kernel) { return check(kernel); }, compute);
}

template <class Gemm>
Bytes operands_and_result(const Gemm& gemm, DataType result) {
  return size_of(gemm.dtype) * (gemm.m * gemm.k + gemm.k * gemm.n) + size_of(result) * (gemm.m * gemm.n);
}

Bytes memory(const TiledGemm& gemm) { return operands_and_result(gemm, DataType::f32); }
Bytes memory(const LibraryGemm& gemm) { return operands_and_result(gemm, gemm.result()); }
Bytes memory(const Elementwise& elementwise) { return elementwise.bytes * 2; }
Bytes memory(const FootprintKernel& /*kernel*/) { return Bytes(0); }

Status check_root(const Collective& collective, const CollectiveFacts& facts, int ranks) {
  if (!collective.root) { return {}; }
  if (facts.takes != CollectiveFacts::Takes::root) {
    return bad("collective.root", *collective.root, fmt::format("none ({} has no root)", facts.name));
  }
  if (*collective.root >= 0 && *collective.root < ranks) { return {}; }
  return bad("collective.root", *collective.root, fmt::format("0 to {}", ranks - 1));
}

Status check_shares(const Collective& collective, const CollectiveFacts& facts, int ranks) {
  const std::vector<double>& shares = collective.shares;
  const bool takes = facts.takes == CollectiveFacts::Takes::shares;
  if (takes ? std::ssize(shares) != ranks : !shares.empty()) {
    return invalid_input(
        fmt::format("collective.shares: {} of them, expected {}", shares.size(),
                    takes ? fmt::format("{}, one for each rank", ranks) : fmt::format("none ({} sends equal shares)", facts.name)));
  }
  if (!takes) { return {}; }
  for (std::size_t at = 0; at < shares.size(); ++at) {
    // Written so that NaN is refused.
    if (!(shares[at] >= 0 && shares[at] <= kGreatestShare)) {
      return invalid_input(fmt::format("collective.shares[{}]: {}, expected a number from 0 to 1e12", at, shares[at]));
    }
  }
  if (std::ranges::any_of(shares, [](double share) { return share > 0; })) { return {}; }
  return invalid_input("collective.shares: all 0, expected one above it");
}

// Names stand in tables and in messages of one line. Bytes from 128 up are part of UTF-8.
bool is_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte < 32 || byte == 127;
}

}  // namespace

namespace detail {

Status validate(const Compute& compute) { return check_any(compute); }

Status validate(const Collective& collective, int gpus) {
  const CollectiveFacts& facts = facts_of(collective.op);
  if (Status typed = check_type("collective.dtype", collective.dtype, kCollectiveTypes); !typed) { return typed; }
  const std::int64_t share = size_of(collective.dtype).count() * (facts.divides ? gpus : 1);
  if (collective.bytes <= Bytes(0) || collective.bytes > kLargestBuffer || collective.bytes.count() % share != 0) {
    const std::int64_t next = (collective.bytes.count() / share + 1) * share;
    const bool has_next = collective.bytes > Bytes(0) && next <= kLargestBuffer.count();
    const std::string of =
        facts.divides ? fmt::format("{} ranks of {}", gpus, to_string(collective.dtype)) : std::string(to_string(collective.dtype));
    return bad(
        "collective.bytes", collective.bytes.count(),
        fmt::format("a multiple of {} ({}) up to 16 TiB{}", share, of, has_next ? fmt::format("; the next is {}", next) : ""));
  }
  if (facts.ranks && gpus != *facts.ranks) {
    return invalid_input(fmt::format("collective.op: {} among {} ranks, expected {}", facts.name, gpus, *facts.ranks));
  }
  if (Status root = check_root(collective, facts, gpus); !root) { return root; }
  if (Status shares = check_shares(collective, facts, gpus); !shares) { return shares; }
  if (collective.comm_blocks && (*collective.comm_blocks < Blocks(1) || *collective.comm_blocks > kGreatestCommBlocks)) {
    return bad("collective.comm_blocks", collective.comm_blocks->count(), fmt::format("1 to {}", kGreatestCommBlocks.count()));
  }
  if (collective.cluster && (*collective.cluster < 1 || *collective.cluster > kGreatestCluster)) {
    return bad("collective.cluster", *collective.cluster, fmt::format("1 to {}", kGreatestCluster));
  }
  return {};
}

Status validate_name(std::string_view name, const std::string& field) {
  if (name.empty()) { return invalid_input(field + ": empty, expected a text"); }
  constexpr std::size_t longest_name = 200;
  if (name.size() > longest_name) {
    return invalid_input(fmt::format("{}: {} bytes, expected at most {}", field, name.size(), longest_name));
  }
  if (std::ranges::any_of(name, is_control)) {
    return invalid_input(field + ": has control characters, expected a text on one line");
  }
  return {};
}

}  // namespace detail

Status validate(const Scenario& scenario) {
  if (Status named = detail::validate_name(scenario.name, "name"); !named) { return named; }
  if (scenario.gpus < 2 || scenario.gpus > kMostRanks) { return bad("gpus", scenario.gpus, fmt::format("2 to {}", kMostRanks)); }
  if (scenario.iterations < 1 || scenario.iterations > 10'000) { return bad("iterations", scenario.iterations, "1 to 10000"); }
  if (Status compute = detail::validate(scenario.compute); !compute) { return compute; }
  return detail::validate(scenario.collective, scenario.gpus);
}

std::string_view to_string(DataType dtype) {
  constexpr std::array<std::string_view, 4> words{"f32", "bf16", "f16", "e4m3"};
  return words[static_cast<std::size_t>(dtype)];
}

std::string_view to_string(ElementwiseOp op) {
  switch (op) {
    case ElementwiseOp::gelu:
      return "gelu";
    case ElementwiseOp::relu:
      return "relu";
    case ElementwiseOp::copy:
      return "copy";
  }
  return "?";
}

std::string_view to_string(CollectiveOp op) { return facts_of(op).name; }

std::string_view to_string(Pattern pattern) { return pattern == Pattern::pipeline ? "pipeline" : "pair"; }

std::string_view kernel_name(const Compute& compute) {
  constexpr std::array<std::string_view, 5> names{"tiled_gemm", "library_gemm", "elementwise", "module", "footprint"};
  static_assert(std::variant_size_v<Compute> == names.size());
  return names[compute.index()];
}

double flop_of(const Compute& compute) {
  const auto of = [](const auto& kernel) {
    if constexpr (requires { kernel.k; }) {
      return 2.0 * static_cast<double>(kernel.m) * static_cast<double>(kernel.n) * static_cast<double>(kernel.k);
    } else {
      return 0.0;
    }
  };
  return std::visit(of, compute);
}

std::optional<Blocks> compute_blocks(const Compute& compute) {
  if (const auto* module = std::get_if<ModuleKernel>(&compute)) { return Blocks(module->grid.product()); }
  if (const auto* described = std::get_if<FootprintKernel>(&compute)) { return described->blocks; }
  const auto* gemm = std::get_if<TiledGemm>(&compute);
  if (gemm == nullptr) { return std::nullopt; }
  const GridShape grid = gemm->grid.value_or(GridShape{gemm->n / gemm->tile_n, gemm->m / gemm->tile_m});
  return Blocks(grid.x * grid.y);
}

BufferSizes buffer_sizes(const Collective& collective, int gpus) {
  BufferSizes greatest;
  for (int rank = 0; rank < gpus; ++rank) {
    const RankData data = facts_of(collective.op).data(collective, gpus, rank);
    greatest.send = std::max(greatest.send, size_of(collective.dtype) * data.sent);
    greatest.recv = std::max(greatest.recv, size_of(collective.dtype) * data.received);
  }
  return greatest;
}

Bytes memory_of(const Compute& compute) {
  return std::visit([](const auto& kernel) { return memory(kernel); }, compute);
}

Bytes least_traffic_of(const Compute& compute) {
  if (std::holds_alternative<ModuleKernel>(compute)) { return Bytes(0); }
  const auto* described = std::get_if<FootprintKernel>(&compute);
  // Blocks and bytes are both at most 2^40.
  return described == nullptr ? memory_of(compute) : described->traffic * std::min(described->blocks.count(), kMostCounted);
}

}  // namespace elbowroom
