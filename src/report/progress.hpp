#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/base/time.hpp"

namespace elbowroom {

/// Work in steps of several kinds, whose numbers may become known on the way. Steps of one kind are taken to last as those that are
/// over did on average. Kinds of which none is over last as their weights say beside the others. Times are those of one clock that
/// the caller reads.
class ProgressEstimate {
 public:
  /// A weight for each kind: how long one step is beside others. 0: nothing is known of such steps, and nothing follows from them.
  ProgressEstimate(const std::vector<double>& weights, Microseconds now);

  /// So many steps of the kind are still to begin.
  void expect(std::size_t kind, int steps);
  /// A step begins, and the one before it is over.
  void begin(std::size_t kind, Microseconds now);

  /// Absent while no step tells how long another will take.
  [[nodiscard]] std::optional<Microseconds> left(Microseconds now) const;

 private:
  struct Kind {
    double weight = 0;
    int to_begin = 0;
    int over = 0;
    Microseconds took{0};
  };
  [[nodiscard]] std::optional<Microseconds> step_of(const Kind& kind) const;

  std::vector<Kind> kinds_;
  std::optional<std::size_t> running_;
  Microseconds begun_;  ///< the running step
};

/// From 0 to 1: the part of the time that is over.
double share_of(Microseconds spent, Microseconds left);

/// Of this case and `after` more, which are taken to last as `before` cases that took `spent_before` and this one do.
Microseconds left_in_all(Microseconds spent_before, int before, Microseconds spent, Microseconds left, int after);

/// "12 s", "3 min 20 s", "1 h 5 min".
std::string duration_words(Microseconds time);

/// Where a command with several cases is.
struct CaseProgress {
  std::size_t number = 1;  ///< of this case, from 1
  std::size_t cases = 1;
  std::string_view name;
  Microseconds spent{0};
  std::optional<Microseconds> left;
  std::optional<Microseconds> left_in_all;  ///< absent where this case is the last
};

/// "[2/3] hgemm-ar 43 % timing, 12 s left, 1 min 10 s for all".
std::string progress_text(const CaseProgress& progress, std::string_view what);

}  // namespace elbowroom
