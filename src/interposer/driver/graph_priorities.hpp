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

/// Whether some kernel of those that are `wanted` has a priority of its own, or may have one, as in the body of a conditional node.
template <Driver D, class Wanted>
bool some_have_priorities(const D& driver, typename D::Graph graph, Wanted&& wanted) {
  const typename D::OwnCalls own(driver.calls);
  bool any = driver.calls.graph_kernel_node_get_attribute == nullptr;
  const OtherNodes others =
      visit_kernel_nodes(driver, graph, [&](typename D::GraphNode node, const typename D::KernelNodeParams& parameters) {
        typename D::LaunchAttributeValue value{};
        if (any || !wanted(parameters)) { return; }
        any = driver.calls.graph_kernel_node_get_attribute(node, D::kLaunchPriority, &value) != D::kSuccess || value.priority != 0;
      });
  return any || others.hold_kernels;
}

/// Collectives whose priorities count where the program asked for those of nodes.
template <Driver D>
bool collectives_may_have_priorities(const D& driver, typename D::Graph graph) {
  return some_have_priorities(driver, graph,
                              [&](const typename D::KernelNodeParams& parameters) { return may_go_first(driver, parameters); });
}

/// Kernels beside the collectives. The flag for node priorities would make theirs count as well.
template <Driver D>
bool others_have_priorities(const D& driver, typename D::Graph graph) {
  return some_have_priorities(driver, graph,
                              [&](const typename D::KernelNodeParams& parameters) { return !may_go_first(driver, parameters); });
}

/// The priority of collectives that go first in a graph that is instantiated now; 0: the policy or the driver has none.
template <Driver D>
int first_priority(Interposer<D>& state) {
  const typename D::OwnCalls own(state.driver.calls);
  const auto& calls = state.driver.calls;
  int priority = 0;
  const bool may = state.rules.priority && state.rules.policy != Policy::observe &&
                   calls.graph_kernel_node_get_attribute != nullptr && calls.graph_kernel_node_set_attribute != nullptr;
  return may && state.driver.greatest_priority(state.driver.current_place(), priority) ? priority : 0;
}

/// For a scope: the graph's collectives have this priority, and its other kernels none. What these got from the streams that they
/// were captured on means nothing to a program that asked for no node priorities, and must not count because ours do. Behind the
/// scope each node has again what the program gave it. Nothing changes for a priority of 0.
template <Driver D>
class CollectivesFirst {
 public:
  CollectivesFirst(const D& driver, typename D::Graph graph, int priority) : driver_(driver) {
    if (priority == 0) { return; }
    const typename D::OwnCalls own(driver_.calls);
    std::size_t kernels = 0;
    (void)visit_kernel_nodes(driver_, graph, [&](typename D::GraphNode, const typename D::KernelNodeParams&) { ++kernels; });
    own_.reset(new (std::nothrow) Own[kernels]);
    if (own_ == nullptr) { return; }
    (void)visit_kernel_nodes(driver_, graph, [&](typename D::GraphNode node, const typename D::KernelNodeParams& parameters) {
      if (count_ < kernels) { change(node, may_go_first(driver_, parameters) ? priority : 0); }
    });
  }
  ~CollectivesFirst() {
    const typename D::OwnCalls own(driver_.calls);
    for (std::size_t i = 0; i < count_; ++i) { set(own_[i].node, own_[i].priority); }
  }
  CollectivesFirst(const CollectivesFirst&) = delete;
  CollectivesFirst& operator=(const CollectivesFirst&) = delete;

  /// True: some collective has it, and the graph must be instantiated with node priorities for it to count.
  [[nodiscard]] bool any() const { return any_; }

 private:
  struct Own {
    typename D::GraphNode node;
    int priority;
  };
  bool set(typename D::GraphNode node, int priority) const {
    typename D::LaunchAttributeValue value{};
    value.priority = priority;
    return driver_.calls.graph_kernel_node_set_attribute(node, D::kLaunchPriority, &value) == D::kSuccess;
  }
  void change(typename D::GraphNode node, int priority) {
    typename D::LaunchAttributeValue value{};
    if (driver_.calls.graph_kernel_node_get_attribute(node, D::kLaunchPriority, &value) != D::kSuccess) { return; }
    if (value.priority != priority) {
      if (!set(node, priority)) { return; }
      own_[count_++] = {node, value.priority};
    }
    any_ = any_ || priority != 0;
  }

  const D& driver_;
  std::unique_ptr<Own[]> own_;
  std::size_t count_ = 0;
  bool any_ = false;
};

}  // namespace elbowroom::interposer::driver
