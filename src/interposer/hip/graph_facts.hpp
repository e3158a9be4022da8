#pragma once

#include "interposer/core/core.hpp"
#include "interposer/hip/hip_abi.hpp"

namespace elbowroom::interposer::hip {

struct Interposer;

/// What a graph holds, child graphs included, read node by node: however its nodes were made. Empty on runtimes before 6.0, whose types of
/// nodes were numbered in another way.
GraphFacts read_graph(Interposer& state, hip::Graph graph);

/// Gives the graph's collectives the greatest priority where the policy says so. True: some have one, and the graph must be
/// instantiated with node priorities for it to count.
bool prioritise_collectives(Interposer& state, hip::Graph graph);

}  // namespace elbowroom::interposer::hip
