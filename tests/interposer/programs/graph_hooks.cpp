#include "hook_cases.hpp"

// Hooks that change one node of an executable graph.

namespace {

cu::Graph graph_of(cu::Function function) {
  cu::Graph graph = nullptr;
  cu::GraphNode node = nullptr;
  cu::KernelNodeParamsV2 parameters{};
  parameters.v1.function = function;
  EXPECT(cuGraphCreate(&graph, 0) == 0 && cuGraphAddKernelNode_v2(&node, graph, nullptr, 0, &parameters) == 0);
  return graph;
}

// The driver refuses a child graph with other priorities: its collective gets that of the one before.
template <class Update>
void child_updated(Update update) {
  const Lanes lanes;
  cu::GraphExec exec = nullptr;
  cu::GraphNode child = nullptr;
  const cu::Graph whole = graph_of(lanes.gemm);
  EXPECT(cuGraphAddChildGraphNode(&child, whole, nullptr, 0, graph_of(lanes.all_reduce)) == 0);
  EXPECT(cuGraphInstantiateWithFlags(&exec, whole, 0) == 0);
  EXPECT(update(exec, child, graph_of(lanes.all_reduce)) == 0);
}

int set_child(cu::GraphExec exec, cu::GraphNode node, cu::Graph child) {
  cu::GraphNodeParams parameters{cu::kGraphNodeChild, {}, {child}};
  return cuGraphExecNodeSetParams(exec, node, &parameters);
}

bool waits_behind(const Lanes& lanes, cu::GraphExec exec) {
  EXPECT(cuGraphLaunch(exec, lanes.comm) == 0);
  return lanes.waits_for(lanes.comm);
}

// A child graph of a product becomes one of a collective.
template <class Update>
void child_becomes_collective(Update update) {
  const Lanes lanes;
  cu::Graph whole = nullptr;
  cu::GraphNode child = nullptr;
  cu::GraphExec exec = nullptr;
  EXPECT(cuGraphCreate(&whole, 0) == 0 && cuGraphAddChildGraphNode(&child, whole, nullptr, 0, graph_of(lanes.gemm)) == 0);
  EXPECT(cuGraphInstantiateWithFlags(&exec, whole, 0) == 0);
  EXPECT(update(exec, child, graph_of(lanes.gemm)) == 0 && waits_behind(lanes, exec));
  EXPECT(update(exec, child, graph_of(lanes.all_reduce)) == 0 && !waits_behind(lanes, exec));
}

// A graph of a product becomes one of a collective, whose peers may be late: what stands behind it is not waited for.
template <class Update>
void kernel_updated(Update update) {
  const Lanes lanes;
  cu::Graph graph = nullptr;
  cu::GraphNode node = nullptr;
  cu::GraphExec exec = nullptr;
  cu::KernelNodeParamsV2 kernel{};
  kernel.v1.function = lanes.gemm;
  EXPECT(cuGraphCreate(&graph, 0) == 0 && cuGraphAddKernelNode_v2(&node, graph, nullptr, 0, &kernel) == 0);
  EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
  EXPECT(update(exec, node, kernel) == 0 && waits_behind(lanes, exec));
  kernel.v1.function = lanes.all_reduce;
  EXPECT(update(exec, node, kernel) == 0 && !waits_behind(lanes, exec));
}

int set_kernel(cu::GraphExec exec, cu::GraphNode node, const cu::KernelNodeParamsV2& kernel) {
  cu::GraphNodeParams parameters{};
  parameters.type = cu::kGraphNodeKernel;
  parameters.kernel = kernel;
  return cuGraphExecNodeSetParams(exec, node, &parameters);
}

// A graph is made ready behind the launch before, and so is what follows on that stream.
template <class Upload>
void uploaded(Upload upload, bool of_thread) {
  const Lanes lanes;
  const cu::Stream late = make_stream();
  cu::GraphExec exec = nullptr;
  EXPECT(cuGraphInstantiateWithFlags(&exec, graph_of(lanes.gemm), 0) == 0);
  const auto waits_behind_it = [&] {
    lanes.collective(late);
    EXPECT(lanes.product_waits(lanes.compute) && cuGraphLaunch(exec, late) == 0);
    EXPECT(upload(exec, of_thread ? nullptr : lanes.comm) == 0);
    return of_thread ? lanes.waits_for_thread() : lanes.waits_for(lanes.comm);
  };
  EXPECT(!waits_behind_it());
  lanes.collective(late);
  EXPECT(lanes.product_waits(lanes.compute) && lanes.waits_for(lanes.comm));
  // The other way round.
  lanes.collective(lanes.comm);
  EXPECT(lanes.product_waits(lanes.compute) && upload(exec, lanes.comm) == 0 && cuGraphLaunch(exec, late) == 0);
  EXPECT(!lanes.waits_for(late));
}

constexpr Case kCases[] = {
    {"cuGraphExecChildGraphNodeSetParams",
     [] {
       child_updated(&cuGraphExecChildGraphNodeSetParams);
       child_becomes_collective(&cuGraphExecChildGraphNodeSetParams);
     }},
    {"cuGraphExecKernelNodeSetParams",
     [] {
       kernel_updated([](cu::GraphExec exec, cu::GraphNode node, const cu::KernelNodeParamsV2& kernel) {
         return cuGraphExecKernelNodeSetParams(exec, node, &kernel.v1);
       });
     }},
    {"cuGraphExecKernelNodeSetParams_v2",
     [] {
       kernel_updated([](cu::GraphExec exec, cu::GraphNode node, const cu::KernelNodeParamsV2& kernel) {
         return cuGraphExecKernelNodeSetParams_v2(exec, node, &kernel);
       });
     }},
    {"cuGraphUpload", [] { uploaded(&cuGraphUpload, false); }},
    {"cuGraphUpload_ptsz", [] { uploaded(&cuGraphUpload_ptsz, true); }},
    {"cuGraphExecNodeSetParams",
     [] {
       child_updated(&set_child);
       child_becomes_collective(&set_child);
       kernel_updated(&set_kernel);
     }},
};

}  // namespace

int main(int argc, char** argv) { return run_hook_cases(kCases, argc, argv); }
