#include "backend_sim/sm_history.hpp"

#include <algorithm>
#include <utility>

namespace elbowroom::sim {

const SmHistory::Edge* SmHistory::Node::find(const SmAct& act) const {
  const auto found = std::ranges::find_if(edges, [&](const Edge& edge) { return edge.act.same(act); });
  return found == edges.end() ? nullptr : &*found;
}

SmHistory::Node* SmHistory::root(QuietSms state) {
  const auto [found, added] = roots_.try_emplace(state.key());
  Root& root = found->second;
  if (added) {
    root.state = std::move(state);
    root.node.quiet = &root.state;
    root.node.next = kNever;
  }
  return &root.node;
}

SmHistory::Node* SmHistory::node() { return &nodes_.emplace_back(); }

}  // namespace elbowroom::sim
