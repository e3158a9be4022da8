#pragma once

#include <cstddef>
#include <memory>
#include <new>

#include "interposer/core/kernel_names.hpp"
#include "interposer/driver/interposer.hpp"

/// What graphs hold, read node by node: however the nodes were made.
namespace elbowroom::interposer::driver {

inline constexpr int kMaxGraphDepth = 8;  // of child graphs in child graphs

/// Of the nodes that are neither kernels that are visited nor child graphs.
struct OtherNodes {
  bool end = true;  ///< all were read, and each ends by itself
  bool record = false;
  bool hold_kernels = false;  ///< maybe: kernels that are not visited

  OtherNodes& operator+=(const OtherNodes& other) {
    end = end && other.end;
    record = record || other.record;
    hold_kernels = hold_kernels || other.hold_kernels;
    return *this;
  }
};
inline constexpr OtherNodes kUnknownNodes{false, true, true};
inline constexpr OtherNodes kUnknownKernel{false, false, true};  ///< it may communicate, or wait for the host

/// Calls `visit(node, parameters)` for every kernel node of a graph and of its child graphs whose parameters can be read.
template <Driver D, class Visit>
OtherNodes visit_kernel_nodes(const D& driver, typename D::Graph graph, Visit&& visit, int depth = 0) {
  const auto& calls = driver.calls;
  if (depth == kMaxGraphDepth || !driver.reads_graphs() || calls.graph_get_nodes == nullptr ||
      calls.graph_node_get_type == nullptr || calls.graph_kernel_node_get_params == nullptr) {
    return kUnknownNodes;
  }
  std::size_t count = 0;
  if (calls.graph_get_nodes(graph, nullptr, &count) != D::kSuccess) { return kUnknownNodes; }
  if (count == 0) { return {}; }
  const std::unique_ptr<typename D::GraphNode[]> nodes(new (std::nothrow) typename D::GraphNode[count]);
  if (nodes == nullptr || calls.graph_get_nodes(graph, nodes.get(), &count) != D::kSuccess) { return kUnknownNodes; }
  OtherNodes others;
  for (std::size_t i = 0; i < count; ++i) {
    int type = -1;
    typename D::Graph child = nullptr;
    typename D::KernelNodeParams parameters{};
    if (calls.graph_node_get_type(nodes[i], &type) != D::kSuccess) {
      others += kUnknownNodes;
    } else if (type == D::kGraphNodeKernel) {
      if (calls.graph_kernel_node_get_params(nodes[i], &parameters) == D::kSuccess) {
        visit(nodes[i], parameters);
      } else {
        others += kUnknownKernel;
      }
    } else if (type == D::kGraphNodeChild) {
      const bool read = calls.graph_child_graph != nullptr && calls.graph_child_graph(nodes[i], &child) == D::kSuccess;
      others += read ? visit_kernel_nodes(driver, child, visit, depth + 1) : kUnknownNodes;
    } else {
      others += {D::ends_by_itself(type), D::may_record(type), type > D::kGraphNodeLastWithoutKernels};
    }
  }
  return others;
}

/// Of one kernel. Collectives are also those that the rules name, which get no priority.
template <Driver D>
GraphFacts facts_of(const D& driver, const Rules& rules, const typename D::KernelNodeParams& parameters) {
  const char* name = driver.name_of(parameters);
  GraphFacts facts;
  const bool communicates = is_communication(name) || (name != nullptr && rules.is_communication(name));
  (communicates ? facts.collectives : facts.computes) = 1;
  facts.waits = waits_for_host(name);
  return facts;
}

/// What a graph holds, child graphs included.
template <Driver D>
GraphFacts read_graph(const D& driver, const Rules& rules, typename D::Graph graph) {
  const typename D::OwnCalls own(driver.calls);
  GraphFacts facts;
  const auto count = [&](typename D::GraphNode, const typename D::KernelNodeParams& parameters) {
    const GraphFacts kernel = facts_of(driver, rules, parameters);
    facts.collectives += kernel.collectives;
    facts.computes += kernel.computes;
    facts.waits = facts.waits || kernel.waits;
  };
  const OtherNodes others = visit_kernel_nodes(driver, graph, count);
  facts.waits = facts.waits || !others.end;
  facts.records = others.record;
  return facts;
}

}  // namespace elbowroom::interposer::driver
