#include <initializer_list>

#include "two_streams.hpp"

// Executable graphs that change after they were made, or run without the host.

namespace {

cu::KernelNodeParamsV2 kernel(cu::Function function, unsigned blocks) {
  cu::KernelNodeParamsV2 parameters{};
  parameters.v1 = {function, blocks, 1, 1, 544, 1, 1, 0, nullptr, nullptr};
  return parameters;
}

/// A product and a collective of so many blocks.
cu::Graph graph_of(const TwoStreams& two, unsigned blocks) {
  cu::Graph graph = nullptr;
  EXPECT(cuGraphCreate(&graph, 0) == 0);
  for (const cu::KernelNodeParamsV2& parameters : {kernel(two.gemm, 4096), kernel(two.all_reduce, blocks)}) {
    cu::GraphNode node = nullptr;
    EXPECT(cuGraphAddKernelNode_v2(&node, graph, nullptr, 0, &parameters) == 0);
  }
  return graph;
}

// The program's update is the driver's to refuse, whether or not its collective leaves an SM to others as it did before.
void across_all_sms() {
  const TwoStreams two;
  for (const unsigned before : {24U, 132U}) {
    cu::GraphExec exec = nullptr;
    EXPECT(cuGraphInstantiateWithFlags(&exec, graph_of(two, before), 0) == 0);
    for (const unsigned after : {156U - before, before}) { EXPECT(cuGraphExecUpdate_v2(exec, graph_of(two, after), nullptr) == 0); }
  }
}

bool product_waits(const TwoStreams& two) {
  const std::size_t waits = fake_times_called("cuStreamWaitEvent");
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && launch_on(two.compute, two.gemm) == 0);
  const bool waited = fake_times_called("cuStreamWaitEvent") > waits;
  EXPECT(cuCtxSynchronize() == 0);
  return waited;
}

// A kernel launches the graph, and whatever the host launches behind that kernel stands behind the graph's collective.
void launched_by_kernels() {
  const TwoStreams two;
  cu::GraphExec exec = nullptr;
  EXPECT(cuGraphInstantiateWithFlags(&exec, graph_of(two, 24), 0) == 0 && product_waits(two));
  EXPECT(cuGraphInstantiateWithFlags(&exec, graph_of(two, 24), cu::kInstantiateDeviceLaunch) == 0 && !product_waits(two));
}

void launched_by_kernels_with_params() {
  const TwoStreams two;
  cu::GraphExec exec = nullptr;
  cu::GraphInstantiateParams parameters{};
  EXPECT(product_waits(two));
  parameters.flags = cu::kInstantiateDeviceLaunch;
  EXPECT(cuGraphInstantiateWithParams(&exec, graph_of(two, 24), &parameters) == 0 && !product_waits(two));
}

bool takes_priorities(cu::GraphExec& exec, cu::Graph graph) {
  EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
  return fake_call(fake_call_count() - 1)->flags == cu::kInstantiateUseNodePriority;
}

// With priorities of nodes the program's kernels do not get that of the stream which it launches the graph on.
void launched_with_priority() {
  const TwoStreams two;
  cu::Stream urgent = nullptr;
  cu::GraphExec exec = nullptr, child = nullptr;
  EXPECT(cuStreamCreateWithPriority(&urgent, cu::kStreamNonBlocking, -1) == 0);
  EXPECT(takes_priorities(exec, graph_of(two, 24)) && cuGraphLaunch(exec, two.compute) == 0);
  EXPECT(takes_priorities(exec, graph_of(two, 24)) && takes_priorities(child, graph_of(two, 24)));
  // Captured, it gets the priorities of that graph's nodes, and to ask the stream would break the capture.
  cu::Graph captured = nullptr;
  EXPECT(cuStreamBeginCapture_v2(urgent, cu::kCaptureModeRelaxed) == 0 && cuGraphLaunch(child, urgent) == 0);
  EXPECT(cuStreamEndCapture(urgent, &captured) == 0 && takes_priorities(child, graph_of(two, 24)));
  EXPECT(cuGraphLaunch(exec, urgent) == 0 && !takes_priorities(exec, graph_of(two, 24)));
}

constexpr Case kCases[] = {{"across_all_sms", across_all_sms},
                           {"launched_with_priority", launched_with_priority},
                           {"launched_by_kernels", launched_by_kernels},
                           {"launched_by_kernels_with_params", launched_by_kernels_with_params}};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
