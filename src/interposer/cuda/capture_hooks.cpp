#include "interposer/cuda/hooked_functions.hpp"
#include "interposer/cuda/interposer.hpp"

// Stream capture, and the graphs that come of it or of explicit nodes. What a graph holds is read when it is instantiated or an
// executable graph is updated from it, so that no way of adding or changing its nodes needs a hook of its own.

namespace elbowroom::interposer::cuda {
namespace {

constexpr DefaultStream kLegacy = DefaultStream::kLegacy;
constexpr DefaultStream kPerThread = DefaultStream::kPerThread;

template <auto Ours, class... Arguments>
int begin_capture(DefaultStream default_stream, cu::Stream stream, Arguments... arguments) {
  const int result = call_real<Ours>(stream, arguments...);
  Interposer* state = interposer();
  if (state != nullptr && result == cu::kSuccess) { state->core->on_capture_begin(state->stream_id(stream, default_stream)); }
  return result;
}

template <auto Ours, class... Arguments>
int end_capture(DefaultStream default_stream, cu::Stream stream, Arguments... arguments) {
  if (Interposer* state = interposer()) { state->core->on_capture_end(state->stream_id(stream, default_stream)); }
  return call_real<Ours>(stream, arguments...);
}

// `instantiate(node_priorities)` makes the graph with or without the flag that makes the priorities of its nodes count; a driver
// that refuses the flag gets the program's own call.
template <class Instantiate>
int instantiate_graph(cu::GraphExec* exec, cu::Graph graph, Instantiate&& instantiate) {
  Interposer* state = interposer();
  if (state == nullptr) { return instantiate(false); }
  const GraphFacts facts = read_graph(*state, graph);
  // A graph that would be forgotten could not be updated later: nobody would know of its priorities.
  const bool remembered = facts.collectives > 0 && facts.computes > 0 && !state->graphs.full();
  bool node_priorities = remembered && !others_have_priorities(state->driver, graph) && prioritise_collectives(*state, graph);
  int result = instantiate(node_priorities);
  if (node_priorities && result != cu::kSuccess) {
    node_priorities = false;
    result = instantiate(false);
  }
  if (result == cu::kSuccess && exec != nullptr) { state->graphs.put(*exec, {facts, node_priorities}); }
  return result;
}

// The driver refuses an update that changes a priority with which the graph was instantiated: the new graph needs the same ones.
template <auto Ours, class... Arguments>
int update_graph(cu::GraphExec exec, cu::Graph graph, Arguments... arguments) {
  Interposer* state = interposer();
  if (state == nullptr) { return call_real<Ours>(exec, graph, arguments...); }
  const bool node_priorities = state->graphs.get(exec).node_priorities;
  if (node_priorities) { prioritise_collectives(*state, graph); }
  const int result = call_real<Ours>(exec, graph, arguments...);
  if (result == cu::kSuccess) { state->graphs.put(exec, {read_graph(*state, graph), node_priorities}); }
  return result;
}

// The forms without flags.
template <auto Ours>
int instantiate_with_log(cu::GraphExec* exec, cu::Graph graph, cu::GraphNode* error_node, char* log, std::size_t log_bytes) {
  return instantiate_graph(exec, graph, [&](bool node_priorities) {
    Interposer* state = interposer();
    if (!node_priorities || state->driver.graph_instantiate_with_flags == nullptr) {
      return call_real<Ours>(exec, graph, error_node, log, log_bytes);
    }
    return state->driver.graph_instantiate_with_flags(exec, graph, cu::kInstantiateUseNodePriority);
  });
}

template <auto Ours>
int instantiate_with_params(cu::GraphExec* exec, cu::Graph graph, cu::GraphInstantiateParams* parameters) {
  if (parameters == nullptr) { return call_real<Ours>(exec, graph, parameters); }
  return instantiate_graph(exec, graph, [&](bool node_priorities) {
    const std::uint64_t asked = parameters->flags;
    if (node_priorities) { parameters->flags |= cu::kInstantiateUseNodePriority; }
    const int result = call_real<Ours>(exec, graph, parameters);
    parameters->flags = asked;
    return result;
  });
}

template <auto Ours>
int launch_graph(DefaultStream default_stream, cu::GraphExec exec, cu::Stream stream) {
  if (Interposer* state = interposer()) {
    state->core->on_graph_launch(state->stream_id(stream, default_stream), state->graphs.get(exec).facts, now_ns());
  }
  return call_real<Ours>(exec, stream);
}

}  // namespace
}  // namespace elbowroom::interposer::cuda

using namespace elbowroom::interposer::cuda;

