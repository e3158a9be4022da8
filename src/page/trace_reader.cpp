#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elbowroom/report/chrome_trace.hpp"
#include "model/json_fields.hpp"
#include "page/decimate.hpp"
#include "page/readers.hpp"
#include "page/trace_events.hpp"

namespace elbowroom::page {
namespace {

// Of all lanes of a trace together: some 6 MB of page. A lane of few spans leaves its share unused.
constexpr std::size_t kMostBlocks = 200'000;

constexpr std::string_view kBetween = " · ";

struct Name {
  std::string device;  // "GPU 0"
  std::string title;   // the case: "gelu-ar"
  std::string scheme;  // "shaped 5/SM", "plan 2"
};

bool is_number(std::string_view word) { return !word.empty() && word.find_first_not_of("0123456789") == std::string_view::npos; }

/// Where the last word of a text begins.
std::size_t last_word(std::string_view text) {
  const std::size_t blank = text.rfind(' ');
  return blank == std::string_view::npos ? 0 : blank + 1;
}

/// "GPU 0 · gelu-ar shaped 5/SM": the residency and the number of a plan belong to the scheme. A name without a scheme is a case's.
Name parse_name(const std::string& name) {
  const std::size_t between = name.find(kBetween);
  if (between == std::string::npos) { return {name, "", ""}; }
  const std::string_view label = std::string_view(name).substr(between + kBetween.size());
  std::size_t begin = last_word(label);
  if (begin > 0 && (label.ends_with("/SM") || is_number(label.substr(begin)))) { begin = last_word(label.substr(0, begin - 1)); }
  Name parsed{name.substr(0, between), std::string(label), ""};
  if (begin == 0) { return parsed; }
  parsed.title = std::string(label.substr(0, begin - 1));
  parsed.scheme = std::string(label.substr(begin));
  return parsed;
}

/// "compute (stream 7)" -> "stream 7"
std::string stream_of(const std::string& thread) {
  const std::size_t open = thread.rfind('(');
  if (open == std::string::npos || !thread.ends_with(')')) { return thread; }
  return thread.substr(open + 1, thread.size() - open - 2);
}

/// Numbers texts anew in the order of their first use, so that a case has none of another's.
class Renumbered {
 public:
  explicit Renumbered(const std::vector<std::string>& all) : all_(all) {}
  std::uint32_t operator()(std::uint32_t number) {
    const auto [at, is_new] = numbers_.try_emplace(number, static_cast<std::uint32_t>(used_.size()));
    if (is_new) { used_.push_back(all_[number]); }
    return at->second;
  }
  std::vector<std::string> take() { return std::move(used_); }

 private:
  const std::vector<std::string>& all_;
  std::map<std::uint32_t, std::uint32_t> numbers_;
  std::vector<std::string> used_;
};

/// The tracks of one case while they are gathered.
struct Case {
  explicit Case(const TraceEvents& events) : names(events.names), launches(events.launches) { launches(0); }
  Timelines timelines;
  Renumbered names;
  Renumbered launches;
};

class TraceCases {
 public:
  explicit TraceCases(TraceEvents events) : events_(std::move(events)) {
    most_blocks_ = kMostBlocks / std::max<std::size_t>(events_.lanes.size(), 1);
    for (const ProcessName& process : events_.processes) { process_names_.insert_or_assign(process.process, process.name); }
    for (const ThreadName& thread : events_.threads) {
      thread_names_.insert_or_assign({thread.process, thread.thread}, thread.name);
    }
    std::ranges::stable_sort(events_.lanes, {}, [](const TraceLane& lane) { return std::pair(lane.kind, lane.thread); });
  }

