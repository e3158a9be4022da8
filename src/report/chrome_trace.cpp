#include "elbowroom/report/chrome_trace.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "elbowroom/base/time.hpp"
#include "report/json_values.hpp"

namespace elbowroom {
namespace {

using detail::OrderedJson;

constexpr int kSchemaVersion = 1;  // as Kineto writes

std::string_view category(SpanKind kind) {
  switch (kind) {
    case SpanKind::compute:
      return "compute";
    case SpanKind::communication:
      return "communication";
    case SpanKind::other:
      return "other";
  }
  return "other";
}

/// Where a span is drawn. Viewers take pid 0 and tid 0 for the idle task and want numbers of 32 bits, which a stream's number need
/// not be. So both are counted from 1.
struct Tracks {
  std::map<int, int> pids;                                           // of device
  std::map<std::pair<int, std::int64_t>, int> tids;                  // of device and stream
  std::map<std::pair<int, std::int64_t>, std::set<SpanKind>> kinds;  // for the thread's name
};

Tracks tracks_of(const Timeline& timeline, int first_pid) {
  Tracks tracks;
  for (const Span& span : timeline.spans) {
    tracks.pids.emplace(span.device, 0);
    tracks.tids.emplace(std::pair(span.device, span.stream), 0);
    tracks.kinds[{span.device, span.stream}].insert(span.kind);
  }
  int next_pid = first_pid;
  for (auto& [device, pid] : tracks.pids) { pid = next_pid++; }
  std::map<int, int> streams;
  for (auto& [track, tid] : tracks.tids) { tid = ++streams[track.first]; }
  return tracks;
}

OrderedJson metadata(std::string_view name, int pid, int tid, OrderedJson args) {
  OrderedJson event = OrderedJson::object();
  event["ph"] = "M";
  event["name"] = name;
  event["pid"] = pid;
  event["tid"] = tid;
  event["args"] = std::move(args);
  return event;
}

OrderedJson argument(const char* name, OrderedJson value) {
  OrderedJson args = OrderedJson::object();
  args[name] = std::move(value);
  return args;
}

void append_tracks(std::vector<OrderedJson>& events, const Tracks& tracks, const std::string& label) {
  for (const auto& [device, pid] : tracks.pids) {
    const std::string name = label.empty() ? fmt::format("GPU {}", device) : fmt::format("GPU {} · {}", device, label);
    events.push_back(metadata("process_name", pid, 0, argument("name", name)));
    events.push_back(metadata("process_sort_index", pid, 0, argument("sort_index", pid)));
  }
  for (const auto& [track, tid] : tracks.tids) {
    std::string name;
    for (const SpanKind kind : tracks.kinds.at(track)) { name += fmt::format("{}{}", name.empty() ? "" : " + ", category(kind)); }
    events.push_back(metadata("thread_name", tracks.pids.at(track.first), tid,
                              argument("name", fmt::format("{} (stream {})", name, track.second))));
  }
}

OrderedJson span_arguments(const Span& span) {
  OrderedJson args = OrderedJson::object();
  args["device"] = span.device;
  args["stream"] = span.stream;
  if (span.launch) {
    args["grid"] = span.launch->grid.count();
    args["block"] = span.launch->block.count();
    args["registers_per_thread"] = span.launch->registers_per_thread.count();
    args["static_shared_bytes"] = span.launch->static_shared.count();
    args["dynamic_shared_bytes"] = span.launch->dynamic_shared.count();
    args["cluster"] = span.launch->cluster;
  }
  return args;
}

OrderedJson complete_event(const Span& span, const Tracks& tracks, Nanoseconds origin) {
  OrderedJson event = OrderedJson::object();
  event["ph"] = "X";
  event["cat"] = category(span.kind);
  event["name"] = span.name;
  event["pid"] = tracks.pids.at(span.device);
  event["tid"] = tracks.tids.at({span.device, span.stream});
  event["ts"] = Microseconds(span.begin - origin).count();
  event["dur"] = Microseconds(span.end - span.begin).count();
  event["args"] = span_arguments(span);
  return event;
}

/// Returns the number of processes written.
int append_timeline(std::vector<OrderedJson>& events, const LabelledTimeline& labelled, int first_pid) {
  std::vector<const Span*> spans;
  spans.reserve(labelled.timeline.spans.size());
  for (const Span& span : labelled.timeline.spans) { spans.push_back(&span); }
  std::stable_sort(spans.begin(), spans.end(), [](const Span* a, const Span* b) { return a->begin < b->begin; });
  const Tracks tracks = tracks_of(labelled.timeline, first_pid);
  append_tracks(events, tracks, labelled.label);
  for (const Span* span : spans) { events.push_back(complete_event(*span, tracks, spans.front()->begin)); }
  return static_cast<int>(tracks.pids.size());
}

OrderedJson other_data(const TraceDocument& document) {
  OrderedJson data = OrderedJson::object();
  data["provenance"] = to_string(document.origin.provenance);
  data["backend"] = document.origin.backend;
  data["device"] = device_line(document.origin);
  data["versions"] = versions_line(document.origin);
  if (document.origin.device.model) { data["model"] = document.origin.device.model->source; }
  data["seed"] = document.origin.seed;
  data["timelines"] = OrderedJson::array();
  for (const LabelledTimeline& labelled : document.timelines) { data["timelines"].push_back(labelled.label); }
  return data;
}

Status check(const LabelledTimeline& labelled, Provenance provenance) {
  if (labelled.timeline.provenance != provenance) {
    return invalid_input(fmt::format("timeline \"{}\": {}, expected {} as the rest of the trace", labelled.label,
                                     to_string(labelled.timeline.provenance), to_string(provenance)));
  }
  for (const Span& span : labelled.timeline.spans) {
    if (span.end < span.begin) {
      return invalid_input(fmt::format("timeline \"{}\": span \"{}\" ends at {} ns, expected an end not before its begin at {} ns",
                                       labelled.label, span.name, span.end.count(), span.begin.count()));
    }
  }
  return {};
}

}  // namespace

Result<std::string> to_chrome_trace(const TraceDocument& document) {
  std::vector<OrderedJson> events;
  int next_pid = 1;
  for (const LabelledTimeline& labelled : document.timelines) {
    if (Status status = check(labelled, document.origin.provenance); !status) { return status.error(); }
    next_pid += append_timeline(events, labelled, next_pid);
  }
  std::vector<std::string> lines;
  lines.reserve(events.size());
  for (const OrderedJson& event : events) { lines.push_back(detail::dump(event, -1)); }
  return fmt::format(
      "{{\n\"schema\": \"{}\",\n\"schemaVersion\": {},\n\"displayTimeUnit\": \"ms\",\n\"otherData\": {},\n\"traceEvents\": "
      "[\n{}\n]\n}}\n",
      kTraceSchema, kSchemaVersion, detail::dump(other_data(document), -1), fmt::join(lines, ",\n"));
}

}  // namespace elbowroom
