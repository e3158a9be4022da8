#include "elbowroom/plan/order_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "elbowroom/base/provenance.hpp"
#include "elbowroom/plan/program.hpp"
#include "elbowroom/trace/timeline.hpp"
#include "model/communicator_table.hpp"
#include "model/library_kernels.hpp"

namespace elbowroom {
namespace {

using Spans = std::vector<const Span*>;

struct Times {
  Nanoseconds begin;
  Nanoseconds end;
};

/// From the first kernel of a launch to its last, for as many as the names tell apart. `spans` in the order in which they run.
std::vector<Times> launched(const Spans& spans) {
  std::vector<Times> times;
  for (const Span* span : spans) {
    if (times.empty() || !detail::is_split_k_sum(span->name)) {
      times.push_back({span->begin, span->end});
    } else {
      times.back().end = span->end;
    }
  }
  return times;
}

/// One device's part of the program and of the recording.
class DeviceOrder {
 public:
  /// `here`: by operation, whether the device takes part.
  DeviceOrder(const Step& step, const Program& program, int device, std::vector<bool> here)
      : step_(step), program_(program), device_(device), here_(std::move(here)), times_(program.launches.size()) {}

  Status matched(const Timeline& timeline) {
    for (const SpanKind side : {SpanKind::compute, SpanKind::communication}) {
      std::vector<int> launches;
      for (int at = 0; at < static_cast<int>(program_.launches.size()); ++at) {
        if (is_here(at) && side_of(at) == side) { launches.push_back(at); }
      }
      Spans spans;
      for (const Span& span : timeline.spans) {
        if (span.device == device_ && span.kind == side) { spans.push_back(&span); }
      }
      std::ranges::sort(spans, {}, &Span::begin);
      if (Status whole = in_turn(launches) ? match(launches, spans, side) : match_lanes(launches, spans, side); !whole) {
        return whole;
      }
    }
    return {};
  }

  [[nodiscard]] Status kept() const {
    std::vector<int> latest(program_.lanes.size(), -1);
    for (int at = 0; at < static_cast<int>(program_.launches.size()); ++at) {
      if (!is_here(at)) { continue; }
      const Launch& launch = launch_of(at);
      int& before = latest[static_cast<std::size_t>(launch.lane)];
      if (before >= 0 && side_of(before) != side_of(at)) {
        if (Status waited = began_after(at, before, times_of(before).end, "ended"); !waited) { return waited; }
      }
      before = at;
      for (const int other : launch.after) {
        if (Status waited = began_after(at, other, times_of(other).end, "ended"); !waited) { return waited; }
      }
      for (const int other : launch.after_begun) {
        if (Status waited = began_after(at, other, times_of(other).begin, "begun"); !waited) { return waited; }
      }
    }
    return {};
  }

 private:
  [[nodiscard]] const Launch& launch_of(int at) const { return program_.launches[static_cast<std::size_t>(at)]; }
  [[nodiscard]] bool is_here(int at) const { return here_[static_cast<std::size_t>(launch_of(at).operation)]; }
  [[nodiscard]] const Operation& operation_of(int at) const {
    return step_.operations[static_cast<std::size_t>(launch_of(at).operation)];
  }
  [[nodiscard]] SpanKind side_of(int at) const { return computes(operation_of(at)) ? SpanKind::compute : SpanKind::communication; }
  [[nodiscard]] const Times& times_of(int at) const { return times_[static_cast<std::size_t>(at)]; }

  /// Whether each of the launches waits for the one before it.
  [[nodiscard]] bool in_turn(const std::vector<int>& launches) const {
    for (std::size_t at = 1; at < launches.size(); ++at) {
      const Launch& later = launch_of(launches[at]);
      if (launch_of(launches[at - 1]).lane != later.lane && !std::ranges::binary_search(later.after, launches[at - 1])) {
        return false;
      }
    }
    return true;
  }

  Status match_lanes(const std::vector<int>& launches, const Spans& spans, SpanKind side) {
    std::map<int, std::vector<int>> by_lane;
    for (const int at : launches) { by_lane[launch_of(at).lane].push_back(at); }
    std::map<std::int64_t, Spans> by_stream;
    for (const Span* span : spans) { by_stream[span->stream].push_back(span); }
    if (by_stream.size() != by_lane.size()) {
      return unavailable(fmt::format("the recording of GPU {} shows {} on {} streams, expected {}", device_, name_of(side),
                                     by_stream.size(), by_lane.size()));
    }
    auto stream = by_stream.begin();
    for (const auto& [lane, of_lane] : by_lane) {
      if (Status whole = match(of_lane, (stream++)->second, side); !whole) { return whole; }
    }
    return {};
  }

  /// Both in the order in which they run.
  Status match(const std::vector<int>& launches, const Spans& spans, SpanKind side) {
    if (launches.empty() && spans.empty()) { return {}; }
    const std::vector<Times> times = launched(spans);
    const bool several = side == SpanKind::compute;
    const bool whole =
        !launches.empty() && !times.empty() && (several ? times.size() % launches.size() == 0 : times.size() == launches.size());
    if (!whole) {
      return unavailable(fmt::format("the recording of GPU {} holds {} spans of {}, expected {}{}", device_, times.size(),
                                     name_of(side), several ? "a multiple of " : "", launches.size()));
    }
    const std::size_t kernels = times.size() / launches.size();
    for (std::size_t at = 0; at < launches.size(); ++at) {
      times_[static_cast<std::size_t>(launches[at])] = {times[at * kernels].begin, times[(at + 1) * kernels - 1].end};
    }
    return {};
  }

  [[nodiscard]] Status began_after(int at, int before, Nanoseconds instant, const char* what) const {
    if (!is_here(before) || times_of(at).begin >= instant) { return {}; }
    return failed(fmt::format("{} of repeat {} on GPU {} began {} ns before {} of repeat {} had {}", operation_of(at).name,
                              launch_of(at).repeat, device_, (instant - times_of(at).begin).count(), operation_of(before).name,
                              launch_of(before).repeat, what));
  }

  static const char* name_of(SpanKind side) { return side == SpanKind::compute ? "computation" : "communication"; }

  const Step& step_;
  const Program& program_;
  int device_;
  std::vector<bool> here_;  ///< by operation
  std::vector<Times> times_;
};

}  // namespace

Status check_order(const Step& step, const Program& program, const Timeline& timeline) {
  // A simulated recording may show one rank of many that do the same.
  std::set<int> shown;
  for (const Span& span : timeline.spans) { shown.insert(span.device); }
  const detail::CommunicatorTable table(step);
  for (int device = 0; device < step.ranks; ++device) {
    if (device > 0 && timeline.provenance == Provenance::simulated && !shown.contains(device)) { continue; }
    DeviceOrder order(step, program, device, table.has_part(device));
    if (Status whole = order.matched(timeline); !whole) { return whole; }
    if (Status kept = order.kept(); !kept) { return kept; }
  }
  return {};
}

}  // namespace elbowroom
