#include "interposer/hip/graph_facts.hpp"

#include <memory>
#include <new>

#include "interposer/core/kernel_names.hpp"
#include "interposer/hip/interposer.hpp"

namespace elbowroom::interposer::hip {
namespace {

constexpr int kMaxDepth = 8;  // of child graphs in child graphs
constexpr int kFirstKnownVersion = 60'000'000;

// Calls `visit(node, parameters)` for every kernel node of a graph and of its child graphs.
template <class Visit>
void for_each_kernel_node(const Interposer& state, hip::Graph graph, Visit&& visit, int depth = 0) {
  const RuntimeCalls& calls = state.calls;
  if (depth == kMaxDepth || state.version < kFirstKnownVersion || calls.graph_get_nodes == nullptr ||
      calls.graph_node_get_type == nullptr || calls.graph_kernel_node_get_params == nullptr) {
    return;
  }
  std::size_t count = 0;
  if (calls.graph_get_nodes(graph, nullptr, &count) != hip::kSuccess || count == 0) { return; }
  const std::unique_ptr<hip::GraphNode[]> nodes(new (std::nothrow) hip::GraphNode[count]);
  if (nodes == nullptr || calls.graph_get_nodes(graph, nodes.get(), &count) != hip::kSuccess) { return; }
  for (std::size_t i = 0; i < count; ++i) {
    int type = -1;
    if (calls.graph_node_get_type(nodes[i], &type) != hip::kSuccess) { continue; }
    hip::Graph child = nullptr;
    hip::KernelNodeParams parameters{};
    if (type == hip::kGraphNodeKernel && calls.graph_kernel_node_get_params(nodes[i], &parameters) == hip::kSuccess) {
      visit(nodes[i], parameters);
    } else if (type == hip::kGraphNodeChild && calls.graph_child_graph != nullptr &&
               calls.graph_child_graph(nodes[i], &child) == hip::kSuccess) {
      for_each_kernel_node(state, child, visit, depth + 1);
    }
  }
}

// What is no host function of the program is a module's.
bool is_collective(const RuntimeCalls& calls, const hip::KernelNodeParams& parameters) {
  const char* name = nullptr;
  if (calls.kernel_name_by_host_function != nullptr) { name = calls.kernel_name_by_host_function(parameters.function, nullptr); }
  if (name == nullptr && calls.kernel_name != nullptr) {
    name = calls.kernel_name(static_cast<hip::Function>(parameters.function));
  }
  return name != nullptr && is_communication(name);
}

bool wants_priority(const Rules& rules) { return rules.priority && rules.policy != Policy::observe; }

bool greatest_priority(const RuntimeCalls& calls, int& priority) {
  int least = 0;
  return calls.device_get_stream_priority_range != nullptr &&
         calls.device_get_stream_priority_range(&least, &priority) == hip::kSuccess && priority < least;
}

}  // namespace

GraphFacts read_graph(Interposer& state, hip::Graph graph) {
  const KeepsLastError errors(state.calls);
  GraphFacts facts;
  for_each_kernel_node(state, graph, [&](hip::GraphNode, const hip::KernelNodeParams& parameters) {
    is_collective(state.calls, parameters) ? ++facts.collectives : ++facts.computes;
  });
  return facts;
}

bool prioritise_collectives(Interposer& state, hip::Graph graph) {
  const RuntimeCalls& calls = state.calls;
  const KeepsLastError errors(calls);
  int priority = 0;
  if (!wants_priority(state.rules) || calls.graph_kernel_node_set_attribute == nullptr || !greatest_priority(calls, priority)) {
    return false;
  }
  bool any = false;
  for_each_kernel_node(state, graph, [&](hip::GraphNode node, const hip::KernelNodeParams& parameters) {
    if (!is_collective(calls, parameters)) { return; }
    hip::LaunchAttributeValue value{};
    value.priority = priority;
    any = calls.graph_kernel_node_set_attribute(node, hip::kLaunchPriority, &value) == hip::kSuccess || any;
  });
  return any;
}

}  // namespace elbowroom::interposer::hip
