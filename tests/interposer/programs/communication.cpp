#include <cstring>
#include <initializer_list>

#include "driver_program.hpp"
#include "two_streams.hpp"

// Kernels that a rule names as communication: they go as the program asked, nothing waits for them, and they open windows. Then
// which collectives get a priority.

namespace {

void named() {
  use_device(0);
  const cu::Stream compute = make_stream();
  const cu::Stream comm = make_stream();
  const cu::Function gemm = fake_function("gemm", 64, 0);
  const cu::Function exchange = fake_function("_ZN4mine11my_exchangeEPv", 96, 21568);
  fake_reset();
  EXPECT(launch_on(comm, exchange, 24) == 0 && launch_on(compute, gemm) == 0);
  EXPECT(fake_call_count() == 2 && is_call(0, "cuLaunchKernel") && is_call(1, "cuLaunchKernel"));
  EXPECT(fake_call(0)->attribute_count == 0);
  // It does not wait for a collective that is known either.
  EXPECT(launch_on(make_stream(), fake_function(kAllReduce, 96, 21568), 24) == 0);
  fake_reset();
  EXPECT(launch_on(compute, gemm) == 0 && fake_call_count() == 2 && is_call(0, "cuStreamWaitEvent"));
  EXPECT(launch_on(comm, exchange, 4096) == 0 && fake_call_count() == 3 && is_call(2, "cuLaunchKernel"));
  // It may leave the next collective no room until other ranks have come.
  EXPECT(launch_on(make_stream(), fake_function(kAllReduce, 96, 21568), 24) == 0);
  fake_reset();
  EXPECT(launch_on(compute, gemm) == 0 && fake_call_count() == 1);
}

// A graph that holds one is like a collective: what its stream launches next queues behind another.
void graphed() {
  for (const char* name : {"gemm", "_ZN4mine11my_exchangeEPv", kAllReduce}) {
    const TwoStreams two;
    EXPECT(cuStreamBeginCapture_v2(two.comm, cu::kCaptureModeRelaxed) == 0);
    EXPECT(launch_on(two.comm, fake_function(name, 96, 0), 24) == 0);
    cu::Graph graph = nullptr;
    cu::GraphExec exec = nullptr;
    EXPECT(cuStreamEndCapture(two.comm, &graph) == 0 && cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
    EXPECT(cuGraphLaunch(exec, two.comm) == 0 && launch_on(two.comm, two.all_reduce, 24) == 0);
    fake_reset();
    const std::size_t calls = std::strcmp(name, "gemm") == 0 ? 2 : 1;
    EXPECT(launch_on(two.compute, two.gemm) == 0 && fake_call_count() == calls);
    EXPECT(cuCtxSynchronize() == 0);
  }
}

// Blocks that could take every SM would stand before those of a product that the peers wait for.
void priority_leaves_an_sm() {
  const TwoStreams two;
  const auto goes_first = [&](cu::Function function, unsigned blocks) {
    EXPECT(launch_on(make_stream(), function, blocks) == 0);
    return attribute_of(*fake_call(fake_call_count() - 1), cu::kLaunchPriority) != nullptr;
  };
  EXPECT(goes_first(two.all_reduce, 64) && !goes_first(two.all_reduce, 4096) && !goes_first(two.all_reduce, 68));
  EXPECT(goes_first(two.all_reduce, 64) && cuCtxSynchronize() == 0);
  EXPECT(goes_first(two.all_reduce, 131) && cuCtxSynchronize() == 0 && !goes_first(two.all_reduce, 132));
  EXPECT(!goes_first(fake_function("_ZN9deep_gemm28sm100_fp8_fp4_mega_moe_implE", 255, 0), 24));
}

cu::GraphNode add_node(cu::Graph graph, cu::Function function, unsigned blocks, cu::GraphNode behind = nullptr) {
  cu::KernelNodeParamsV2 parameters{};
  parameters.v1 = {function, blocks, 1, 1, 544, 1, 1, 0, nullptr, nullptr};
  cu::GraphNode node = nullptr;
  EXPECT(cuGraphAddKernelNode_v2(&node, graph, &behind, behind == nullptr ? 0 : 1, &parameters) == 0);
  return node;
}

bool uses_node_priorities(cu::Graph graph) {
  cu::GraphExec exec = nullptr;
  EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
  return fake_call(fake_call_count() - 1)->flags == cu::kInstantiateUseNodePriority;
}

// The same of a graph, where collectives that stand behind one another do not meet.
void node_priority_leaves_an_sm() {
  const TwoStreams two;
  cu::Graph graph = nullptr;
  EXPECT(cuGraphCreate(&graph, 0) == 0);
  const cu::GraphNode product = add_node(graph, two.gemm, 4096);
  const cu::GraphNode large = add_node(graph, two.all_reduce, 132);
  cu::GraphNode fused = add_node(graph, fake_function("_ZN9deep_gemm28sm100_fp8_fp4_mega_moe_implE", 255, 0), 24);
  EXPECT(!uses_node_priorities(graph) && fake_counted_priority(large) == 0);
  add_node(graph, two.all_reduce, 64, product);
  EXPECT(!uses_node_priorities(graph) && fake_counted_priority(large) == 0);
  EXPECT(cuGraphCreate(&graph, 0) == 0);
  const cu::GraphNode first = add_node(graph, two.all_reduce, 64, add_node(graph, two.gemm, 4096));
  fused = add_node(graph, fake_function("_ZN9deep_gemm28sm100_fp8_fp4_mega_moe_implE", 255, 0), 24);
  EXPECT(uses_node_priorities(graph) && fake_counted_priority(first) == kGreatestPriority && fake_counted_priority(fused) == 0);
  cu::GraphNode last = add_node(graph, two.all_reduce, 64, first);
  for (int i = 0; i < 8; ++i) { last = add_node(graph, two.all_reduce, 64, add_node(graph, two.gemm, 4096, last)); }
  EXPECT(uses_node_priorities(graph) && fake_counted_priority(last) == kGreatestPriority);
  add_node(graph, two.all_reduce, 67);
  EXPECT(uses_node_priorities(graph));
  add_node(graph, two.all_reduce, 1);
  EXPECT(!uses_node_priorities(graph));
}

// What of a graph goes first counts beside what is launched while it runs.
void graph_beside_collectives() {
  const TwoStreams two;
  cu::Graph graph = nullptr;
  cu::GraphExec exec = nullptr;
  EXPECT(cuGraphCreate(&graph, 0) == 0);
  add_node(graph, two.gemm, 4096);
  add_node(graph, two.all_reduce, 100);
  EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0 && cuGraphLaunch(exec, two.compute) == 0);
  const auto goes_first = [&](unsigned blocks) {
    EXPECT(launch_on(make_stream(), two.all_reduce, blocks) == 0);
    return attribute_of(*fake_call(fake_call_count() - 1), cu::kLaunchPriority) != nullptr;
  };
  EXPECT(!goes_first(32) && goes_first(31));
}

// 132 SMs. An exchange has priority by its stream, whatever created that. With its 100 blocks a collective of 40 would leave none.
void stream_priority_leaves_an_sm() {
  const TwoStreams two;
  cu::Stream first = nullptr;
  EXPECT(cuStreamCreateWithPriority(&first, cu::kStreamNonBlocking, kGreatestPriority) == 0);
  EXPECT(launch_on(first, fake_function("_ZN4mine11my_exchangeEPv", 96, 0), 100) == 0);
  EXPECT(launch_on(two.comm, two.all_reduce, 40) == 0);
  EXPECT(attribute_of(*fake_call(fake_call_count() - 1), cu::kLaunchPriority) == nullptr);
  EXPECT(cuCtxSynchronize() == 0 && launch_on(two.comm, two.all_reduce, 40) == 0);
  EXPECT(attribute_of(*fake_call(fake_call_count() - 1), cu::kLaunchPriority) != nullptr);
}

constexpr Case kCases[] = {{"stream_priority_leaves_an_sm", stream_priority_leaves_an_sm},
                           {"named", named},
                           {"graphed", graphed},
                           {"priority_leaves_an_sm", priority_leaves_an_sm},
                           {"node_priority_leaves_an_sm", node_priority_leaves_an_sm},
                           {"graph_beside_collectives", graph_beside_collectives}};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
