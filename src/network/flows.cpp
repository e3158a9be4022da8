#include "elbowroom/network/flows.hpp"

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

namespace elbowroom {
namespace {

// Ends that differ by rounding alone are one instant.
constexpr double kSameInstant = 1e-9;

struct Shared {
  double left = 0;         ///< of the link's rate
  std::vector<int> flows;  ///< that have no rate yet and some that have
  int open = 0;            ///< of them without one
};

class Filling {
 public:
  Filling(const std::vector<double>& rates, const std::vector<const Flow*>& flows)
      : flows_(flows), made_(flows.size(), -1.0), links_(rates.size()) {
    for (std::size_t link = 0; link < rates.size(); ++link) { links_[link].left = rates[link]; }
    for (std::size_t flow = 0; flow < flows.size(); ++flow) {
      for (const int link : flows[flow]->links) {
        Shared& shared = links_[static_cast<std::size_t>(link)];
        shared.flows.push_back(static_cast<int>(flow));
        ++shared.open;
      }
    }
  }

  std::vector<double> rates() {
    for (double share = least(); share < std::numeric_limits<double>::infinity(); share = least()) {
      // All links that are as narrow at once: mostly there are many.
      for (Shared& link : links_) {
        if (link.open > 0 && link.left / link.open <= share * (1 + kSameInstant)) { fill(link, share); }
      }
    }
    return made_;
  }

 private:
  [[nodiscard]] double least() const {
    double share = std::numeric_limits<double>::infinity();
    for (const Shared& link : links_) {
      if (link.open > 0) { share = std::min(share, link.left / link.open); }
    }
    return share;
  }

  void fill(const Shared& narrow, double share) {
    for (const int flow : narrow.flows) {
      double& rate = made_[static_cast<std::size_t>(flow)];
      if (rate >= 0) { continue; }
      rate = share;
      for (const int link : flows_[static_cast<std::size_t>(flow)]->links) {
        Shared& shared = links_[static_cast<std::size_t>(link)];
        shared.left = std::max(shared.left - share, 0.0);
        --shared.open;
      }
    }
  }

  const std::vector<const Flow*>& flows_;
  std::vector<double> made_;
  std::vector<Shared> links_;
};

/// Flows under way, those whose first byte is, and those that wait.
class Traffic {
 public:
  Traffic(const std::vector<double>& rates, const std::vector<Flow>& flows)
      : rates_(rates), flows_(flows), left_(flows.size()), waits_for_(flows.size()), followers_(flows.size()), ends_(flows.size()) {
    for (std::size_t at = 0; at < flows.size(); ++at) {
      left_[at] = flows[at].bytes;
      waits_for_[at] = flows[at].after.size();
      for (const int before : flows[at].after) { followers_[static_cast<std::size_t>(before)].push_back(at); }
      if (waits_for_[at] == 0) { begin(at); }
    }
  }

  std::vector<Microseconds> ends() {
    while (!arriving_.empty() || !under_way_.empty()) { advance(); }
    return std::move(ends_);
  }

 private:
  using Arrival = std::pair<double, std::size_t>;

  void begin(std::size_t flow) { arriving_.emplace(now_ + flows_[flow].latency.count(), flow); }

  void end(std::size_t flow) {
    ends_[flow] = Microseconds(now_);
    for (const std::size_t next : followers_[flow]) {
      if (--waits_for_[next] == 0) { begin(next); }
    }
  }

  void advance() {
    std::vector<const Flow*> sharing;
    sharing.reserve(under_way_.size());
    for (const std::size_t flow : under_way_) { sharing.push_back(&flows_[flow]); }
    const std::vector<double> rates = max_min_rates(rates_, sharing);
    double next = arriving_.empty() ? std::numeric_limits<double>::infinity() : arriving_.top().first;
    for (std::size_t at = 0; at < under_way_.size(); ++at) { next = std::min(next, now_ + left_[under_way_[at]] / rates[at]); }
    const double passed = next - now_;
    now_ = next;
    std::vector<std::size_t> staying;
    std::vector<std::size_t> ended;
    for (std::size_t at = 0; at < under_way_.size(); ++at) {
      const std::size_t flow = under_way_[at];
      left_[flow] -= passed * rates[at];
      (left_[flow] <= kSameInstant * flows_[flow].bytes ? ended : staying).push_back(flow);
    }
    under_way_ = std::move(staying);
    for (const std::size_t flow : ended) { end(flow); }
    while (!arriving_.empty() && arriving_.top().first <= now_ * (1 + kSameInstant)) {
      under_way_.push_back(arriving_.top().second);
      arriving_.pop();
    }
  }

  const std::vector<double>& rates_;
  const std::vector<Flow>& flows_;
  double now_ = 0;
  std::vector<double> left_;  ///< bytes
  std::vector<std::size_t> waits_for_;
  std::vector<std::vector<std::size_t>> followers_;
  std::vector<std::size_t> under_way_;
  std::priority_queue<Arrival, std::vector<Arrival>, std::greater<>> arriving_;
  std::vector<Microseconds> ends_;
};

}  // namespace

std::vector<double> max_min_rates(const std::vector<double>& rates, const std::vector<const Flow*>& flows) {
  return Filling(rates, flows).rates();
}

std::vector<Microseconds> flow_ends(const std::vector<double>& rates, const std::vector<Flow>& flows) {
  return Traffic(rates, flows).ends();
}

}  // namespace elbowroom
