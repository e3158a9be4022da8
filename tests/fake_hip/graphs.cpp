#include <algorithm>
#include <tuple>
#include <utility>

#include "runtime.hpp"

// Stream capture and graphs. A graph runs its nodes one after another.

namespace fake_hip {
namespace {

std::vector<Capture*>& live() {
  static auto* made = new std::vector<Capture*>;
  return *made;
}
std::vector<Stream*>& capturing_streams() {
  static auto* made = new std::vector<Stream*>;
  return *made;
}
thread_local int thread_mode = hip::kCaptureModeGlobal;

}  // namespace

void join_capture(Stream& stream, Capture* capture) {
  if (stream.capture == capture) { return; }
  stream.capture = capture;
  if (capture != nullptr) { capturing_streams().push_back(&stream); }
}

void begin_capture(Stream& stream, int mode, Graph* graph) {
  auto* capture = keep(new Capture);
  capture->graph = graph;
  capture->origin = stream.handle();
  capture->mode = mode;
  live().push_back(capture);
  join_capture(stream, capture);
}

Graph* end_capture(Stream& stream, bool& broken) {
  Capture* capture = stream.capture;
  if (capture == nullptr || capture->origin != stream.handle()) { return nullptr; }
  for (Stream* member : capturing_streams()) {
    if (member->capture == capture) { member->capture = nullptr; }
  }
  std::erase(live(), capture);
  capture->ended = true;
  broken = capture->invalidated;
  return capture->graph;
}

bool breaks_capture() {
  if (thread_mode == hip::kCaptureModeRelaxed) { return false; }
  bool broken = false;
  for (Capture* capture : live()) {
    if (capture->mode == hip::kCaptureModeGlobal) { capture->invalidated = broken = true; }
  }
  return broken;
}

bool breaks_capture(const Event& event) {
  Capture* capture = event.stream == nullptr ? nullptr : event.stream->capture;
  if (capture != nullptr) { capture->invalidated = true; }
  return capture != nullptr;
}

void forget_captures() {
  for (Stream* member : capturing_streams()) { member->capture = nullptr; }
  for (Capture* capture : live()) { capture->ended = true; }
  capturing_streams().clear();
  live().clear();
}

}  // namespace fake_hip

using namespace fake_hip;

namespace {

FakeHipCall on_stream(const char* name, hip::Stream stream, unsigned long long flags = 0) {
  FakeHipCall call = named(name);
  call.stream = stream;
  call.flags = flags;
  return call;
}

int begin(const char* name, hip::Stream stream, int mode, bool per_thread, Graph* graph) {
  return make_call(on_stream(name, stream, static_cast<unsigned>(mode)), [&] {
    Stream* known = stream_of(stream, per_thread);
    if (known == nullptr || known->legacy || known->capture != nullptr) { return hip::kErrorInvalidValue; }
    begin_capture(*known, mode, graph != nullptr ? graph : keep(new Graph));
    return 0;
  });
}

int end(const char* name, hip::Stream stream, hip::Graph* graph, bool per_thread) {
  return make_call(on_stream(name, stream), [&] {
    Stream* known = stream_of(stream, per_thread);
    bool broken = false;
    Graph* made = known == nullptr ? nullptr : end_capture(*known, broken);
    *graph = broken ? nullptr : reinterpret_cast<hip::Graph>(made);
    return made == nullptr ? hip::kErrorInvalidValue : broken ? hip::kErrorCaptureInvalidated : 0;
  });
}

int instantiate(const char* name, hip::GraphExec* exec, hip::Graph graph, unsigned long long flags) {
  return make_call(on_stream(name, nullptr, flags), [&] {
    if (object<Graph>(graph) == nullptr) { return hip::kErrorInvalidValue; }
    auto* made = keep(new Exec);
    made->graph = object<Graph>(graph);
    *exec = reinterpret_cast<hip::GraphExec>(made);
    return 0;
  });
}

void run_nodes(const Graph& graph, Stream& stream) {
  for (const Node* node : graph.nodes) {
    if (node->child != nullptr) {
      run_nodes(*node->child, stream);
    } else {
      enqueue(stream, node->operation);
    }
  }
}

int launch_graph(const char* name, hip::GraphExec exec, hip::Stream stream, bool per_thread) {
  FakeHipCall call = on_stream(name, stream);
  call.exec = exec;
  return make_call(call, [&] {
    Stream* known = stream_of(stream, per_thread);
    if (known == nullptr || object<Exec>(exec) == nullptr) { return hip::kErrorInvalidHandle; }
    run_nodes(*object<Exec>(exec)->graph, *known);
    return 0;
  });
}

}  // namespace

