#include "backend_sim/scenario_memory.hpp"

namespace headroom::sim {
namespace {

template <class Gemm>
Bytes operands_and_result(const Gemm& gemm, Bytes result_element) {
  return size_of(gemm.dtype) * (gemm.m * gemm.k + gemm.k * gemm.n) + result_element * (gemm.m * gemm.n);
}

Bytes memory_of(const TiledGemm& gemm) { return operands_and_result(gemm, size_of(DataType::f32)); }
Bytes memory_of(const LibraryGemm& gemm) { return operands_and_result(gemm, size_of(gemm.dtype)); }
Bytes memory_of(const Elementwise& what) { return what.bytes * 2; }

Bytes memory_of(const Collective& collective, int gpus) {
  const bool one_side_is_a_share = collective.op == CollectiveOp::all_gather || collective.op == CollectiveOp::reduce_scatter;
  return collective.bytes + (one_side_is_a_share ? collective.bytes / gpus : collective.bytes);
}

}  // namespace

Bytes memory_per_device(const Scenario& scenario) {
  const Bytes compute = std::visit([](const auto& kernel) { return memory_of(kernel); }, scenario.compute);
  return compute + memory_of(scenario.collective, scenario.gpus);
}

}  // namespace headroom::sim
