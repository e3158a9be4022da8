#pragma once

#include <algorithm>
#include <span>
#include <utility>

#include "interposer/core/collectives.hpp"
#include "interposer/core/graph_width.hpp"
#include "interposer/driver/graph_facts.hpp"
#include "interposer/driver/stream_priority.hpp"

/// Which nodes of a graph may get the greatest priority, and that they get it.
namespace elbowroom::interposer::driver {

/// That the kernels of a graph can run on, whichever streams they were captured on; 0: not known.
template <Driver D>
std::uint32_t sms_of_graphs(D& driver) {
  const typename D::OwnCalls own(driver.calls);
  const int device = driver.device(driver.current_place());
  if (device < 0) { return 0; }
  const std::uint32_t least = driver.least_sms(device);
  return least != 0 ? least : driver.describe_device(device).sms;
}

/// A collective, however many blocks it has: the program may change their number in an executable graph, and the driver refuses an
/// update that changes a priority.
template <Driver D>
bool may_go_first(const D& driver, const typename D::KernelNodeParams& parameters) {
  return interposer::may_go_first(driver.name_of(parameters));
}

template <Driver D>
std::uint64_t first_blocks(const D& driver, std::uint32_t sms, typename D::Graph graph, int depth = 0);

/// Those of one node.
template <Driver D>
std::uint64_t first_blocks_of(const D& driver, std::uint32_t sms, typename D::GraphNode node, int depth) {
  const auto& calls = driver.calls;
  int type = -1;
  typename D::Graph child = nullptr;
  typename D::KernelNodeParams parameters{};
  if (calls.graph_node_get_type(node, &type) != D::kSuccess) { return 0; }
  if (type == D::kGraphNodeKernel) {
    const bool read = calls.graph_kernel_node_get_params(node, &parameters) == D::kSuccess;
    return read && may_go_first(driver, parameters) ? D::blocks_of(parameters) : 0;
  }
  const bool is_child =
      type == D::kGraphNodeChild && calls.graph_child_graph != nullptr && calls.graph_child_graph(node, &child) == D::kSuccess;
  return is_child ? first_blocks(driver, sms, child, depth + 1) : 0;
}

/// How `blocks` may meet by the graph's edges. Where these are not known, all do.
template <Driver D>
std::uint64_t at_once(const D& driver, typename D::Graph graph, std::span<const typename D::GraphNode> nodes,
                      std::span<const std::uint64_t> blocks) {
  using Node = typename D::GraphNode;
  std::size_t count = 0;
  if (driver.calls.graph_get_edges == nullptr || driver.calls.graph_get_edges(graph, nullptr, nullptr, &count) != D::kSuccess) {
    count = 0;
  }
  const std::unique_ptr<Node[]> from(new (std::nothrow) Node[count]);
  const std::unique_ptr<Node[]> to(new (std::nothrow) Node[count]);
  const std::unique_ptr<GraphEdge[]> edges(new (std::nothrow) GraphEdge[count]);
  using Place = std::pair<Node, std::uint32_t>;
  const std::unique_ptr<Place[]> places(new (std::nothrow) Place[nodes.size()]);
  const bool read = from != nullptr && to != nullptr && edges != nullptr && places != nullptr &&
                    (count == 0 || driver.calls.graph_get_edges(graph, from.get(), to.get(), &count) == D::kSuccess);
  if (!read) { return most_at_once(blocks, {}); }
  for (std::uint32_t i = 0; i < nodes.size(); ++i) { places[i] = {nodes[i], i}; }
  std::sort(places.get(), places.get() + nodes.size());
  const auto place_of = [&](Node node) {
    return std::lower_bound(places.get(), places.get() + nodes.size(), Place{node, 0})->second;
  };
  for (std::size_t i = 0; i < count; ++i) { edges[i] = {place_of(from[i]), place_of(to[i])}; }
  return most_at_once(blocks, {edges.get(), count});
}

/// At most so many blocks of collectives that may go first run at once when the graph runs.
template <Driver D>
std::uint64_t first_blocks(const D& driver, std::uint32_t sms, typename D::Graph graph, int depth) {
  const typename D::OwnCalls own(driver.calls);
  using Node = typename D::GraphNode;
  const auto& calls = driver.calls;
  std::size_t count = 0;
  if (depth == kMaxGraphDepth || calls.graph_get_nodes(graph, nullptr, &count) != D::kSuccess) { return 0; }
  const std::unique_ptr<Node[]> nodes(new (std::nothrow) Node[count]);
  const std::unique_ptr<std::uint64_t[]> blocks(new (std::nothrow) std::uint64_t[count]);
  if (nodes == nullptr || blocks == nullptr || calls.graph_get_nodes(graph, nodes.get(), &count) != D::kSuccess) {
    return kUnknownBlocks;
  }
  std::uint64_t all = 0;
  for (std::size_t i = 0; i < count; ++i) { all += blocks[i] = first_blocks_of(driver, sms, nodes[i], depth); }
  return all < sms ? all : at_once<D>(driver, graph, {nodes.get(), count}, {blocks.get(), count});
}

/// Whether some kernel beside the collectives has a priority of its own, or may have one, as in the body of a conditional node. The
/// flag for node priorities would make it count as well.
template <Driver D>
bool others_have_priorities(const D& driver, typename D::Graph graph) {
  const typename D::OwnCalls own(driver.calls);
  bool any = driver.calls.graph_kernel_node_get_attribute == nullptr;
  const OtherNodes others =
      visit_kernel_nodes(driver, graph, [&](typename D::GraphNode node, const typename D::KernelNodeParams& parameters) {
        typename D::LaunchAttributeValue value{};
        if (any || may_go_first(driver, parameters)) { return; }
        any = driver.calls.graph_kernel_node_get_attribute(node, D::kLaunchPriority, &value) != D::kSuccess || value.priority != 0;
      });
  return any || others.hold_kernels;
}

/// Of kernels beside the collectives, for a scope: the priorities that nodes got from the streams they were captured from. In a
/// graph whose program asked for no node priorities they mean nothing, and must not count because ours do.
template <Driver D>
class OthersWithoutPriority {
 public:
  OthersWithoutPriority(const D& driver, typename D::Graph graph) : driver_(driver) {
    const auto& calls = driver.calls;
    if (calls.graph_kernel_node_get_attribute == nullptr || calls.graph_kernel_node_set_attribute == nullptr) { return; }
    std::size_t kernels = 0;
    (void)visit_kernel_nodes(driver, graph, [&](typename D::GraphNode, const typename D::KernelNodeParams&) { ++kernels; });
    if (kernels > 0) { own_.reset(new (std::nothrow) Own[kernels]); }
    if (own_ == nullptr) { return; }
    (void)visit_kernel_nodes(driver, graph, [&](typename D::GraphNode node, const typename D::KernelNodeParams& parameters) {
      typename D::LaunchAttributeValue value{};
      if (count_ == kernels || may_go_first(driver, parameters)) { return; }
      if (calls.graph_kernel_node_get_attribute(node, D::kLaunchPriority, &value) != D::kSuccess || value.priority == 0) { return; }
      own_[count_++] = {node, value.priority};
      set(node, 0);
    });
  }
  ~OthersWithoutPriority() {
    for (std::size_t i = 0; i < count_; ++i) { set(own_[i].node, own_[i].priority); }
  }
  OthersWithoutPriority(const OthersWithoutPriority&) = delete;
  OthersWithoutPriority& operator=(const OthersWithoutPriority&) = delete;

