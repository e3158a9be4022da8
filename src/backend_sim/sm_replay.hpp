#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "backend_sim/live_sms.hpp"
#include "backend_sim/sm_history.hpp"

namespace elbowroom::sim {

/// The SMs of one device, simulated where the history does not know yet what they do. An instant is advance(), then leave(),
/// set_copying() and begin(), then place(), then start() and set_copying(), then settle(). Instants at which nothing of the device
/// happens cost nothing.
class SmReplay {
 public:
  SmReplay(const Machine& machine, const SmCapacity& capacity, const std::vector<SimKernel>& kernels, int lanes,
           SmHistory& history);

  /// When to come back at the latest if nothing is done before; infinity: never.
  [[nodiscard]] double next() const;
  /// Moves time to `now`, which is not beyond next().
  const std::vector<EndedBlocks>& advance(double now);
  void begin(int lane, int kernel, std::optional<int> waiting, bool urgent);
  void start(int lane, std::int64_t count);
  void leave(int lane, std::int64_t count);
  void set_copying(bool copying);
  const std::vector<PlacedBlocks>& place();
  void settle();

 private:
  using Node = SmHistory::Node;

  [[nodiscard]] double since_start(double now) const { return started_ ? now - *started_ : 0; }
  /// An act of the device belongs to this instant.
  void touch();
  /// Takes what the history knows of the act, or simulates it and tells the history.
  SmHistory::Edge step(const SmAct& act);
  SmHistory::Edge live(const SmAct& act);
  void keep(SmHistory::Edge edge, Node* to = nullptr);
  void keep_advance();
  /// The SMs as they are at this node, simulated again from the latest quiet state on.
  void come_alive();
  void rest();

  SmHistory& history_;
  LiveSms sms_;
  Node* node_;                     ///< null: nothing more is kept until the SMs are quiet
  Node* root_;                     ///< the latest quiet state
  std::vector<SmAct> acts_;        ///< since then, as long as nothing is simulated
  bool alive_ = false;             ///< the SMs are simulated
  bool fresh_ = true;              ///< they are in the state of the root
  std::optional<double> started_;  ///< of the first act since the root; absent: there is none
  double now_ = 0;
  bool touched_ = false;                 ///< something of the device happens at this instant
  bool due_ = false;                     ///< by itself
  std::optional<SmHistory::Edge> held_;  ///< an advance of which nothing shows so far
  std::vector<EndedBlocks> ended_;
  std::vector<PlacedBlocks> placed_;
  std::vector<EndedBlocks> late_;  ///< ended so shortly before an act that it was found with it
  std::vector<PlacedBlocks> late_placed_;
};

}  // namespace elbowroom::sim
