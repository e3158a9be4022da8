#pragma once

#include "interposer/core/core.hpp"
#include "interposer/cuda/driver_calls.hpp"
#include "interposer/cuda/driver_abi.hpp"

namespace elbowroom::interposer::cuda {

struct Interposer;

/// What a graph holds, child graphs included, read node by node: however its nodes were made.
GraphFacts read_graph(Interposer& state, cu::Graph graph);

/// Whether some kernel beside the collectives has a priority of its own, which the flag for node priorities would make count as well.
bool others_have_priorities(const DriverCalls& driver, cu::Graph graph);

/// Gives the graph's collectives the greatest priority where the policy says so. True: some have one, and the graph must be
/// instantiated with node priorities for it to count.
bool prioritise_collectives(Interposer& state, cu::Graph graph);

}  // namespace elbowroom::interposer::cuda
