#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "interposer/core/core.hpp"

namespace elbowroom::interposer {

/// Brute force: every operation of a program as a node, every order that the program asked for as an edge, and a search through the
/// edges for every question.
class OrderOracle {
 public:
  using Node = std::size_t;
  struct Stream {
    StreamInfo info;
    std::vector<Node> operations;  ///< eager ones
    std::vector<Node> captured;    ///< in the capture that it is part of
    int capture = 0;
  };

  std::map<StreamId, Stream> streams;

  [[nodiscard]] bool capturing(StreamId stream) const { return active_captures_.contains(streams.at(stream).capture); }

  /// A kernel: in the stream's order, and in the legacy default stream's. So is a record or a wait on the legacy stream itself.
  Node operation(StreamId id) {
    const Node node = edges_.size();
    edges_.emplace_back();
    Stream& stream = streams.at(id);
    node_capture_.push_back(capturing(id) ? stream.capture : 0);
    if (capturing(id)) {
      edges_[node] = stream.captured;
      stream.captured.push_back(node);
      return node;
    }
    edges_[node] = stream.operations;
    if (stream.info.blocking) {
      const auto& others = is_legacy_stream(id) ? blocking_[stream.info.context] : legacy_[stream.info.context];
      edges_[node].insert(edges_[node].end(), others.begin(), others.end());
      (is_legacy_stream(id) ? legacy_ : blocking_)[stream.info.context].push_back(node);
    }
    stream.operations.push_back(node);
    return node;
  }

  /// A record or a wait: in the stream's own order alone, which the legacy default stream's kernels are not part of.
  Node mark(StreamId id) {
    if (is_legacy_stream(id) || capturing(id)) { return operation(id); }
    const Node node = edges_.size();
    edges_.push_back(streams.at(id).operations);
    node_capture_.push_back(0);
    streams.at(id).operations.push_back(node);
    return node;
  }

  /// Whether some collective of the same device and capture can run beside the operation.
  [[nodiscard]] bool in_window(StreamId stream, Node node) const {
    const std::vector<bool> before = ancestors({node});
    for (const auto& [collective, device] : collectives_) {
      const bool meets = device == streams.at(stream).info.device && node_capture_[collective] == node_capture_[node];
      if (meets && !finished_.contains(collective) && !before[collective]) { return true; }
    }
    return false;
  }
  /// What must have ended before the operation begins, itself included.
  [[nodiscard]] std::vector<bool> before(Node node) const { return ancestors({node}); }
  void collective(StreamId stream, Node node) { collectives_[node] = streams.at(stream).info.device; }

  void record(EventId event, StreamId stream) { events_[event] = mark(stream); }
  [[nodiscard]] bool recorded(EventId event) const { return events_.contains(event); }
  [[nodiscard]] int capture_of(EventId event) const { return node_capture_[events_.at(event)]; }
  [[nodiscard]] bool is_active(int capture) const { return active_captures_.contains(capture); }
  void forget_event(EventId event) { events_.erase(event); }
  void wait(StreamId id, EventId event) {
    if (!recorded(event)) { return; }
    Stream& stream = streams.at(id);
    if (capture_of(event) != 0 && !capturing(id)) {
      stream.capture = capture_of(event);
      stream.captured.clear();
    }
    edges_[mark(id)].push_back(events_.at(event));
  }

  void begin_capture(StreamId id) {
    streams.at(id).capture = ++last_capture_;
    streams.at(id).captured.clear();
    active_captures_.insert(last_capture_);
    origins_[id] = last_capture_;
  }
  [[nodiscard]] bool is_origin(StreamId id) const { return origins_.contains(id) && is_active(origins_.at(id)); }
  void end_capture(StreamId id) { active_captures_.erase(origins_.at(id)); }

  void finish_event(EventId event) {
    if (recorded(event)) { finish(ancestors({events_.at(event)})); }
  }
  void finish_stream(StreamId id) {
    std::vector<Node> held = streams.at(id).operations;
    const auto& others = blocking_[streams.at(id).info.context];
    if (is_legacy_stream(id)) { held.insert(held.end(), others.begin(), others.end()); }
    finish(ancestors(held));
  }
  void finish_context(ContextId context) {
    std::vector<Node> all;
    for (const auto& [id, stream] : streams) {
      if (stream.info.context == context) { all.insert(all.end(), stream.operations.begin(), stream.operations.end()); }
    }
    all.insert(all.end(), gone_[context].begin(), gone_[context].end());
    finish(ancestors(all));
  }
  void destroy(StreamId id) {
    Stream& stream = streams.at(id);
    auto& gone = gone_[stream.info.context];
    gone.insert(gone.end(), stream.operations.begin(), stream.operations.end());
    streams.erase(id);
  }

 private:
  /// The nodes themselves included.
  [[nodiscard]] std::vector<bool> ancestors(std::vector<Node> open) const {
    std::vector<bool> found(edges_.size());
    while (!open.empty()) {
      const Node node = open.back();
      open.pop_back();
      if (found[node]) { continue; }
      found[node] = true;
      open.insert(open.end(), edges_[node].begin(), edges_[node].end());
    }
    return found;
  }
  void finish(const std::vector<bool>& nodes) {
    for (const auto& [collective, device] : collectives_) {
      if (nodes[collective]) { finished_.insert(collective); }
    }
  }

  std::vector<std::vector<Node>> edges_;  ///< to what comes before
  std::vector<int> node_capture_;
  std::map<Node, std::int32_t> collectives_;  ///< node and device
  std::set<Node> finished_;
  std::map<EventId, Node> events_;
  std::map<ContextId, std::vector<Node>> legacy_, blocking_, gone_;
  std::set<int> active_captures_;
  std::map<StreamId, int> origins_;
  int last_capture_ = 0;
};

}  // namespace elbowroom::interposer
