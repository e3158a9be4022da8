#include "elbowroom/model/collective_facts.hpp"

#include <array>
#include <cstddef>

namespace elbowroom {
namespace {

using Engines = CollectiveFacts::Engines;

// Rings pass every share on to all but one rank, twice for an all-reduce.
double once(double bytes, int gpus) { return bytes * (gpus - 1) / gpus; }
double twice(double bytes, int gpus) { return 2.0 * once(bytes, gpus); }

constexpr std::array kCollectives{
    CollectiveFacts{CollectiveOp::all_reduce, "all_reduce", true, true, twice, true, false, Engines::gathering_half, "", ""},
    CollectiveFacts{CollectiveOp::all_gather, "all_gather", false, true, once, false, false, Engines::all, "", ""},
    CollectiveFacts{CollectiveOp::reduce_scatter, "reduce_scatter", true, false, once, true, false, Engines::nothing,
                    "copy engines do not add", ""},
    CollectiveFacts{CollectiveOp::all_to_all, "all_to_all", true, true, once, false, true, Engines::all, "",
                    "NCCL's send and receive"},
};

}  // namespace

std::span<const CollectiveFacts> collectives() { return kCollectives; }

const CollectiveFacts& facts_of(CollectiveOp op) { return kCollectives[static_cast<std::size_t>(op)]; }

}  // namespace elbowroom
