#include <unistd.h>

#include <initializer_list>

#include "driver_program.hpp"
#include "objects.hpp"

// Stream capture and graphs.

namespace {

struct TwoStreams {
  cu::Context context = use_device(0);
  cu::Stream compute = make_stream();
  cu::Stream comm = make_stream();
  cu::Event forked = make_event();
  cu::Event joined = make_event();
  cu::Function gemm = fake_function("gemm", 64, 0);
  cu::Function all_reduce = fake_function(kAllReduce, 96, 21568);

  TwoStreams() { fake_reset(); }

  // The step that most programs capture: a collective beside a product, forked from and joined to the capturing stream.
  cu::Graph capture_step() const {
    EXPECT(cuStreamBeginCapture_v2(compute, cu::kCaptureModeGlobal) == 0);
    EXPECT(cuEventRecord(forked, compute) == 0 && cuStreamWaitEvent(comm, forked, 0) == 0);
    EXPECT(launch_on(comm, all_reduce, 24) == 0);
    EXPECT(launch_on(compute, gemm) == 0);
    EXPECT(cuEventRecord(joined, comm) == 0 && cuStreamWaitEvent(compute, joined, 0) == 0);
    cu::Graph graph = nullptr;
    EXPECT(cuStreamEndCapture(compute, &graph) == 0 && graph != nullptr);
    return graph;
  }
};

std::size_t calls_named(const char* name) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < fake_call_count(); ++i) { count += is_call(i, name) ? 1 : 0; }
  return count;
}

// A capture in global mode is broken by calls such as cuEventQuery: none of ours may fall into it, and each launch is captured
// once.
void capture() {
  const TwoStreams two;
  for (int step = 0; step < 3; ++step) {
    EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0);  // outside, and timed where the policy times
    const cu::Graph graph = two.capture_step();
    cu::GraphExec exec = nullptr;
    EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
    EXPECT(cuGraphLaunch(exec, two.compute) == 0);
    EXPECT(cuGraphExecDestroy(exec) == 0);
  }
  std::size_t launches = 0;
  for (std::size_t i = 0; i < fake_call_count(); ++i) {
    launches += fake_call(i)->function != nullptr && fake_call(i)->result == 0 ? 1 : 0;
  }
  EXPECT(launches == 9 && calls_named("cuGraphLaunch") == 3);
}

// auto: the program has come to a rest, in which streams are not followed, when it captures a step.
void capture_at_rest() {
  const TwoStreams two;
  for (int i = 0; i < 150 * 16; ++i) {
    EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && launch_on(two.compute, two.gemm, 4096) == 0);
  }
  fake_reset();
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && launch_on(two.compute, two.gemm, 4096) == 0);
  EXPECT(fake_call_count() == 2);
  static_cast<void>(two.capture_step());
}

// auto: six launches of a graph with a collective are a step, whose time is asked for by an event before the graph. No arm acts on
// them, so that the comparison ends in its second round, and a graph costs nothing more from then on.
void graph_steps() {
  const TwoStreams two;
  cu::GraphExec exec = nullptr;
  EXPECT(cuGraphInstantiateWithFlags(&exec, two.capture_step(), 0) == 0);
  double clock = 1.0;
  const auto launch_steps = [&](int steps) {
    fake_reset();
    for (int i = 0; i < 6 * steps; ++i) {
      EXPECT(cuGraphLaunch(exec, two.compute) == 0);
      fake_set_clock(clock += 1.0);
      if (i % 6 == 0) { usleep(250); }  // times come in every 0.2 ms
    }
  };
  launch_steps(60);
  const std::size_t recorded = calls_named("cuEventRecord");
  EXPECT(recorded > 15 && recorded < 45);
  EXPECT(calls_named("cuEventQuery") > 10);  // which comes before each time that is read
  launch_steps(10);
  EXPECT(fake_call_count() == 60 && calls_named("cuGraphLaunch") == 60);
}

