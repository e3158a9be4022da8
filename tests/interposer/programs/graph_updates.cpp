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

// The priority is that of the instantiation, whichever context is current when the graph is updated.
void updated_without_context() {
  const TwoStreams two;
  cu::GraphExec exec = nullptr;
  EXPECT(cuGraphInstantiateWithFlags(&exec, graph_of(two, 24), 0) == 0 && cuCtxSetCurrent(nullptr) == 0);
  EXPECT(cuGraphExecUpdate_v2(exec, graph_of(two, 24), nullptr) == 0);
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

cu::Graph captured_with_others_priority(const TwoStreams& two) {
  cu::Graph graph = nullptr;
  cu::GraphNode node = nullptr;
  const cu::KernelNodeParamsV2 product = kernel(two.gemm, 4096);
  cu::LaunchAttributeValue own{};
  own.priority = -3;
  EXPECT(cuStreamBeginCapture_v2(two.comm, cu::kCaptureModeRelaxed) == 0 && launch_on(two.comm, two.all_reduce, 24) == 0);
  EXPECT(cuStreamEndCapture(two.comm, &graph) == 0 && cuGraphAddKernelNode_v2(&node, graph, nullptr, 0, &product) == 0);
  EXPECT(cuGraphKernelNodeSetAttribute(node, cu::kLaunchPriority, &own) == 0);
  return graph;
}

// A graph in which priorities of the program count is the program's: what it captures again is equal, also where collectives go
// first at one time and not at the other.
void priorities_of_program() {
  const TwoStreams two;
  cu::GraphExec exec = nullptr;
  const cu::Graph first = captured_with_others_priority(two);
  EXPECT(cuGraphInstantiateWithFlags(&exec, first, cu::kInstantiateUseNodePriority) == 0);
  cu::Stream small = nullptr;
  EXPECT(cuGreenCtxStreamCreate(&small, fake_green_context(16), cu::kStreamNonBlocking, 0) == 0);
  EXPECT(cuGraphExecUpdate_v2(exec, captured_with_others_priority(two), nullptr) == 0);
}

bool goes_first(const TwoStreams& two, unsigned blocks) {
  EXPECT(launch_on(two.comm, two.all_reduce, blocks) == 0);
  const bool first = attribute_of(*fake_call(fake_call_count() - 1), cu::kLaunchPriority) != nullptr;
  EXPECT(cuCtxSynchronize() == 0);
  return first;
}

/// Of a collective alone, which the program gave that priority.
cu::Graph graph_with_priority(const TwoStreams& two, int priority) {
  cu::Graph graph = nullptr;
  cu::GraphNode node = nullptr;
  const cu::KernelNodeParamsV2 parameters = kernel(two.all_reduce, 24);
  cu::LaunchAttributeValue value{};
  value.priority = priority;
  EXPECT(cuGraphCreate(&graph, 0) == 0 && cuGraphAddKernelNode_v2(&node, graph, nullptr, 0, &parameters) == 0);
  EXPECT(cuGraphKernelNodeSetAttribute(node, cu::kLaunchPriority, &value) == 0);
  return graph;
}

// Collectives with a priority that the program gave them may hold all SMs. The environment can make theirs count as well.
void priorities_of_program_count() {
  const TwoStreams two;
  cu::GraphExec exec = nullptr;
  const auto beside = [&](unsigned long long flags, int priority) {
    EXPECT(cuGraphInstantiateWithFlags(&exec, graph_with_priority(two, priority), flags) == 0);
    EXPECT(cuGraphLaunch(exec, two.compute) == 0);
    return goes_first(two, 24);
  };
  EXPECT(beside(0, -1) && beside(cu::kInstantiateUseNodePriority, 0) && !beside(cu::kInstantiateUseNodePriority, -1));
  EXPECT(cuGraphExecUpdate_v2(exec, graph_with_priority(two, -1), nullptr) == 0 && cuGraphLaunch(exec, two.compute) == 0);
  EXPECT(!goes_first(two, 24));
  EXPECT(setenv("CUDA_GRAPHS_USE_NODE_PRIORITY", "0", 1) == 0 && beside(0, -1));
  EXPECT(setenv("CUDA_GRAPHS_USE_NODE_PRIORITY", "1", 1) == 0 && !beside(0, -1));
}

// A cluster of 4 has room where 3 x 16 + 1 = 49 of 132 SMs are left over: beside 83 blocks, and not beside 84.
void beside_clusters() {
  const TwoStreams two;
  cu::GraphExec exec = nullptr;
  EXPECT(takes_priorities(exec, graph_of(two, 84)));
  cu::LaunchAttribute cluster{};
  cluster.id = cu::kLaunchClusterDimension;
  cluster.value.cluster_dim = {4, 1, 1};
  const cu::LaunchConfig config{4096, 1, 1, 544, 1, 1, 0, two.compute, &cluster, 1};
  EXPECT(cuLaunchKernelEx(&config, two.gemm, nullptr, nullptr) == 0);
  EXPECT(takes_priorities(exec, graph_of(two, 83)) && !takes_priorities(exec, graph_of(two, 84)));
}

constexpr Case kCases[] = {{"updated_without_context", updated_without_context},
                           {"beside_clusters", beside_clusters},
                           {"priorities_of_program", priorities_of_program},
                           {"priorities_of_program_count", priorities_of_program_count},
                           {"across_all_sms", across_all_sms},
                           {"launched_with_priority", launched_with_priority},
                           {"launched_by_kernels", launched_by_kernels},
                           {"launched_by_kernels_with_params", launched_by_kernels_with_params}};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
