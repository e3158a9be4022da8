#include "interposer/hip/graph_facts.hpp"
#include "interposer/hip/hooked_functions.hpp"
#include "interposer/hip/interposer.hpp"
#include "interposer/process/symbol_routes.hpp"

// Stream capture, and the graphs that come of it or of explicit nodes. What a graph holds is read when it is instantiated, so that
// no way of adding or changing nodes needs a hook of its own. And the function that finds functions.

namespace elbowroom::interposer::hip {
using namespace process;
namespace {

constexpr DefaultStream kLegacy = DefaultStream::kLegacy;
constexpr DefaultStream kPerThread = DefaultStream::kPerThread;

template <auto Ours, class... Arguments>
int begin_capture(DefaultStream default_stream, hip::Stream stream, Arguments... arguments) {
  const int result = call_real<Ours>(stream, arguments...);
  Interposer* state = interposer();
  if (state != nullptr && result == hip::kSuccess) { state->core->on_capture_begin(state->stream_id(stream, default_stream)); }
  return result;
}

template <auto Ours>
int end_capture(DefaultStream default_stream, hip::Stream stream, hip::Graph* graph) {
  if (Interposer* state = interposer()) { state->core->on_capture_end(state->stream_id(stream, default_stream)); }
  return call_real<Ours>(stream, graph);
}

// `instantiate(node_priorities)` makes the graph with or without the flag that makes the priorities of its nodes count; a runtime
// that refuses the flag gets the program's own call.
template <class Instantiate>
int instantiate_graph(hip::GraphExec* exec, hip::Graph graph, Instantiate&& instantiate) {
  Interposer* state = interposer();
  if (state == nullptr) { return instantiate(false); }
  const GraphFacts facts = read_graph(*state, graph);
  int result = hip::kErrorInvalidValue;
  if (facts.collectives > 0 && facts.computes > 0 && prioritise_collectives(*state, graph)) {
    const KeepsLastError errors(state->calls);
    result = instantiate(true);
  }
  if (result != hip::kSuccess) { result = instantiate(false); }
  if (result == hip::kSuccess && exec != nullptr) { state->graphs.put(*exec, {facts}); }
  return result;
}

template <auto Ours>
int launch_graph(DefaultStream default_stream, hip::GraphExec exec, hip::Stream stream) {
  if (Interposer* state = interposer()) {
    state->core->on_graph_launch(state->stream_id(stream, default_stream), state->graphs.get(exec).facts, now_ns());
  }
  return call_real<Ours>(exec, stream);
}

}  // namespace
}  // namespace elbowroom::interposer::hip

using namespace elbowroom::interposer::hip;

int hipStreamBeginCapture(hip::Stream stream, int mode) { return begin_capture<&hipStreamBeginCapture>(kLegacy, stream, mode); }
int hipStreamBeginCapture_spt(hip::Stream stream, int mode) {
  return begin_capture<&hipStreamBeginCapture_spt>(kPerThread, stream, mode);
}
int hipStreamBeginCaptureToGraph(hip::Stream stream, hip::Graph graph, const hip::GraphNode* dependencies, const void* edges,
                                 std::size_t count, int mode) {
  return begin_capture<&hipStreamBeginCaptureToGraph>(kLegacy, stream, graph, dependencies, edges, count, mode);
}
int hipStreamEndCapture(hip::Stream stream, hip::Graph* graph) { return end_capture<&hipStreamEndCapture>(kLegacy, stream, graph); }
int hipStreamEndCapture_spt(hip::Stream stream, hip::Graph* graph) {
  return end_capture<&hipStreamEndCapture_spt>(kPerThread, stream, graph);
}

int hipGraphInstantiate(hip::GraphExec* exec, hip::Graph graph, hip::GraphNode* error_node, char* log, std::size_t log_bytes) {
  return instantiate_graph(exec, graph, [&](bool node_priorities) {
    Interposer* state = interposer();
    if (!node_priorities || state->calls.graph_instantiate_with_flags == nullptr) {
      return call_real<&hipGraphInstantiate>(exec, graph, error_node, log, log_bytes);
    }
    return state->calls.graph_instantiate_with_flags(exec, graph, hip::kInstantiateUseNodePriority);
  });
}
int hipGraphInstantiateWithFlags(hip::GraphExec* exec, hip::Graph graph, unsigned long long flags) {
  return instantiate_graph(exec, graph, [&](bool node_priorities) {
    const unsigned long long added = node_priorities ? hip::kInstantiateUseNodePriority : 0;
    return call_real<&hipGraphInstantiateWithFlags>(exec, graph, flags | added);
  });
}
int hipGraphInstantiateWithParams(hip::GraphExec* exec, hip::Graph graph, hip::GraphInstantiateParams* parameters) {
  if (parameters == nullptr) { return call_real<&hipGraphInstantiateWithParams>(exec, graph, parameters); }
  return instantiate_graph(exec, graph, [&](bool node_priorities) {
    const std::uint64_t asked = parameters->flags;
    if (node_priorities) { parameters->flags |= hip::kInstantiateUseNodePriority; }
    const int result = call_real<&hipGraphInstantiateWithParams>(exec, graph, parameters);
    parameters->flags = asked;
    return result;
  });
}

int hipGraphLaunch(hip::GraphExec exec, hip::Stream stream) { return launch_graph<&hipGraphLaunch>(kLegacy, exec, stream); }
int hipGraphLaunch_spt(hip::GraphExec exec, hip::Stream stream) {
  return launch_graph<&hipGraphLaunch_spt>(kPerThread, exec, stream);
}

int hipGraphExecDestroy(hip::GraphExec exec) {
  if (Interposer* state = interposer()) { state->graphs.remove(exec); }
  return call_real<&hipGraphExecDestroy>(exec);
}

int hipGetProcAddress(const char* symbol, void** found, int version, std::uint64_t flags, int* status) {
  const int result = call_real<&::hipGetProcAddress>(symbol, found, version, flags, status);
  // By what the runtime exports: which of its forms came with which version is not known here.
  const auto nothing = [](const char*, int, std::uint64_t) -> void* { return nullptr; };
  if (result == hip::kSuccess) { substitute_found(symbol, found, version, flags, nothing); }
  return result;
}