// Both launches are in one capture: the gate is captured with them, by an event that no launch outside uses.
void captured_gate() {
  const TwoStreams two;
  two.capture_step();
  const cu::LaunchAttribute* completion = attribute_of(*fake_call(3), cu::kLaunchCompletionEvent);
  EXPECT(is_call(3, "cuLaunchKernelEx") && fake_call(3)->function == two.all_reduce && completion != nullptr);
  const cu::Event captured = completion->value.launch_completion_event.event;
  EXPECT(is_call(4, "cuStreamWaitEvent") && fake_call(4)->stream == two.compute && fake_call(4)->event == captured);
  EXPECT(is_call(5, "cuLaunchKernel") && fake_call(5)->function == two.gemm);
  fake_reset();
  for (int i = 0; i < 64; ++i) { EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0); }
  for (std::size_t i = 0; i < fake_call_count(); ++i) {
    completion = attribute_of(*fake_call(i), cu::kLaunchCompletionEvent);
    EXPECT(completion != nullptr && completion->value.launch_completion_event.event != captured);
  }
}

// A collective outside the capture is no reason for one inside to wait.
void gate_across_capture() {
  const TwoStreams two;
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0);
  EXPECT(cuStreamBeginCapture_v2(two.compute, cu::kCaptureModeGlobal) == 0);
  EXPECT(launch_on(two.compute, two.gemm) == 0);
  cu::Graph graph = nullptr;
  EXPECT(cuStreamEndCapture(two.compute, &graph) == 0);
  EXPECT(calls_named("cuStreamWaitEvent") == 0);
}

// A capture that begins by an entry point of which nobody knows here: what runs outside stays outside.
void unseen_capture() {
  const TwoStreams two;
  fake::begin_capture(two.comm, cu::kCaptureModeThreadLocal);
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0);
  EXPECT(launch_on(two.compute, two.gemm) == 0);
  EXPECT(fake::capture_of(two.compute) == nullptr && calls_named("cuStreamWaitEvent") == 0);
  bool broken = false;
  EXPECT(fake::end_capture(two.comm, broken) != nullptr && !broken);
  // The other way round: what is captured waits for nothing outside.
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0);
  fake::begin_capture(two.compute, cu::kCaptureModeThreadLocal);
  EXPECT(launch_on(two.compute, two.gemm) == 0);
  EXPECT(calls_named("cuStreamWaitEvent") == 0);
}

// The program's capture that its own call has broken ends with the driver's code.
void broken_capture() {
  const TwoStreams two;
  EXPECT(cuStreamBeginCapture_v2(two.compute, cu::kCaptureModeGlobal) == 0);
  EXPECT(cuEventQuery(two.joined) == 900);
  cu::Graph graph = nullptr;
  EXPECT(cuStreamEndCapture(two.compute, &graph) == 901 && graph == nullptr);
  EXPECT(launch_on(two.compute, two.gemm) == 0);
}

void node_priority() {
  const TwoStreams two;
  const cu::Graph graph = two.capture_step();
  cu::GraphExec exec = nullptr;
  EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 1) == 0);
  EXPECT(fake_call(fake_call_count() - 1)->flags == (1 | cu::kInstantiateUseNodePriority));
  EXPECT(cuGraphInstantiate_v2(&exec, graph, nullptr, nullptr, 0) == 0);
  EXPECT(fake_call(fake_call_count() - 1)->flags == cu::kInstantiateUseNodePriority);
  cu::GraphInstantiateParams parameters{2, nullptr, nullptr, 0};
  EXPECT(cuGraphInstantiateWithParams(&exec, graph, &parameters) == 0 && parameters.flags == 2);
  EXPECT(fake_call(fake_call_count() - 1)->flags == (2 | cu::kInstantiateUseNodePriority));
}

cu::GraphNode add_node(cu::Graph graph, cu::Function function, cu::Kernel kernel = nullptr) {
  cu::KernelNodeParamsV2 parameters{};
  parameters.v1 = {function, 24, 1, 1, 544, 1, 1, 0, nullptr, nullptr};
  parameters.kernel = kernel;
  cu::GraphNode node = nullptr;
  EXPECT(cuGraphAddKernelNode_v2(&node, graph, nullptr, 0, &parameters) == 0);
  return node;
}