 private:
  struct Own {
    typename D::GraphNode node;
    int priority;
  };
  void set(typename D::GraphNode node, int priority) const {
    typename D::LaunchAttributeValue value{};
    value.priority = priority;
    (void)driver_.calls.graph_kernel_node_set_attribute(node, D::kLaunchPriority, &value);
  }

  const D& driver_;
  std::unique_ptr<Own[]> own_;
  std::size_t count_ = 0;
};

/// Gives the graph's collectives the greatest priority where the policy says so. True: some have one, and the graph must be
/// instantiated with node priorities for it to count.
template <Driver D>
bool prioritise_collectives(Interposer<D>& state, typename D::Graph graph) {
  D& driver = state.driver;
  const typename D::OwnCalls own(driver.calls);
  int priority = 0;
  if (!state.rules.priority || state.rules.policy == Policy::observe || driver.calls.graph_kernel_node_set_attribute == nullptr ||
      !driver.greatest_priority(driver.current_place(), priority)) {
    return false;
  }
  bool any = false;
  (void)visit_kernel_nodes(driver, graph, [&](typename D::GraphNode node, const typename D::KernelNodeParams& parameters) {
    if (!may_go_first(driver, parameters)) { return; }
    typename D::LaunchAttributeValue value{};
    value.priority = priority;
    any = driver.calls.graph_kernel_node_set_attribute(node, D::kLaunchPriority, &value) == D::kSuccess || any;
  });
  return any;
}

}  // namespace elbowroom::interposer::driver
