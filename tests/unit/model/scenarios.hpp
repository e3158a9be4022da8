#pragma once

#include <rapidcheck.h>

#include <optional>
#include <string>

#include "elbowroom/model/scenario.hpp"

namespace elbowroom::testing {

inline rc::Gen<DataType> any_dtype() { return rc::gen::element(DataType::f32, DataType::bf16); }

/// A tiled GEMM whose sides are whole tiles and whose grid, if any, is no larger than the tiles.
inline rc::Gen<Compute> any_tiled_gemm() {
  return rc::gen::exec([] {
    const auto tile = rc::gen::inRange<std::int64_t>(1, 257);
    const auto count = rc::gen::inRange<std::int64_t>(1, 129);
    TiledGemm gemm;
    gemm.tile_m = *tile;
    gemm.tile_n = *tile;
    gemm.tile_k = *tile;
    const GridShape tiles{*count, *count};
    gemm.n = tiles.x * gemm.tile_n;
    gemm.m = tiles.y * gemm.tile_m;
    gemm.k = *count * gemm.tile_k;
    if (*rc::gen::arbitrary<bool>()) {
      gemm.grid = GridShape{*rc::gen::inRange<std::int64_t>(1, tiles.x + 1), *rc::gen::inRange<std::int64_t>(1, tiles.y + 1)};
    }
    gemm.dtype = *any_dtype();
    return Compute(gemm);
  });
}

inline rc::Gen<Compute> any_library_gemm() {
  return rc::gen::exec([] {
    const auto eighth = rc::gen::inRange<std::int64_t>(1, (1 << 17) + 1);
    LibraryGemm gemm;
    gemm.m = 8 * *eighth;
    gemm.n = 8 * *eighth;
    gemm.k = 8 * *eighth;
    gemm.dtype = *any_dtype();
    return Compute(gemm);
  });
}

inline rc::Gen<Compute> any_elementwise() {
  return rc::gen::exec([] {
    const ElementwiseOp op = *rc::gen::element(ElementwiseOp::gelu, ElementwiseOp::relu, ElementwiseOp::copy);
    return Compute(Elementwise{op, *any_dtype(), Bytes(16 * *rc::gen::inRange<std::int64_t>(1, std::int64_t{1} << 40))});
  });
}

inline rc::Gen<Collective> any_collective(int gpus) {
  return rc::gen::exec([gpus] {
    Collective collective;
    collective.op = *rc::gen::element(CollectiveOp::all_reduce, CollectiveOp::all_gather, CollectiveOp::reduce_scatter,
                                      CollectiveOp::all_to_all);
    collective.dtype = *any_dtype();
    // At most 4 B x 8 ranks x 2^39 = 16 TiB.
    collective.bytes = size_of(collective.dtype) * gpus * *rc::gen::inRange<std::int64_t>(1, std::int64_t{1} << 39);
    if (*rc::gen::arbitrary<bool>()) { collective.comm_blocks = Blocks(*rc::gen::inRange<std::int64_t>(1, 65)); }
    if (*rc::gen::arbitrary<bool>()) { collective.cluster = *rc::gen::inRange(1, 9); }
    return collective;
  });
}

/// Every scenario that keeps the rules, with names that JSON has to escape.
inline rc::Gen<Scenario> any_scenario() {
  return rc::gen::exec([] {
    Scenario scenario;
    scenario.name = *rc::gen::nonEmpty(rc::gen::container<std::string>(rc::gen::inRange(' ', '~')));
    if (*rc::gen::arbitrary<bool>()) { scenario.name += "-µs"; }
    scenario.gpus = *rc::gen::inRange(2, 9);
    scenario.iterations = *rc::gen::inRange(1, 10'001);
    scenario.pattern = *rc::gen::element(Pattern::pipeline, Pattern::pair);
    scenario.compute = *rc::gen::oneOf(any_tiled_gemm(), any_library_gemm(), any_elementwise());
    scenario.collective = *any_collective(scenario.gpus);
    return scenario;
  });
}

}  // namespace elbowroom::testing

namespace rc {
inline void showValue(const elbowroom::Scenario& scenario, std::ostream& out) { out << elbowroom::to_json(scenario, -1); }
}  // namespace rc
