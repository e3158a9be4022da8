#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/base/result.hpp"
#include "page/model.hpp"

namespace elbowroom::page {

/// The spans of one stream of one process of a trace, in the trace's order. Names and launches are indices into TraceEvents.
struct TraceLane {
  std::int64_t process = 0;
  std::int64_t thread = 0;
  LaneKind kind = LaneKind::other;
  std::vector<Block> spans;
};

struct ProcessName {
  std::int64_t process = 0;
  std::string name;
};

struct ThreadName {
  std::int64_t process = 0;
  std::int64_t thread = 0;
  std::string name;
};

/// What a trace holds that a page shows.
struct TraceEvents {
  std::string schema;
  std::vector<Fact> origin;  ///< texts and numbers of otherData, in its order
  std::vector<std::string> names;
  std::vector<std::string> launches;  ///< the first is empty
  std::vector<ProcessName> processes;
  std::vector<ThreadName> threads;
  std::vector<TraceLane> lanes;
};

/// Walks the text once; memory is in proportion to the spans. Never throws. An error is one line that begins with `source`.
Result<TraceEvents> read_trace_events(std::string_view text, const std::string& source);

}  // namespace elbowroom::page