int priority_of(cu::GraphNode node) {
  cu::LaunchAttributeValue value{};
  EXPECT(cuGraphKernelNodeGetAttribute(node, cu::kLaunchPriority, &value) == 0);
  return value.priority;
}

// With the flag every node's own priority counts, also those that the program gave and that meant nothing without it.
void own_node_priority() {
  const TwoStreams two;
  const cu::Graph graph = two.capture_step();
  const cu::GraphNode own = add_node(graph, two.gemm);
  cu::LaunchAttributeValue value{};
  value.priority = -1;
  EXPECT(cuGraphKernelNodeSetAttribute(own, cu::kLaunchPriority, &value) == 0);
  cu::GraphExec exec = nullptr;
  EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
  EXPECT(fake_call(fake_call_count() - 1)->flags == 0 && priority_of(own) == -1);
  value.priority = 0;
  EXPECT(cuGraphKernelNodeSetAttribute(own, cu::kLaunchPriority, &value) == 0);
  EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
  EXPECT(fake_call(fake_call_count() - 1)->flags == cu::kInstantiateUseNodePriority);
}

// What a conditional node holds cannot be read, and kernels in it may have priorities that meant nothing without the flag. So may a
// kernel that cannot be read itself.
void conditional_node() {
  const TwoStreams two;
  const cu::Graph graph = two.capture_step();
  cu::GraphNode node = nullptr;
  EXPECT(cuGraphAddHostNode(&node, graph, nullptr, 0, nullptr) == 0);
  cu::GraphExec exec = nullptr;
  EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
  EXPECT(fake_call(fake_call_count() - 1)->flags == cu::kInstantiateUseNodePriority);
  reinterpret_cast<fake::Node*>(node)->type = 13;
  EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0 && fake_call(fake_call_count() - 1)->flags == 0);
  reinterpret_cast<fake::Node*>(node)->type = cu::kGraphNodeKernel;  // of which the driver says nothing
  EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0 && fake_call(fake_call_count() - 1)->flags == 0);
}

// Explicit nodes, in child graphs as well, and given as CUkernel. The program's own graph stays as it is.
void explicit_nodes() {
  const TwoStreams two;
  cu::Graph graph = nullptr;
  cu::Graph child = nullptr;
  EXPECT(cuGraphCreate(&graph, 0) == 0 && cuGraphCreate(&child, 0) == 0);
  const cu::GraphNode compute = add_node(graph, two.gemm);
  const cu::GraphNode inner = add_node(child, nullptr, fake_kernel(kAllReduce, 96, 21568));
  cu::GraphNode child_node = nullptr;
  EXPECT(cuGraphAddChildGraphNode(&child_node, graph, nullptr, 0, child) == 0);
  cu::GraphExec exec = nullptr;
  EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
  EXPECT(fake_call(fake_call_count() - 1)->flags == cu::kInstantiateUseNodePriority);
  EXPECT(fake_counted_priority(inner) == kGreatestPriority && fake_counted_priority(compute) == 0 && priority_of(inner) == 0);
}

// A graph in which nothing runs beside a collective is instantiated as the program asked.
void plain_graph() {
  const TwoStreams two;
  cu::Graph graph = nullptr;
  EXPECT(cuGraphCreate(&graph, 0) == 0);
  add_node(graph, two.gemm);
  cu::GraphExec exec = nullptr;
  EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
  EXPECT(fake_call(fake_call_count() - 1)->flags == 0);
}

cu::Graph graph_of(std::initializer_list<cu::Function> functions) {
  cu::Graph graph = nullptr;
  EXPECT(cuGraphCreate(&graph, 0) == 0);
  for (const cu::Function function : functions) { add_node(graph, function); }
  return graph;
}

