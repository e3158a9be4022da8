#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "backend_sim/live_sms.hpp"

namespace elbowroom::sim {

/// What a device does to its SMs. Times count from the first act since they were quiet.
struct SmAct {
  enum class Kind { advance, begin, start, leave, copying, place, settle };
  Kind kind = Kind::advance;
  int lane = 0;
  std::int64_t value = 0;  ///< kernel, blocks, whether copies are under way, or picoseconds
  std::optional<int> waiting = std::nullopt;
  bool urgent = false;
  double time = 0;  ///< of an advance; its picoseconds tell it from others

  [[nodiscard]] bool same(const SmAct& other) const {
    return kind == other.kind && lane == other.lane && value == other.value && waiting == other.waiting && urgent == other.urgent;
  }
};

/// What SMs did so far, from each quiet state on and by the acts that followed: devices that do the same from the same state get
/// the same. One for all devices of a simulation.
class SmHistory {
 public:
  struct Node;
  struct Edge {
    SmAct act;
    Node* to = nullptr;
    std::vector<EndedBlocks> ended;    ///< of an advance
    std::vector<PlacedBlocks> placed;  ///< of a placement, or before an advance
  };
  /// After some acts.
  struct Node {
    std::optional<double> next;       ///< when something that shows happens unless there is another act before; kNever: it does not
    double silent_until = 0;          ///< nothing that shows happens before
    const QuietSms* quiet = nullptr;  ///< the state; null: blocks work, or an instant is not over
    std::vector<Edge> edges;

    [[nodiscard]] const Edge* find(const SmAct& act) const;
  };

  /// `lanes`: of the devices, at most.
  explicit SmHistory(int lanes) : lanes_(lanes) {}

  [[nodiscard]] int lanes() const { return lanes_; }
  /// The node of a quiet state.
  Node* root(QuietSms state);
  Node* node();
  /// No more is to be kept: it would be forgotten only with the simulation.
  [[nodiscard]] bool full() const { return nodes_.size() >= kMostNodes; }

 private:
  static constexpr std::size_t kMostNodes = std::size_t{1} << 18;

  struct Root {
    QuietSms state;
    Node node;
  };

  int lanes_;
  std::deque<Node> nodes_;
  std::map<std::string, Root> roots_;
};

}  // namespace elbowroom::sim