int cuStreamBeginCapture(cu::Stream stream) { return begin_capture<&cuStreamBeginCapture>(kLegacy, stream); }
int cuStreamBeginCapture_ptsz(cu::Stream stream) { return begin_capture<&cuStreamBeginCapture_ptsz>(kPerThread, stream); }
int cuStreamBeginCapture_v2(cu::Stream stream, int mode) { return begin_capture<&cuStreamBeginCapture_v2>(kLegacy, stream, mode); }
int cuStreamBeginCapture_v2_ptsz(cu::Stream stream, int mode) {
  return begin_capture<&cuStreamBeginCapture_v2_ptsz>(kPerThread, stream, mode);
}
int cuStreamBeginCaptureToGraph(cu::Stream stream, cu::Graph graph, const cu::GraphNode* dependencies,
                                const cu::GraphEdgeData* edges, std::size_t count, int mode) {
  return begin_capture<&cuStreamBeginCaptureToGraph>(kLegacy, stream, graph, dependencies, edges, count, mode);
}
int cuStreamBeginCaptureToGraph_ptsz(cu::Stream stream, cu::Graph graph, const cu::GraphNode* dependencies,
                                     const cu::GraphEdgeData* edges, std::size_t count, int mode) {
  return begin_capture<&cuStreamBeginCaptureToGraph_ptsz>(kPerThread, stream, graph, dependencies, edges, count, mode);
}
int cuStreamBeginRecaptureToGraph(cu::Stream stream, int mode, cu::Graph graph, void* callback, void* data) {
  return begin_capture<&cuStreamBeginRecaptureToGraph>(kLegacy, stream, mode, graph, callback, data);
}
int cuStreamBeginRecaptureToGraph_ptsz(cu::Stream stream, int mode, cu::Graph graph, void* callback, void* data) {
  return begin_capture<&cuStreamBeginRecaptureToGraph_ptsz>(kPerThread, stream, mode, graph, callback, data);
}
int cuStreamBeginCaptureToCig(cu::Stream stream, void* parameters) {
  return begin_capture<&cuStreamBeginCaptureToCig>(kLegacy, stream, parameters);
}
int cuStreamBeginCaptureToCig_ptsz(cu::Stream stream, void* parameters) {
  return begin_capture<&cuStreamBeginCaptureToCig_ptsz>(kPerThread, stream, parameters);
}
int cuStreamEndCaptureToCig(cu::Stream stream) { return end_capture<&cuStreamEndCaptureToCig>(kLegacy, stream); }
int cuStreamEndCaptureToCig_ptsz(cu::Stream stream) { return end_capture<&cuStreamEndCaptureToCig_ptsz>(kPerThread, stream); }
int cuStreamEndCapture(cu::Stream stream, cu::Graph* graph) { return end_capture<&cuStreamEndCapture>(kLegacy, stream, graph); }
int cuStreamEndCapture_ptsz(cu::Stream stream, cu::Graph* graph) {
  return end_capture<&cuStreamEndCapture_ptsz>(kPerThread, stream, graph);
}

int cuGraphInstantiate(cu::GraphExec* exec, cu::Graph graph, cu::GraphNode* error_node, char* log, std::size_t log_bytes) {
  return instantiate_with_log<&cuGraphInstantiate>(exec, graph, error_node, log, log_bytes);
}
int cuGraphInstantiate_v2(cu::GraphExec* exec, cu::Graph graph, cu::GraphNode* error_node, char* log, std::size_t log_bytes) {
  return instantiate_with_log<&cuGraphInstantiate_v2>(exec, graph, error_node, log, log_bytes);
}
int cuGraphInstantiateWithFlags(cu::GraphExec* exec, cu::Graph graph, unsigned long long flags) {
  return instantiate_graph(exec, graph, [&](bool node_priorities) {
    const unsigned long long added = node_priorities ? cu::kInstantiateUseNodePriority : 0;
    return call_real<&cuGraphInstantiateWithFlags>(exec, graph, flags | added);
  });
}
int cuGraphInstantiateWithParams(cu::GraphExec* exec, cu::Graph graph, cu::GraphInstantiateParams* parameters) {
  return instantiate_with_params<&cuGraphInstantiateWithParams>(exec, graph, parameters);
}
int cuGraphInstantiateWithParams_ptsz(cu::GraphExec* exec, cu::Graph graph, cu::GraphInstantiateParams* parameters) {
  return instantiate_with_params<&cuGraphInstantiateWithParams_ptsz>(exec, graph, parameters);
}

int cuGraphExecUpdate(cu::GraphExec exec, cu::Graph graph, cu::GraphNode* error_node, int* update_result) {
  return update_graph<&cuGraphExecUpdate>(exec, graph, error_node, update_result);
}
int cuGraphExecUpdate_v2(cu::GraphExec exec, cu::Graph graph, void* update_result) {
  return update_graph<&cuGraphExecUpdate_v2>(exec, graph, update_result);
}

int cuGraphLaunch(cu::GraphExec exec, cu::Stream stream) { return launch_graph<&cuGraphLaunch>(kLegacy, exec, stream); }
int cuGraphLaunch_ptsz(cu::GraphExec exec, cu::Stream stream) {
  return launch_graph<&cuGraphLaunch_ptsz>(kPerThread, exec, stream);
}

int cuGraphExecDestroy(cu::GraphExec exec) {
  if (Interposer* state = interposer()) { state->graphs.remove(exec); }
  return call_real<&cuGraphExecDestroy>(exec);
}