#pragma GCC visibility push(default)
extern "C" {

int hipStreamBeginCapture(hip::Stream stream, int mode) { return begin("hipStreamBeginCapture", stream, mode, false, nullptr); }
int hipStreamBeginCapture_spt(hip::Stream stream, int mode) {
  return begin("hipStreamBeginCapture_spt", stream, mode, true, nullptr);
}
int hipStreamBeginCaptureToGraph(hip::Stream stream, hip::Graph graph, const hip::GraphNode*, const void*, std::size_t, int mode) {
  return begin("hipStreamBeginCaptureToGraph", stream, mode, false, object<Graph>(graph));
}
int hipStreamEndCapture(hip::Stream stream, hip::Graph* graph) { return end("hipStreamEndCapture", stream, graph, false); }
int hipStreamEndCapture_spt(hip::Stream stream, hip::Graph* graph) { return end("hipStreamEndCapture_spt", stream, graph, true); }
int hipStreamIsCapturing(hip::Stream stream, int* status) {
  return question("hipStreamIsCapturing", [&] {
    const Stream* known = stream_of(stream, false);
    *status = known != nullptr && known->capture != nullptr ? 1 : 0;
    return known == nullptr ? hip::kErrorInvalidHandle : 0;
  });
}
int hipThreadExchangeStreamCaptureMode(int* mode) {
  return question("hipThreadExchangeStreamCaptureMode", [&] { return *mode = std::exchange(thread_mode, *mode), 0; });
}

int hipGraphCreate(hip::Graph* graph, unsigned) {
  return question("hipGraphCreate", [&] { return *graph = reinterpret_cast<hip::Graph>(keep(new Graph)), 0; });
}
int hipGraphDestroy(hip::Graph) {
  return question("hipGraphDestroy", [] { return 0; });
}
int hipGraphAddKernelNode(hip::GraphNode* node, hip::Graph graph, const hip::GraphNode* dependencies, std::size_t count,
                          const hip::KernelNodeParams* parameters) {
  return question("hipGraphAddKernelNode", [&] {
    auto* made = keep(new Node);
    made->kernel = *parameters;
    object<Graph>(graph)->nodes.push_back(made);
    *node = reinterpret_cast<hip::GraphNode>(made);
    for (std::size_t i = 0; i < count; ++i) { object<Graph>(graph)->edges.emplace_back(dependencies[i], *node); }
    return 0;
  });
}
int hipGraphAddChildGraphNode(hip::GraphNode* node, hip::Graph graph, const hip::GraphNode*, std::size_t, hip::Graph child) {
  return question("hipGraphAddChildGraphNode", [&] {
    auto* made = keep(new Node);
    made->type = hip::kGraphNodeChild;
    made->child = object<Graph>(child);
    object<Graph>(graph)->nodes.push_back(made);
    *node = reinterpret_cast<hip::GraphNode>(made);
    return 0;
  });
}
int hipGraphGetNodes(hip::Graph graph, hip::GraphNode* nodes, std::size_t* count) {
  return question("hipGraphGetNodes", [&] {
    const auto* known = object<Graph>(graph);
    if (known == nullptr) { return hip::kErrorInvalidValue; }
    for (std::size_t i = 0; nodes != nullptr && i < *count; ++i) { nodes[i] = reinterpret_cast<hip::GraphNode>(known->nodes[i]); }
    *count = known->nodes.size();
    return 0;
  });
}
int hipGraphGetEdges(hip::Graph graph, hip::GraphNode* from, hip::GraphNode* to, std::size_t* count) {
  return question("hipGraphGetEdges", [&] {
    const auto& edges = object<Graph>(graph)->edges;
    for (std::size_t i = 0; from != nullptr && i < *count; ++i) { std::tie(from[i], to[i]) = edges[i]; }
    *count = edges.size();
    return 0;
  });
}
int hipGraphNodeGetType(hip::GraphNode node, int* type) {
  return question("hipGraphNodeGetType", [&] { return *type = object<Node>(node)->type, 0; });
}
int hipGraphChildGraphNodeGetGraph(hip::GraphNode node, hip::Graph* graph) {
  return question("hipGraphChildGraphNodeGetGraph",
                  [&] { return *graph = reinterpret_cast<hip::Graph>(object<Node>(node)->child), 0; });
}
int hipGraphKernelNodeGetParams(hip::GraphNode node, hip::KernelNodeParams* parameters) {
  return question("hipGraphKernelNodeGetParams", [&] { return *parameters = object<Node>(node)->kernel, 0; });
}
int hipGraphKernelNodeSetAttribute(hip::GraphNode node, int attribute, const hip::LaunchAttributeValue* value) {
  return question("hipGraphKernelNodeSetAttribute", [&] {
    if (attribute != hip::kLaunchPriority) { return hip::kErrorInvalidValue; }
    object<Node>(node)->priority = value->priority;
    return 0;
  });
}
int hipGraphKernelNodeGetAttribute(hip::GraphNode node, int attribute, hip::LaunchAttributeValue* value) {
  return question("hipGraphKernelNodeGetAttribute", [&] {
    if (attribute != hip::kLaunchPriority) { return hip::kErrorInvalidValue; }
    value->priority = object<Node>(node)->priority;
    return 0;
  });
}
int hipGraphInstantiate(hip::GraphExec* exec, hip::Graph graph, hip::GraphNode*, char*, std::size_t) {
  return instantiate("hipGraphInstantiate", exec, graph, 0);
}
int hipGraphInstantiateWithFlags(hip::GraphExec* exec, hip::Graph graph, unsigned long long flags) {
  return instantiate("hipGraphInstantiateWithFlags", exec, graph, flags);
}
int hipGraphInstantiateWithParams(hip::GraphExec* exec, hip::Graph graph, hip::GraphInstantiateParams* parameters) {
  return instantiate("hipGraphInstantiateWithParams", exec, graph, parameters->flags);
}
int hipGraphLaunch(hip::GraphExec exec, hip::Stream stream) { return launch_graph("hipGraphLaunch", exec, stream, false); }
int hipGraphLaunch_spt(hip::GraphExec exec, hip::Stream stream) { return launch_graph("hipGraphLaunch_spt", exec, stream, true); }
int hipGraphExecDestroy(hip::GraphExec exec) {
  return question("hipGraphExecDestroy", [&] { return object<Exec>(exec) == nullptr ? hip::kErrorInvalidHandle : 0; });
}

}  // extern "C"
#pragma GCC visibility pop