// A graph that was made anew updates the executable one, whose collectives have a priority that the new graph knows nothing of.
void updated_graph() {
  const TwoStreams two;
  cu::GraphExec exec = nullptr;
  EXPECT(cuGraphInstantiateWithFlags(&exec, graph_of({two.gemm, two.all_reduce}), 0) == 0);
  for (int i = 0; i < 2; ++i) { EXPECT(cuGraphExecUpdate_v2(exec, graph_of({two.gemm, two.all_reduce}), nullptr) == 0); }
  EXPECT(cuGraphExecUpdate_v2(exec, graph_of({two.gemm}), nullptr) == 910);
  // Captured from a stream that has a priority, which counts no more than it did.
  const cu::Graph captured = graph_of({two.all_reduce});
  const cu::GraphNode product = add_node(captured, two.gemm);
  cu::LaunchAttributeValue value{};
  value.priority = kGreatestPriority;
  cu::GraphExec with_product = nullptr;
  EXPECT(cuGraphInstantiateWithFlags(&with_product, graph_of({two.all_reduce, two.gemm}), 0) == 0);
  EXPECT(cuGraphKernelNodeSetAttribute(product, cu::kLaunchPriority, &value) == 0);
  EXPECT(cuGraphExecUpdate_v2(with_product, captured, nullptr) == 0);
  EXPECT(priority_of(product) == kGreatestPriority && fake_counted_priority(product) == 0);
  cu::GraphExec other = nullptr;
  EXPECT(cuGraphInstantiateWithFlags(&other, graph_of({two.gemm}), 0) == 0);
  cu::Graph untouched = nullptr;
  EXPECT(cuGraphCreate(&untouched, 0) == 0);
  const cu::GraphNode collective = add_node(untouched, two.all_reduce);
  EXPECT(cuGraphExecUpdate_v2(other, untouched, nullptr) == 0 && priority_of(collective) == 0);
}

// What the graph holds since its update is what a launch of it counts as: a product beside it is in its window.
void updated_collectives() {
  const TwoStreams two;
  cu::GraphExec exec = nullptr;
  EXPECT(cuGraphInstantiateWithFlags(&exec, graph_of({two.gemm}), 0) == 0);
  EXPECT(cuGraphLaunch(exec, two.comm) == 0 && launch_on(two.compute, two.gemm) == 0);
  EXPECT(cuGraphExecUpdate_v2(exec, graph_of({two.all_reduce}), nullptr) == 0);
  EXPECT(cuGraphLaunch(exec, two.comm) == 0 && launch_on(two.compute, two.gemm) == 0);
}

// A graph may wait for the host, in a child graph too: nothing behind it can be waited for before the host has waited for the graph
// itself.
void gate_waiting_graph() {
  const TwoStreams two;
  const cu::Graph child = graph_of({two.gemm});
  const cu::Graph graph = graph_of({two.gemm});
  cu::GraphNode child_node = nullptr;
  EXPECT(cuGraphAddChildGraphNode(&child_node, graph, nullptr, 0, child) == 0);
  cu::GraphExec ends = nullptr;
  EXPECT(cuGraphInstantiateWithFlags(&ends, graph, 0) == 0);
  cu::GraphNode host = nullptr;
  EXPECT(cuGraphAddHostNode(&host, child, nullptr, 0, nullptr) == 0);
  cu::GraphExec waits = nullptr;
  EXPECT(cuGraphInstantiateWithFlags(&waits, graph, 0) == 0);

  EXPECT(cuGraphLaunch(waits, two.comm) == 0);
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && launch_on(two.compute, two.gemm) == 0);
  EXPECT(calls_named("cuStreamWaitEvent") == 0);
  EXPECT(cuStreamSynchronize(two.comm) == 0 && cuStreamSynchronize(two.compute) == 0);
  EXPECT(cuGraphLaunch(ends, two.comm) == 0);
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && launch_on(two.compute, two.gemm) == 0);
  EXPECT(calls_named("cuStreamWaitEvent") == 1);
  EXPECT(cuCtxSynchronize() == 0);
  cu::GraphExec spins = nullptr;  // PyTorch's kernel, until the host stores a flag
  const cu::Function spinning = fake_function("_ZN4c10d4cuda6detail14kernel_barrierEPim", 16, 0);
  EXPECT(cuGraphInstantiateWithFlags(&spins, graph_of({spinning}), 0) == 0 && cuGraphLaunch(spins, two.comm) == 0);
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && launch_on(two.compute, two.gemm) == 0);
  EXPECT(calls_named("cuStreamWaitEvent") == 1);
}

