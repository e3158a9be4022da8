#include <dlfcn.h>
#include <unistd.h>

#include <initializer_list>

#include "hip_program.hpp"

// Stream capture and graphs.

namespace {

struct TwoStreams {
  hip::Stream compute = make_stream();
  hip::Stream comm = make_stream();
  hip::Event forked = make_event();
  hip::Event joined = make_event();
  const void* gemm = fake_hip_symbol("gemm", 64, 0);
  hip::Function all_reduce = fake_hip_function(kAllReduce, 96, 4184);

  TwoStreams() { fake_hip_reset(); }

  int launch_collective() const { return hipModuleLaunchKernel(all_reduce, 24, 1, 1, 256, 1, 1, 0, comm, nullptr, nullptr); }

  // The step that most programs capture: a collective beside a product, forked from and joined to the capturing stream.
  hip::Graph capture_step() const {
    EXPECT(hipStreamBeginCapture(compute, hip::kCaptureModeGlobal) == 0);
    EXPECT(hipEventRecord(forked, compute) == 0 && hipStreamWaitEvent(comm, forked, 0) == 0);
    EXPECT(launch_collective() == 0 && launch_on(compute, gemm) == 0);
    EXPECT(hipEventRecord(joined, comm) == 0 && hipStreamWaitEvent(compute, joined, 0) == 0);
    hip::Graph graph = nullptr;
    EXPECT(hipStreamEndCapture(compute, &graph) == 0 && graph != nullptr);
    return graph;
  }
};

// A capture in global mode is broken by calls such as hipEventQuery: none of ours may fall into it, and each launch is captured
// once, on the program's own stream.
void capture() {
  const TwoStreams two;
  for (int step = 0; step < 3; ++step) {
    EXPECT(two.launch_collective() == 0);  // outside, and timed where the policy times
    const hip::Graph graph = two.capture_step();
    hip::GraphExec exec = nullptr;
    EXPECT(hipGraphInstantiateWithFlags(&exec, graph, 0) == 0);
    EXPECT(hipGraphLaunch(exec, two.compute) == 0 && hipGraphExecDestroy(exec) == 0);
  }
  std::size_t launches = 0;
  for (std::size_t i = 0; i < fake_hip_call_count(); ++i) { launches += fake_hip_call(i)->function != nullptr ? 1 : 0; }
  EXPECT(launches == 9 && calls_named("hipGraphLaunch") == 3);
}

// The program's capture that its own call has broken ends with the runtime's code.
void broken_capture() {
  const TwoStreams two;
  EXPECT(hipStreamBeginCapture(two.compute, hip::kCaptureModeGlobal) == 0);
  EXPECT(hipEventQuery(two.joined) == hip::kErrorCaptureUnsupported);
  hip::Graph graph = nullptr;
  EXPECT(hipStreamEndCapture(two.compute, &graph) == hip::kErrorCaptureInvalidated && graph == nullptr);
  EXPECT(launch_on(two.compute, two.gemm) == 0);
}

/// For the times of launches.
std::size_t times_asked() { return fake_hip_times_called("hipEventElapsedTime"); }

// A capture may begin by an entry point that is not followed. No event of ours, nor a stream, must come into it. A question about
// an event that was recorded on its stream before would break it.
void unseen_capture() {
  const TwoStreams two;
  const auto loader = reinterpret_cast<void* (*)(void*, const char*)>(dlsym(dlopen("libc.so.6", RTLD_NOW), "dlsym"));
  void* runtime = dlopen("libamdhip64.so.6", RTLD_NOW | RTLD_NOLOAD);
  const auto begin = reinterpret_cast<decltype(&hipStreamBeginCapture)>(loader(runtime, "hipStreamBeginCapture"));
  const auto end = reinterpret_cast<decltype(&hipStreamEndCapture)>(loader(runtime, "hipStreamEndCapture"));
  fake_hip_set_finished(0);
  EXPECT(two.launch_collective() == 0 && launch_on(two.compute, two.gemm) == 0);
  EXPECT(begin(two.comm, hip::kCaptureModeGlobal) == 0);
  const std::size_t before = fake_hip_call_count();
  for (unsigned launch = 1; launch < 4; ++launch) {
    usleep(300);  // it is time to ask for what was timed before it
    EXPECT(two.launch_collective() == 0 && launch_on(two.comm, two.gemm, launch) == 0);
  }
  std::size_t launches = 0;
  for (std::size_t i = before; i < fake_hip_call_count(); ++i) {
    const bool launch = fake_hip_call(i)->function != nullptr;
    EXPECT(launch && fake_hip_call(i)->stream == two.comm);
    launches += launch ? 1 : 0;
  }
  hip::Graph graph = nullptr;
  EXPECT(launches == 6 && end(two.comm, &graph) == 0 && graph != nullptr);
  // What was timed on both streams is told now.
  fake_hip_set_finished(1);
  usleep(300);
  const std::size_t questions = times_asked();
  EXPECT(two.launch_collective() == 0 && times_asked() >= questions + 2);
}

// Another thread begins a capture on the stream just when the runtime is asked about an event that was recorded there before. It
// would break that capture if it were hipEventQuery that asked.
void capture_while_asked() {
  const TwoStreams two;
  fake_hip_set_finished(0);
  EXPECT(two.launch_collective() == 0 && launch_on(two.compute, two.gemm) == 0);
  fake_hip_capture_when_asked(two.comm);
  usleep(300);
  EXPECT(launch_on(two.compute, two.gemm, 2) == 0);
  hip::Graph graph = nullptr;
  EXPECT(hipStreamEndCapture(two.comm, &graph) == 0 && graph != nullptr);
}

// A stream that is gone is in no capture.
void timed_stream_gone() {
  const TwoStreams two;
  const hip::Stream gone = make_stream();
  fake_hip_set_finished(0);
  EXPECT(two.launch_collective() == 0 && launch_on(gone, two.gemm) == 0 && hipStreamDestroy(gone) == 0);
  usleep(300);
  const std::size_t questions = times_asked();
  EXPECT(launch_on(two.compute, two.gemm) == 0 && times_asked() == questions + 2);
}

// The runtime is asked before something is added to a launch, and at no other.
void asked_for_what_is_added() {
  const TwoStreams two;
  const auto questions = [] { return fake_hip_times_called("hipStreamIsCapturing"); };
  for (std::size_t step = 1; step < 4; ++step) {
    EXPECT(launch_on(two.compute, two.gemm) == 0 && questions() == step - 1);
    EXPECT(two.launch_collective() == 0 && launch_on(two.compute, two.gemm) == 0 && questions() == step);
  }
}

unsigned long long last_flags() { return last_call().flags; }

void node_priority() {
  const TwoStreams two;
  const hip::Graph graph = two.capture_step();
  hip::GraphExec exec = nullptr;
  EXPECT(hipGraphInstantiateWithFlags(&exec, graph, 1) == 0 && last_flags() == (1 | hip::kInstantiateUseNodePriority));
  EXPECT(hipGraphInstantiate(&exec, graph, nullptr, nullptr, 0) == 0 && last_flags() == hip::kInstantiateUseNodePriority);
  hip::GraphInstantiateParams parameters{nullptr, 2, 0, nullptr};
  EXPECT(hipGraphInstantiateWithParams(&exec, graph, &parameters) == 0 && parameters.flags == 2);
  EXPECT(last_flags() == (2 | hip::kInstantiateUseNodePriority));
}

int priority_of(hip::GraphNode node) {
  hip::LaunchAttributeValue value{};
  EXPECT(hipGraphKernelNodeGetAttribute(node, hip::kLaunchPriority, &value) == 0);
  return value.priority;
}

// Explicit nodes, in child graphs as well, by host function and by a module's.
// Collectives that the graph's edges put behind one another have no more blocks at once than the largest of them.
void edges_order() {
  auto* const collective = const_cast<void*>(fake_hip_symbol(kAllReduce, 96, 0));
  const hip::KernelNodeParams parameters{{256, 1, 1}, nullptr, collective, {24, 1, 1}, nullptr, 0};
  const auto flags_of = [&](bool ordered) {
    hip::Graph graph = nullptr;
    hip::GraphNode last = nullptr;
    EXPECT(hipGraphCreate(&graph, 0) == 0);
    add_node(graph, fake_hip_symbol("gemm", 64, 0));
    for (int i = 0; i < 8; ++i) {
      const hip::GraphNode before = last;
      EXPECT(hipGraphAddKernelNode(&last, graph, &before, ordered && i > 0 ? 1 : 0, &parameters) == 0);
    }
    hip::GraphExec exec = nullptr;
    EXPECT(hipGraphInstantiateWithFlags(&exec, graph, 0) == 0);
    return last_flags();
  };
  EXPECT(flags_of(true) == hip::kInstantiateUseNodePriority && flags_of(false) == 0);
}

void explicit_nodes() {
  const TwoStreams two;
  hip::Graph graph = nullptr;
  hip::Graph child = nullptr;
  EXPECT(hipGraphCreate(&graph, 0) == 0 && hipGraphCreate(&child, 0) == 0);
  const hip::GraphNode compute = add_node(graph, two.gemm);
  const hip::GraphNode inner = add_node(child, fake_hip_symbol(kAllReduce, 96, 0));
  const hip::GraphNode outer = add_node(graph, two.all_reduce);
  hip::GraphNode child_node = nullptr;
  EXPECT(hipGraphAddChildGraphNode(&child_node, graph, nullptr, 0, child) == 0);
  hip::GraphExec exec = nullptr;
  EXPECT(hipGraphInstantiateWithFlags(&exec, graph, 0) == 0 && last_flags() == hip::kInstantiateUseNodePriority);
  for (const hip::GraphNode collective : {inner, outer}) { EXPECT(fake_hip_counted_priority(collective) == kGreatest); }
  EXPECT(fake_hip_counted_priority(compute) == 0 && priority_of(inner) == 0);
}

// With the flag every node's own priority counts, also those that the program gave and that meant nothing without it.
void own_node_priority() {
  const TwoStreams two;
  const hip::Graph graph = two.capture_step();
  const hip::GraphNode own = add_node(graph, two.gemm);
  hip::LaunchAttributeValue value{};
  value.priority = -1;
  EXPECT(hipGraphKernelNodeSetAttribute(own, hip::kLaunchPriority, &value) == 0);
  hip::GraphExec exec = nullptr;
  EXPECT(hipGraphInstantiateWithFlags(&exec, graph, 0) == 0 && last_flags() == 0 && priority_of(own) == -1);
}

// A graph in which nothing runs beside a collective is instantiated as the program asked.
void plain_graph() {
  const TwoStreams two;
  hip::Graph graph = nullptr;
  EXPECT(hipGraphCreate(&graph, 0) == 0);
  add_node(graph, two.gemm);
  hip::GraphExec exec = nullptr;
  EXPECT(hipGraphInstantiateWithFlags(&exec, graph, 0) == 0 && last_flags() == 0);
}

int refuse_node_priority(const FakeHipCall* call) {
  return (call->flags & hip::kInstantiateUseNodePriority) != 0 ? hip::kErrorInvalidValue : 0;
}

// ROCm takes the flag with no other, and some versions refuse the attribute.
void refused_node_priority() {
  const TwoStreams two;
  const hip::Graph graph = two.capture_step();
  hip::GraphExec exec = nullptr;
  fake_hip_set_failure(&refuse_node_priority);
  EXPECT(hipGraphInstantiateWithFlags(&exec, graph, 1) == 0 && last_flags() == 1 && hipGetLastError() == 0);
  fake_hip_set_failure(nullptr);
  fake_hip_set_failing("hipGraphKernelNodeSetAttribute:1");
  EXPECT(hipGraphInstantiateWithFlags(&exec, graph, 0) == 0 && last_flags() == 0 && hipGetLastError() == 0);
}

// A graph that records events may record any. Who waits for one then is no more behind its older record, which stood behind the
// collective.
void recorded_events() {
  const TwoStreams two;
  hip::GraphExec plain = nullptr;
  hip::GraphExec recording = nullptr;
  for (hip::GraphExec* exec : {&plain, &recording}) {
    hip::Graph graph = nullptr;
    EXPECT(hipStreamBeginCapture(two.compute, hip::kCaptureModeRelaxed) == 0 && launch_on(two.compute, two.gemm) == 0);
    if (exec == &recording) { EXPECT(hipEventRecordWithFlags(two.forked, two.compute, hip::kEventExternal) == 0); }
    EXPECT(hipStreamEndCapture(two.compute, &graph) == 0 && hipGraphInstantiateWithFlags(exec, graph, 0) == 0);
  }
  const auto is_beside = [&](hip::GraphExec exec) {
    EXPECT(hipDeviceSynchronize() == 0 && two.launch_collective() == 0 && hipEventRecord(two.forked, two.comm) == 0);
    EXPECT(hipGraphLaunch(exec, two.compute) == 0 && hipStreamWaitEvent(two.compute, two.forked, 0) == 0);
    EXPECT(launch_on(two.compute, two.gemm, 100000) == 0);
    return last_call().shared > 0;
  };
  EXPECT(!is_beside(plain) && is_beside(recording) && !is_beside(plain));
}

constexpr Case kCases[] = {
    {"capture", capture},
    {"broken_capture", broken_capture},
    {"unseen_capture", unseen_capture},
    {"capture_while_asked", capture_while_asked},
    {"timed_stream_gone", timed_stream_gone},
    {"asked_for_what_is_added", asked_for_what_is_added},
    {"node_priority", node_priority},
    {"own_node_priority", own_node_priority},
    {"explicit_nodes", explicit_nodes},
    {"edges_order", edges_order},
    {"plain_graph", plain_graph},
    {"recorded_events", recorded_events},
    {"refused_node_priority", refused_node_priority},
};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
