#include "model/work_sharing.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cstddef>
#include <variant>
#include <vector>

#include "unit/model/steps.hpp"

namespace elbowroom {
namespace {

using ::testing::ElementsAre;

/// By its definition: each operation is compared with all before it.
std::vector<int> first_of_all_before(const Step& step) {
  std::vector<int> first;
  for (const Operation& operation : step.operations) {
    const auto found =
        std::ranges::find_if(step.operations, [&](const Operation& other) { return shares_memory(other, operation); });
    first.push_back(static_cast<int>(found - step.operations.begin()));
  }
  return first;
}

Bytes bytes_of(const Step& step, const Operation& operation) {
  if (const auto* compute = std::get_if<Compute>(&operation.what)) { return memory_of(*compute); }
  const std::optional<Communication> communication = communication_of(step, operation);
  if (!communication) { return Bytes(0); }
  const BufferSizes sizes = buffer_sizes(communication->collective, communication->ranks);
  return sizes.send + sizes.recv;
}

/// Of each rank what its operations need that no earlier operation brought along; the greatest.
Bytes memory_by_definition(const Step& step) {
  std::vector<Bytes> sums(static_cast<std::size_t>(step.ranks), Bytes(0));
  const std::vector<int> first = first_of_all_before(step);
  for (int at = 0; at < static_cast<int>(first.size()); ++at) {
    if (first[static_cast<std::size_t>(at)] != at) { continue; }
    const Operation& operation = step.operations[static_cast<std::size_t>(at)];
    for (const int rank : ranks_of(step, operation)) { sums[static_cast<std::size_t>(rank)] += bytes_of(step, operation); }
  }
  return *std::ranges::max_element(sums);
}

// So few values that many operations are alike in all but one of them.
Work some_work() {
  const Bytes bytes = *rc::gen::element(Bytes(1024), Bytes(2048));
  const DataType dtype = *rc::gen::element(DataType::f32, DataType::bf16);
  switch (*rc::gen::inRange(0, 4)) {
    case 0: {
      const Elementwise elementwise{*rc::gen::element(ElementwiseOp::gelu, ElementwiseOp::relu), dtype, bytes};
      return *rc::gen::element<Compute>(elementwise, LibraryGemm{*rc::gen::element(16, 32), 16, 16, dtype},
                                        TiledGemm{64, 64, 32, 64, 64, 32, std::nullopt, dtype});
    }
    case 1: {
      const std::vector<Microseconds> times(*rc::gen::inRange<std::size_t>(1, 3), Microseconds(*rc::gen::element(1.0, 2.5)));
      return RecordedKernel{
          *rc::gen::element<std::string>("gemm", "norm"), times, Blocks(*rc::gen::element(1, 2)), {}, {}, {}, {}, {}};
    }
    case 2: {
      Collective collective{*rc::gen::element(CollectiveOp::all_reduce, CollectiveOp::broadcast), bytes, dtype, {}, {}};
      collective.comm_blocks = *rc::gen::element<std::optional<Blocks>>(std::nullopt, Blocks(8));
      if (collective.op == CollectiveOp::broadcast) { collective.root = *rc::gen::element<std::optional<int>>(std::nullopt, 0, 1); }
      return collective;
    }
    default: {
      const int from = *rc::gen::inRange(0, 2);
      return SendRecv{bytes, dtype, from, 1 - from};
    }
  }
}

/// On a mesh of 2 x 2 ranks, somewhere along its axes.
Operation some_operation() {
  Operation operation;
  operation.what = some_work();
  operation.name = *rc::gen::element<std::string>("a", "b");
  if (*rc::gen::arbitrary<bool>()) { operation.lane = "side"; }
  const int along = *rc::gen::inRange(0, 2);
  if (!computes(operation)) { operation.along = {along}; }
  if (*rc::gen::arbitrary<bool>()) { operation.at = {{1 - along, *rc::gen::inRange(0, 2)}}; }
  return operation;
}

Step some_step() {
  Step step;
  step.ranks = 4;
  step.mesh = {{"dp", 2}, {"pp", 2}};
  const std::size_t count = *rc::gen::inRange<std::size_t>(1, 60);
  for (std::size_t at = 0; at < count; ++at) { step.operations.push_back(some_operation()); }
  return step;
}

RC_GTEST_PROP(WorkSharing, IsThatOfAllPairs, ()) {
  const Step step = some_step();
  RC_ASSERT(detail::first_sharing_memory(step) == first_of_all_before(step));
}

RC_GTEST_PROP(WorkSharing, MemoryIsThatOfItsDefinition, ()) {
  const Step step = some_step();
  RC_ASSERT(memory_per_device(step) == memory_by_definition(step));
}

TEST(WorkSharing, PlaceAndWorkCountAndNamesDoNot) {
  Step step = two_stages();
  Operation again = step.operations[0];
  again.name = "again";
  again.lane = "side";
  Operation other = step.operations[0];
  other.what = Elementwise{ElementwiseOp::relu, DataType::f32, mebibytes(64)};
  step.operations.insert(step.operations.end(), {again, other, step.operations[1], other});
  // front, act, back, front again, another kernel, act again, the other kernel again.
  EXPECT_THAT(detail::first_sharing_memory(step), ElementsAre(0, 1, 2, 0, 4, 1, 4));
  // Rank 0: 64 MiB read and written by each of two kernels, a send buffer and a receive buffer of 16 MiB.
  EXPECT_EQ(memory_per_device(step), mebibytes(2 * 128 + 32));
}

}  // namespace
}  // namespace elbowroom