// A node of a kind that nobody here knows may wait for anything.
void gate_unknown_node() {
  const TwoStreams two;
  const cu::Graph graph = graph_of({two.gemm});
  cu::GraphNode unknown = nullptr;
  EXPECT(cuGraphAddHostNode(&unknown, graph, nullptr, 0, nullptr) == 0);
  reinterpret_cast<fake::Node*>(unknown)->type = 99;
  cu::GraphExec exec = nullptr;
  EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0 && cuGraphLaunch(exec, two.comm) == 0);
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && launch_on(two.compute, two.gemm) == 0);
  EXPECT(calls_named("cuStreamWaitEvent") == 0);
}

// Eight graphs, each in the next one, are read. What nine hold is not known, and may be a wait.
void gate_deep_graph() {
  const TwoStreams two;
  const auto nested = [&](int levels) {
    cu::Graph graph = graph_of({two.gemm});
    for (int level = 1; level < levels; ++level) {
      const cu::Graph outer = graph_of({two.gemm});
      cu::GraphNode node = nullptr;
      EXPECT(cuGraphAddChildGraphNode(&node, outer, nullptr, 0, graph) == 0);
      graph = outer;
    }
    cu::GraphExec exec = nullptr;
    EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
    return exec;
  };
  EXPECT(cuGraphLaunch(nested(9), two.comm) == 0);
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && launch_on(two.compute, two.gemm) == 0);
  EXPECT(calls_named("cuStreamWaitEvent") == 0);
  EXPECT(cuStreamSynchronize(two.comm) == 0 && cuStreamSynchronize(two.compute) == 0);
  EXPECT(cuGraphLaunch(nested(8), two.comm) == 0);
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && launch_on(two.compute, two.gemm) == 0);
  EXPECT(calls_named("cuStreamWaitEvent") == 1);
}

// A graph records an event: that it has passed says nothing of what the stream held behind which it was recorded before.
void gate_graph_records() {
  const TwoStreams two;
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0);  // nothing is followed before the first collective
  EXPECT(cuLaunchHostFunc(two.comm, nullptr, nullptr) == 0 && cuEventRecord(two.joined, two.comm) == 0);
  EXPECT(cuStreamBeginCapture_v2(two.compute, cu::kCaptureModeRelaxed) == 0);
  EXPECT(cuEventRecordWithFlags(two.joined, two.compute, cu::kEventExternal) == 0);
  cu::Graph graph = nullptr;
  EXPECT(cuStreamEndCapture(two.compute, &graph) == 0);
  cu::GraphExec exec = nullptr;
  EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0 && cuGraphLaunch(exec, two.compute) == 0);
  EXPECT(cuEventSynchronize(two.joined) == 0);
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && launch_on(two.compute, two.gemm) == 0);
  EXPECT(calls_named("cuStreamWaitEvent") == 0);
}

int refuse_node_priority(const FakeCall* call) {
  return (call->flags & cu::kInstantiateUseNodePriority) != 0 ? cu::kErrorInvalidValue : 0;
}

void refused_node_priority() {
  const TwoStreams two;
  const cu::Graph graph = two.capture_step();
  fake_set_failure(&refuse_node_priority);
  cu::GraphExec exec = nullptr;
  EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
  EXPECT(fake_call(fake_call_count() - 1)->flags == 0);
}

constexpr Case kCases[] = {
    {"capture", capture},
    {"capture_at_rest", capture_at_rest},
    {"graph_steps", graph_steps},
    {"captured_gate", captured_gate},
    {"gate_across_capture", gate_across_capture},
    {"unseen_capture", unseen_capture},
    {"broken_capture", broken_capture},
    {"node_priority", node_priority},
    {"own_node_priority", own_node_priority},
    {"explicit_nodes", explicit_nodes},
    {"conditional_node", conditional_node},
    {"plain_graph", plain_graph},
    {"updated_graph", updated_graph},
    {"updated_collectives", updated_collectives},
    {"gate_waiting_graph", gate_waiting_graph},
    {"gate_graph_records", gate_graph_records},
    {"gate_unknown_node", gate_unknown_node},
    {"gate_deep_graph", gate_deep_graph},
    {"refused_node_priority", refused_node_priority},
};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
