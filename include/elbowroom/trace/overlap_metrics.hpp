#pragma once

#include <optional>
#include <span>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/time.hpp"
#include "elbowroom/trace/timeline.hpp"

namespace elbowroom {

/// Share of communication time during which computation runs on the same device, in [0, 1]. Communication time is the union of
/// a device's communication spans; overlaps and communication times are summed over devices before dividing. Absent when
/// nothing communicates. Spans that end before they begin count as empty. Costs O(n log n) in spans.
ELBOWROOM_API std::optional<double> overlap_rate(const Timeline& timeline);

/// The median over recordings of the same schedule; absent when there is none or nothing communicates in one of them.
ELBOWROOM_API std::optional<double> overlap_rate(std::span<const Timeline> recordings);

/// How long the spans of one kind ran.
struct Activity {
  int spans = 0;
  Nanoseconds busy{0};   ///< union of the spans of each device, summed over devices
  Nanoseconds total{0};  ///< sum of the spans' lengths

  /// Mean length of a span; absent when there is none.
  [[nodiscard]] std::optional<Microseconds> mean() const {
    return spans > 0 ? std::optional(Microseconds(total) / static_cast<double>(spans)) : std::nullopt;
  }
};

ELBOWROOM_API Activity activity(const Timeline& timeline, SpanKind kind);

/// How much longer an operation takes than alone: overlapped / isolated - 1, so 0.16 is 16 % longer and a negative value
/// shorter. Absent when the isolated time is not above zero.
ELBOWROOM_API std::optional<double> inflation(Microseconds overlapped, Microseconds isolated);

/// The same from the mean lengths of the spans of one kind. Both timelines must hold the same mix of kernels, as two
/// recordings of one scenario do. Absent when either has no span of that kind.
ELBOWROOM_API std::optional<double> inflation(const Timeline& overlapped, const Timeline& isolated, SpanKind kind);

/// The same from the medians over recordings; absent when either has none or a recording has no span of that kind.
ELBOWROOM_API std::optional<double> inflation(std::span<const Timeline> overlapped, std::span<const Timeline> isolated,
                                              SpanKind kind);

/// What a scheme reached. A member is absent where it was not measured or has no meaning.
struct OverlapMetrics {
  std::optional<double> time_ratio;          ///< t / t_sequential
  std::optional<double> reduction;           ///< 1 - time_ratio; negative when the scheme is slower
  std::optional<double> overlap_rate;        ///< from a Timeline
  std::optional<double> overlap_efficiency;  ///< (t_sequential - t) / (t_sequential - t_critical_path); may exceed 1
  std::optional<double> compute_inflation;   ///< from a Timeline
  std::optional<double> comm_inflation;      ///< from a Timeline

  bool operator==(const OverlapMetrics&) const = default;
};

/// The members that follow from total times alone; the others stay absent. `time_ratio` and `reduction` are absent when
/// `sequential` is not above zero, `overlap_efficiency` when `sequential` is not above `critical_path`.
ELBOWROOM_API OverlapMetrics overlap_metrics(Microseconds time, Microseconds sequential, Microseconds critical_path);

}  // namespace elbowroom
