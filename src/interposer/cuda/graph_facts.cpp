#include "interposer/cuda/graph_facts.hpp"

#include <array>
#include <memory>
#include <new>

#include "interposer/core/kernel_names.hpp"
#include "interposer/cuda/interposer.hpp"

namespace elbowroom::interposer::cuda {
namespace {

constexpr int kMaxDepth = 8;  // of child graphs in child graphs

// Whether such a node, kernels and child graphs aside, ends by itself. Host functions, waits for values, semaphores and events of others
// and conditions need not; what is not known here may be one of them.
constexpr bool ends_by_itself(int type) {
  constexpr std::array types{cu::kGraphNodeMemcpy,          cu::kGraphNodeMemset,   cu::kGraphNodeEmpty,  cu::kGraphNodeEventRecord,
                             cu::kGraphNodeSemaphoreSignal, cu::kGraphNodeMemAlloc, cu::kGraphNodeMemFree};
  for (const int known : types) {
    if (type == known) { return true; }
  }
  return false;
}

// Calls `visit(node, parameters)` for every kernel node of a graph and of its child graphs. True: all nodes were read, and every other one
// ends by itself.
template <class Visit>
bool visit_kernel_nodes(const DriverCalls& driver, cu::Graph graph, Visit&& visit, int depth = 0) {
  if (depth == kMaxDepth || driver.graph_get_nodes == nullptr || driver.graph_node_get_type == nullptr ||
      driver.graph_kernel_node_get_params == nullptr) {
    return false;
  }
  std::size_t count = 0;
  if (driver.graph_get_nodes(graph, nullptr, &count) != cu::kSuccess) { return false; }
  if (count == 0) { return true; }
  const std::unique_ptr<cu::GraphNode[]> nodes(new (std::nothrow) cu::GraphNode[count]);
  if (nodes == nullptr || driver.graph_get_nodes(graph, nodes.get(), &count) != cu::kSuccess) { return false; }
  bool all_end = true;
  for (std::size_t i = 0; i < count; ++i) {
    int type = -1;
    cu::Graph child = nullptr;
    cu::KernelNodeParamsV2 parameters{};
    if (driver.graph_node_get_type(nodes[i], &type) != cu::kSuccess) {
      all_end = false;
    } else if (type == cu::kGraphNodeKernel) {
      if (driver.graph_kernel_node_get_params(nodes[i], &parameters) == cu::kSuccess) { visit(nodes[i], parameters); }
    } else if (type == cu::kGraphNodeChild) {
      const bool read = driver.graph_child_graph != nullptr && driver.graph_child_graph(nodes[i], &child) == cu::kSuccess;
      all_end = read && visit_kernel_nodes(driver, child, visit, depth + 1) && all_end;
    } else {
      all_end = ends_by_itself(type) && all_end;
    }
  }
  return all_end;
}

bool is_collective(const DriverCalls& driver, const cu::KernelNodeParamsV2& parameters) {
  cu::Function function = parameters.v1.function;
  if (function == nullptr && driver.kernel_get_function != nullptr) { driver.kernel_get_function(&function, parameters.kernel); }
  const char* name = nullptr;
  return function != nullptr && driver.func_get_name != nullptr &&
         driver.func_get_name(&name, plain_function(driver, function)) == cu::kSuccess && name != nullptr && is_communication(name);
}

bool wants_priority(const Rules& rules) { return rules.priority && rules.policy != Policy::observe; }

}  // namespace

GraphFacts read_graph(Interposer& state, cu::Graph graph) {
  GraphFacts facts;
  facts.waits = !visit_kernel_nodes(state.driver, graph, [&](cu::GraphNode, const cu::KernelNodeParamsV2& parameters) {
    is_collective(state.driver, parameters) ? ++facts.collectives : ++facts.computes;
  });
  return facts;
}

bool others_have_priorities(const DriverCalls& driver, cu::Graph graph) {
  bool any = driver.graph_kernel_node_get_attribute == nullptr;
  (void)visit_kernel_nodes(driver, graph, [&](cu::GraphNode node, const cu::KernelNodeParamsV2& parameters) {
    cu::LaunchAttributeValue value{};
    if (any || is_collective(driver, parameters)) { return; }
    any = driver.graph_kernel_node_get_attribute(node, cu::kLaunchPriority, &value) != cu::kSuccess || value.priority != 0;
  });
  return any;
}

bool prioritise_collectives(Interposer& state, cu::Graph graph) {
  const DriverCalls& driver = state.driver;
  int priority = 0;
  if (!wants_priority(state.rules) || driver.graph_kernel_node_set_attribute == nullptr ||
      !state.contexts.greatest_priority(state.contexts.current(), priority)) {
    return false;
  }
  bool any = false;
  (void)visit_kernel_nodes(driver, graph, [&](cu::GraphNode node, const cu::KernelNodeParamsV2& parameters) {
    if (!is_collective(driver, parameters)) { return; }
    cu::LaunchAttributeValue value{};
    value.priority = priority;
    any = driver.graph_kernel_node_set_attribute(node, cu::kLaunchPriority, &value) == cu::kSuccess || any;
  });
  return any;
}

}  // namespace elbowroom::interposer::cuda
