#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/report/origin.hpp"
#include "elbowroom/trace/timeline.hpp"

namespace elbowroom {

/// One recording and what it shows: "gelu-ar shaped_priority".
struct LabelledTimeline {
  std::string label;
  Timeline timeline;
};

struct TraceDocument {
  Origin origin;
  std::vector<LabelledTimeline> timelines;
};

/// A member of the document beside those of the format, which viewers pass over.
inline constexpr std::string_view kTraceSchema = "elbowroom.trace/1";

/// The Chrome trace-event JSON that PyTorch's Kineto also writes; Perfetto, chrome://tracing and TensorBoard read it.
/// One process for each device of each timeline ("GPU 0 · label"), one thread for each stream, one complete event for each
/// span. Every timeline starts at its own earliest span, so that schemes lie one above the other from time 0.
/// One event a line, a line end at the end.
/// `invalid_input` when a timeline's provenance is not that of the origin or a span ends before it begins.
ELBOWROOM_API Result<std::string> to_chrome_trace(const TraceDocument& document);

}  // namespace elbowroom