  std::vector<Section> sections() {
    // A device without spans has its track too, in the trace's order.
    for (const ProcessName& process : events_.processes) { track_of(process.process); }
    for (TraceLane& lane : events_.lanes) { add(lane); }
    std::vector<Section> sections;
    for (const std::string& title : order_) {
      Case& one = cases_.at(title);
      one.timelines.names = one.names.take();
      one.timelines.launches = one.launches.take();
      sections.push_back({title.empty() ? "Timelines" : title, std::nullopt, {}});
      sections.back().views.emplace_back(std::move(one.timelines));
    }
    return sections;
  }

 private:
  Name name_of(std::int64_t process) const {
    const auto found = process_names_.find(process);
    return found == process_names_.end() ? Name{fmt::format("process {}", process), "", ""} : parse_name(found->second);
  }

  std::pair<Case*, Track*> track_of(std::int64_t process) {
    Name name = name_of(process);
    if (!cases_.contains(name.title)) { order_.push_back(name.title); }
    Case& one = cases_.try_emplace(name.title, events_).first->second;
    const auto [at, is_new] = tracks_.try_emplace(process, one.timelines.tracks.size());
    if (is_new) {
      if (one.timelines.title.empty()) { one.timelines.title = "One recorded run of each schedule"; }
      one.timelines.tracks.push_back({std::move(name.scheme), std::move(name.device), {}});
    }
    return {&one, &one.timelines.tracks[at->second]};
  }

  void add(TraceLane& lane) {
    const auto [one, track] = track_of(lane.process);
    std::ranges::stable_sort(lane.spans, {}, &Block::begin_us);
    for (Block& span : lane.spans) {
      span.name = one->names(span.name);
      span.launch = one->launches(span.launch);
    }
    const auto thread = thread_names_.find({lane.process, lane.thread});
    Lane shown{lane.kind,
               thread == thread_names_.end() ? fmt::format("thread {}", lane.thread) : stream_of(thread->second),
               lane.spans.size(),
               {}};
    shown.levels = levels_of(std::move(lane.spans), most_blocks_);
    track->lanes.push_back(std::move(shown));
  }

  TraceEvents events_;
  std::size_t most_blocks_ = 0;
  std::map<std::int64_t, std::string> process_names_;
  std::map<std::pair<std::int64_t, std::int64_t>, std::string> thread_names_;
  std::map<std::string, Case> cases_;
  std::map<std::int64_t, std::size_t> tracks_;
  std::vector<std::string> order_;
};

std::string text_of(const TraceEvents& events, std::string_view name) {
  const auto found = std::ranges::find(events.origin, name, &Fact::name);
  return found != events.origin.end() && found->value.is_string() ? found->value.get<std::string>() : std::string();
}

/// Fails for a trace that does not say whether it was measured, and for one that says both.
Status check_origin(const TraceEvents& events, const std::string& source) {
  const std::string provenance = text_of(events, "provenance");
  const std::string device = text_of(events, "device");
  if (provenance != "measured" && provenance != "simulated") {
    return invalid_input(
        fmt::format("{}: otherData.provenance: {}, expected measured or simulated, as in a trace of elbowroom bench", source,
                    provenance.empty() ? "missing" : detail::shown(nlohmann::json(provenance))));
  }
  if (!device.starts_with(provenance)) {
    return invalid_input(fmt::format("{}: otherData.device: {}, expected a text that begins with {}", source,
                                     detail::shown(nlohmann::json(device)), provenance));
  }
  return {};
}

}  // namespace

Result<Document> read_trace(std::string_view text, const std::string& source) {
  Result<TraceEvents> events = read_trace_events(text, source);
  if (!events) { return events.error(); }
  if (Status good = check_origin(*events, source); !good) { return good.error(); }
  Document document;
  document.file = source;
  document.schema = events->schema.empty() ? std::string(kTraceSchema) : events->schema;
  document.provenance = text_of(*events, "provenance");
  for (const Fact& fact : events->origin) {
    if (fact.name != "provenance") { document.facts.push_back(fact); }
  }
  document.sections = TraceCases(*std::move(events)).sections();
  return document;
}

}  // namespace elbowroom::page
