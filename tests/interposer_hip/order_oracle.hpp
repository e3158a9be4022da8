#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <vector>

#include "interposer/core/handles.hpp"

namespace elbowroom::interposer {

/// Brute force: every operation of a program as a node, every order that the program asked for as an edge, and a search through the
/// edges for every question.
class OrderOracle {
 public:
  using Node = std::size_t;
  struct Info {
    ContextId context = 0;
    bool blocking = false;  ///< waits for the legacy default stream, and the other way round
  };
  struct Stream {
    Info info;
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
      const auto& others = is_legacy(id) ? blocking_[stream.info.context] : legacy_[stream.info.context];
      edges_[node].insert(edges_[node].end(), others.begin(), others.end());
      (is_legacy(id) ? legacy_ : blocking_)[stream.info.context].push_back(node);
    }
    stream.operations.push_back(node);
    return node;
  }

  /// A record or a wait: in the stream's own order alone, which the legacy default stream's kernels are not part of.
  Node mark(StreamId id) {
    if (is_legacy(id) || capturing(id)) { return operation(id); }
    const Node node = edges_.size();
    edges_.push_back(streams.at(id).operations);
    node_capture_.push_back(0);
    streams.at(id).operations.push_back(node);
    return node;
  }

  /// What must have ended before the operation begins, itself included.
  [[nodiscard]] std::vector<bool> before(Node node) const { return ancestors({node}); }

  void record(EventId event, StreamId stream) { events_[event] = mark(stream); }
  [[nodiscard]] bool recorded(EventId event) const { return events_.contains(event); }
  [[nodiscard]] int capture_of(EventId event) const { return node_capture_[events_.at(event)]; }
  [[nodiscard]] bool is_active(int capture) const { return active_captures_.contains(capture); }
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

  void destroy(StreamId id) { streams.erase(id); }

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
  static bool is_legacy(StreamId id) { return (id & 7U) == 1; }

  std::vector<std::vector<Node>> edges_;  ///< to what comes before
  std::vector<int> node_capture_;
  std::map<EventId, Node> events_;
  std::map<ContextId, std::vector<Node>> legacy_, blocking_;
  std::set<int> active_captures_;
  std::map<StreamId, int> origins_;
  int last_capture_ = 0;
};

}  // namespace elbowroom::interposer
