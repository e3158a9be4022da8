#include "elbowroom/experiment/suites.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "elbowroom/plan/scheme.hpp"

namespace elbowroom {
namespace {

Scenario scenario(std::string name, int gpus, int iterations, Pattern pattern, Compute compute, Collective collective) {
  return {std::move(name), gpus, iterations, pattern, std::move(compute), std::move(collective)};
}

Collective all_reduce(std::int64_t mib, std::optional<Blocks> comm_blocks = std::nullopt) {
  return {CollectiveOp::all_reduce, mebibytes(mib), DataType::bf16, comm_blocks, std::nullopt};
}

Elementwise gelu_4g() { return {ElementwiseOp::gelu, DataType::f32, mebibytes(4096)}; }

// Three cases that show one thing each: shaping on memory-bound work, priority on a kernel of many waves, tensor-core tiles.
std::vector<Scenario> quick(int gpus) {
  return {
      scenario("gelu-ar", gpus, 8, Pattern::pipeline, gelu_4g(), all_reduce(512, Blocks(8))),
      scenario("sgemm-ar-pair", gpus, 1, Pattern::pair, TiledGemm{3072, 3072, 3072, 64, 64, 16, std::nullopt, DataType::f32},
               all_reduce(512)),
      scenario("hgemm-ar", gpus, 8, Pattern::pipeline, TiledGemm{4096, 4096, 4096, 64, 64, 64, std::nullopt, DataType::bf16},
               all_reduce(512)),
  };
}

/// The source paper's sweep: {cb, mb} x {ar, a2a} x {opt1, opt2} x blocks, 896 MB. Its operand type is not known: bf16 here
/// (docs/decisions). Two or three iterations hold the shortest pipeline in which a collective can run beside a later product.
std::vector<Scenario> paper(int gpus) {
  struct Size {
    std::string_view name;
    std::int64_t m, n, k;
    int iterations;
  };
  constexpr std::array sizes{Size{"cb", 8192, 8192, 8192, 3}, Size{"mb", 8192, 57344, 8192, 2}};
  constexpr std::array ops{std::pair{std::string_view("ar"), CollectiveOp::all_reduce},
                           std::pair{std::string_view("a2a"), CollectiveOp::all_to_all}};
  constexpr std::array tiles{std::pair{std::string_view("opt1"), 32}, std::pair{std::string_view("opt2"), 64}};
  const std::array<std::optional<GridShape>, 4> grids{GridShape{16, 16}, GridShape{32, 32}, GridShape{64, 64}, std::nullopt};

  std::vector<Scenario> cells;
  for (const Size& size : sizes) {
    for (const auto& [op_name, op] : ops) {
      for (const auto& [tile_name, tile_k] : tiles) {
        for (const auto& grid : grids) {
          const TiledGemm gemm{size.m, size.n, size.k, 64, 64, tile_k, grid, DataType::bf16};
          const std::string name = fmt::format("{}-{}-{}-{}", size.name, op_name, tile_name, compute_blocks(gemm)->count());
          cells.push_back(scenario(name, gpus, size.iterations, Pattern::pipeline, gemm,
                                   {op, mebibytes(896), DataType::bf16, std::nullopt, std::nullopt}));
        }
      }
    }
  }
  return cells;
}

// One case for each way to make room, no control fixed. They are a persistent library GEMM (SM split) and the same beside a
// collective that copy engines could run. Others are memory-bound work (drains sooner) and GEMMs of many and of few blocks.
std::vector<Scenario> every_way(int gpus) {
  const LibraryGemm cublas{8192, 8192, 8192, DataType::bf16};
  const auto gather = [](std::int64_t mib) {
    return Collective{CollectiveOp::all_gather, mebibytes(mib), DataType::bf16, std::nullopt, std::nullopt};
  };
  return {
      scenario("cublas-8k-ar", gpus, 8, Pattern::pipeline, cublas, all_reduce(512)),
      scenario("cublas-8k-ag64", gpus, 8, Pattern::pipeline, cublas, gather(64)),
      scenario("gelu-ar", gpus, 8, Pattern::pipeline, gelu_4g(), all_reduce(512)),
      scenario("gelu-ag", gpus, 8, Pattern::pipeline, gelu_4g(), gather(512)),
      scenario("hgemm-ar", gpus, 8, Pattern::pipeline, TiledGemm{4096, 4096, 4096, 64, 64, 64, std::nullopt, DataType::bf16},
               all_reduce(512)),
      scenario("hgemm-ar-1024b", gpus, 4, Pattern::pipeline,
               TiledGemm{8192, 8192, 8192, 64, 64, 32, GridShape{32, 32}, DataType::bf16}, all_reduce(512)),
      scenario("sgemm-ar", gpus, 8, Pattern::pipeline, TiledGemm{3072, 3072, 3072, 64, 64, 16, std::nullopt, DataType::f32},
               all_reduce(256)),
  };
}

// One memory-bound case under every block budget, with NCCL's clusters and without: where each control begins to act. Then the
// cases in which all are free.
std::vector<Scenario> one_by_one(int gpus) {
  std::vector<Scenario> cases;
  for (const std::int64_t blocks : {4, 8, 12, 16, 24}) {
    cases.push_back(
        scenario(fmt::format("gelu-ar-{}b", blocks), gpus, 8, Pattern::pipeline, gelu_4g(), all_reduce(512, Blocks(blocks))));
  }
  Collective single = all_reduce(512, Blocks(8));
  single.cluster = 1;
  cases.push_back(scenario("gelu-ar-8b-cluster1", gpus, 8, Pattern::pipeline, gelu_4g(), single));
  for (Scenario& free : every_way(gpus)) { cases.push_back(std::move(free)); }
  return cases;
}

std::vector<Scenario> library(int gpus) {
  const auto collective = [](CollectiveOp op, std::int64_t mib) {
    return Collective{op, mebibytes(mib), DataType::bf16, std::nullopt, std::nullopt};
  };
  return {
      scenario("cublas-8k-ar", gpus, 8, Pattern::pipeline, LibraryGemm{8192, 8192, 8192, DataType::bf16},
               collective(CollectiveOp::all_reduce, 512)),
      scenario("cublas-4k-ar", gpus, 16, Pattern::pipeline, LibraryGemm{4096, 4096, 4096, DataType::bf16},
               collective(CollectiveOp::all_reduce, 64)),
      scenario("cublas-8k-ag", gpus, 8, Pattern::pipeline, LibraryGemm{8192, 8192, 8192, DataType::bf16},
               collective(CollectiveOp::all_gather, 512)),
      scenario("cublas-ffn-rs", gpus, 16, Pattern::pipeline, LibraryGemm{4096, 11008, 4096, DataType::bf16},
               collective(CollectiveOp::reduce_scatter, 128)),
      scenario("cublas-8k-a2a", gpus, 8, Pattern::pipeline, LibraryGemm{8192, 8192, 8192, DataType::bf16},
               collective(CollectiveOp::all_to_all, 512)),
  };
}

constexpr std::array kEveryScheme{Scheme::sequential,      Scheme::concurrent, Scheme::priority,      Scheme::shaped,
                                  Scheme::shaped_priority, Scheme::tuned,      Scheme::green_context, Scheme::comm_blocks_only,
                                  Scheme::sm_target_only,  Scheme::copy_engine};

constexpr std::array kSuites{
    Suite{"quick", "three short cases, under a minute", 10, quick, {}},
    Suite{"paper", "the source paper's sweep: GEMM size x collective x tile x blocks, 896 MB", 6, paper, {}},
    Suite{"controls", "block budgets one by one, and one case for each way to make room, under every scheme", 10, one_by_one,
          kEveryScheme},
    Suite{"library", "cuBLAS products beside each collective", 10, library, {}},
};

}  // namespace

std::span<const Suite> suites() { return kSuites; }

std::vector<std::string> share_evenly(std::vector<Scenario>& scenarios) {
  std::set<std::string> lines;
  for (Scenario& scenario : scenarios) {
    Collective& collective = scenario.collective;
    if (collective.bytes.count() % (size_of(collective.dtype).count() * scenario.gpus) == 0) { continue; }
    const std::int64_t granule = std::int64_t{256} * scenario.gpus;
    const Bytes shared(collective.bytes.count() / granule * granule);
    lines.insert(fmt::format("collectives of {} B take {} B instead, which {} ranks share evenly", collective.bytes.count(),
                             shared.count(), scenario.gpus));
    collective.bytes = shared;
  }
  return {lines.begin(), lines.end()};
}

Result<Suite> find_suite(std::string_view name) {
  std::string names;
  for (const Suite& suite : kSuites) {
    if (suite.name == name) { return suite; }
    names += fmt::format("{}{}", names.empty() ? "" : ", ", suite.name);
  }
  return invalid_input(fmt::format("suite: '{}', expected one of {}", name, names));
}

}  // namespace elbowroom
