#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "explain/rank_view.hpp"
#include "explain/split.hpp"

namespace elbowroom::explain {

/// Why communication runs with no computation beside it. The names are fixed.
enum class Cause : std::uint8_t {
  program_order,
  shared_stream,
  lost_race,
  late_peer,
  late_host,
  link,
  kernel_gaps,
  copies,
  power,
  unknown
};

std::string_view to_string(Cause cause);

/// A time in which this collective ran and nothing computed. Where several ran, the one that ended last.
struct Exposure {
  std::size_t collective = 0;  ///< of the view
  Interval time;
  Time blocking = 0;  ///< of it, how long what runs next was launched, had its stream for itself, and waited for this collective
  Cause cause = Cause::unknown;
  Time by_cause = 0;                ///< how much of it the cause accounts for
  std::optional<std::size_t> next;  ///< the row that runs next and is no communication
};

/// The exposures of one step, each with its cause. `split` is of the same step.
std::vector<Exposure> exposures_of(const RankView& view, Interval step, const Split& split);

/// What shows the cause, in words: which stream waits for which, what took the SMs, who came late by how much.
std::string evidence_of(const RankView& view, const Exposure& exposure, const Split& split);

}  // namespace elbowroom::explain
