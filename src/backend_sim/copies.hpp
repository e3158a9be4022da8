#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <vector>

namespace elbowroom::sim {

/// Copies to peers under way: together they go at one rate, of which each has an equal part.
class Copies {
 public:
  /// Bytes per microsecond.
  explicit Copies(double rate) : rate_(rate) {}

  void begin(std::size_t task, double bytes, double now) {
    share_out(now);
    under_way_.push_back({task, bytes, 0});
    set_ends(now);
  }

  /// The copies that end at `now`.
  std::vector<std::size_t> end(double now) {
    std::vector<std::size_t> ended;
    if (next_end() > now) { return ended; }
    share_out(now);
    std::erase_if(under_way_, [&](const Copy& copy) {
      if (copy.end > now) { return false; }
      ended.push_back(copy.task);
      return true;
    });
    set_ends(now);
    return ended;
  }

  /// Infinity when none is under way.
  [[nodiscard]] double next_end() const {
    double next = std::numeric_limits<double>::infinity();
    for (const Copy& copy : under_way_) { next = std::min(next, copy.end); }
    return next;
  }

  [[nodiscard]] bool any() const { return !under_way_.empty(); }

 private:
  struct Copy {
    std::size_t task = 0;
    double left = 0;  ///< bytes, at since_
    double end = 0;   ///< as things are
  };

  [[nodiscard]] double share() const { return rate_ / static_cast<double>(under_way_.size()); }

  void share_out(double now) {
    for (Copy& copy : under_way_) { copy.left -= (now - since_) * share(); }
    since_ = now;
  }

  void set_ends(double now) {
    for (Copy& copy : under_way_) { copy.end = now + copy.left / share(); }
  }

  double rate_;
  double since_ = 0;
  std::vector<Copy> under_way_;
};

}  // namespace elbowroom::sim
