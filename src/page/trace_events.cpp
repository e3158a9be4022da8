#include "page/trace_events.hpp"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "model/json_fields.hpp"

namespace elbowroom::page {
namespace {

using nlohmann::json;

// As documents of ours; a text that opens brackets for ever takes no memory for each.
constexpr std::size_t kGreatestDepth = 16;
// Thirty years in microseconds: beyond it a double tells no neighbours apart.
constexpr double kGreatestTime = 1e15;
// Each has its row on the page. A run of 8 GPUs under 20 schemes has 480.
constexpr std::size_t kMostLanes = 3000;

/// Each text once, with a number.
class Texts {
 public:
  std::uint32_t number_of(const std::string& text) {
    const auto [at, is_new] = numbers_.try_emplace(text, static_cast<std::uint32_t>(all_.size()));
    if (is_new) { all_.push_back(text); }
    return at->second;
  }
  std::vector<std::string> take() { return std::move(all_); }

 private:
  std::unordered_map<std::string, std::uint32_t> numbers_;
  std::vector<std::string> all_;
};

/// The members of one event that matter. A launch's facts are those of bench's traces.
struct Event {
  std::map<std::string, std::string, std::less<>> texts;  // ph, cat, name
  std::map<std::string, double, std::less<>> numbers;     // pid, tid, ts, dur
  std::string named;                                      // args.name
  std::array<std::optional<double>, 6> launch;
};

constexpr std::array<std::string_view, 6> kLaunchFacts = {
    "grid", "block", "registers_per_thread", "static_shared_bytes", "dynamic_shared_bytes", "cluster"};

std::string launch_words(const std::array<std::optional<double>, 6>& facts) {
  if (!facts[0] || !facts[1]) { return ""; }
  std::string words = fmt::format("{} blocks of {} threads", *facts[0], *facts[1]);
  if (facts[2]) { words += fmt::format(", {} registers", *facts[2]); }
  if (facts[3] && *facts[3] > 0) { words += fmt::format(", {} B static shared memory", *facts[3]); }
  if (facts[4] && *facts[4] > 0) { words += fmt::format(", {} B dynamic shared memory", *facts[4]); }
  if (facts[5] && *facts[5] > 1) { words += fmt::format(", clusters of {}", *facts[5]); }
  return words;
}

LaneKind kind_of(std::string_view category, std::string_view name) {
  const bool copy = name.starts_with("copy ") || name.starts_with("copies ");
  if (category == "compute") { return LaneKind::compute; }
  if (category == "communication") { return copy ? LaneKind::copy : LaneKind::communication; }
  return LaneKind::other;
}

class TraceWalk : public json::json_sax_t {
 public:
  TraceWalk() { launches_.number_of(""); }

  bool null() override { return scalar(nullptr); }
  bool boolean(bool value) override { return scalar(value); }
  bool number_integer(number_integer_t value) override { return number(static_cast<double>(value), value); }
  bool number_unsigned(number_unsigned_t value) override { return number(static_cast<double>(value), value); }
  bool number_float(number_float_t value, const string_t& /*text*/) override { return number(value, value); }
  bool binary(binary_t& /*value*/) override { return true; }

  bool string(string_t& value) override {
    if (in_event() && depth_ == 3 && (key_ == "ph" || key_ == "cat" || key_ == "name" || key_ == "ts" || key_ == "dur")) {
      event_.texts[key_] = value;
      return true;
    }
    if (in_event() && depth_ == 4 && member_ == "args" && key_ == "name") { event_.named = value; }
    if (depth_ == 1 && key_ == "schema") { events_.schema = value; }
    if (depth_ == 2 && root_key_ == "otherData") { events_.origin.push_back({key_, value}); }
    return scalar(value);
  }

  bool start_object(std::size_t /*size*/) override { return descend(false); }
  bool start_array(std::size_t /*size*/) override { return descend(true); }

  bool key(string_t& name) override {
    key_ = name;
    if (depth_ == 1) { root_key_ = name; }
    if (depth_ == 3) { member_ = name; }
    return true;
  }

  bool end_object() override {
    --depth_;
    return !(root_key_ == "traceEvents" && depth_ == 2) || take_event();
  }
  bool end_array() override {
    --depth_;
    return true;
  }

  bool parse_error(std::size_t position, const std::string& /*token*/, const json::exception& /*error*/) override {
    return fail(fmt::format("not valid JSON at byte {}, expected a trace of elbowroom bench", position));
  }

  [[nodiscard]] const std::string& fault() const { return fault_; }
  [[nodiscard]] bool has_events() const { return has_events_; }

  TraceEvents take() {
    events_.names = names_.take();
    events_.launches = launches_.take();
    return std::move(events_);
  }

 private:
  bool fail(std::string what) {
    if (fault_.empty()) { fault_ = std::move(what); }
    return false;
  }

  bool reject(std::string_view field, const json& value, std::string_view expected) {
    return fail(fmt::format("traceEvents[{}]{}{}: {}, expected {}", count_, field.empty() ? "" : ".", field, detail::shown(value),
                            expected));
  }

  [[nodiscard]] bool in_event() const { return root_key_ == "traceEvents" && depth_ >= 3; }

  bool descend(bool is_array) {
    if (depth_ == 0 && is_array) { return fail("not a JSON object, expected a trace of elbowroom bench"); }
    if (depth_ == kGreatestDepth) {
      return fail(fmt::format("nested deeper than {} levels, expected a trace of elbowroom bench", kGreatestDepth));
    }
    if (depth_ == 1 && root_key_ == "traceEvents") {
      if (!is_array) { return fail("traceEvents: an object, expected an array"); }
      has_events_ = true;
    }
    if (depth_ == 2 && root_key_ == "traceEvents") {
      if (is_array) { return reject("", json::array(), "an object"); }
      event_ = Event();
    }
    ++depth_;
    return true;
  }

  template <class Exact>
  bool number(double value, Exact exact) {
    if (in_event() && depth_ == 3 && (key_ == "pid" || key_ == "tid" || key_ == "ts" || key_ == "dur")) {
      event_.numbers[key_] = value;
      return true;
    }
    if (in_event() && depth_ == 4 && member_ == "args") {
      for (std::size_t fact = 0; fact < kLaunchFacts.size(); ++fact) {
        if (key_ == kLaunchFacts[fact]) { event_.launch[fact] = value; }
      }
    }
    if (depth_ == 2 && root_key_ == "otherData") { events_.origin.push_back({key_, exact}); }
    return scalar(exact);
  }

  /// A value where an object or an array is expected.
  bool scalar(const json& value) {
    if (depth_ == 0) { return fail("not a JSON object, expected a trace of elbowroom bench"); }
    if (depth_ == 1 && root_key_ == "traceEvents") {
      return fail(fmt::format("traceEvents: {}, expected an array", detail::shown(value)));
    }
    if (depth_ == 2 && root_key_ == "traceEvents") { return reject("", value, "an object"); }
    return true;
  }

  /// False, and a fault, where the event lacks the number or has one out of range.
  bool time_of(const char* field, double least, double& time) {
    const auto found = event_.numbers.find(field);
    if (const auto text = event_.texts.find(field); text != event_.texts.end()) {
      return reject(field, text->second, "a number of microseconds");
    }
    if (found == event_.numbers.end()) {
      return fail(fmt::format("traceEvents[{}].{}: missing, expected a number of microseconds", count_, field));
    }
    time = found->second;
    if (time >= least && time <= kGreatestTime) { return true; }
    return reject(field, time, fmt::format("a number of microseconds from {} to {}", least, kGreatestTime));
  }

  [[nodiscard]] std::int64_t id_of(const char* field) const {
    const auto found = event_.numbers.find(field);
    const bool usable = found != event_.numbers.end() && std::abs(found->second) <= kGreatestTime;
    return usable ? static_cast<std::int64_t>(found->second) : 0;
  }

  bool take_event() {
    const std::string& phase = event_.texts["ph"];
    const std::string& name = event_.texts["name"];
    if (phase == "M" && name == "process_name") { events_.processes.push_back({id_of("pid"), event_.named}); }
    if (phase == "M" && name == "thread_name") { events_.threads.push_back({id_of("pid"), id_of("tid"), event_.named}); }
    if (phase == "X" && !take_span(name)) { return false; }
    ++count_;
    return true;
  }

  bool take_span(const std::string& name) {
    Block span;
    if (!time_of("ts", -kGreatestTime, span.begin_us) || !time_of("dur", 0, span.length_us)) { return false; }
    span.busy_us = span.length_us;
    span.name = names_.number_of(name);
    span.launch = launches_.number_of(launch_words(event_.launch));
    const std::tuple key(id_of("pid"), id_of("tid"), kind_of(event_.texts["cat"], name));
    const auto [at, is_new] = lanes_.try_emplace(key, events_.lanes.size());
    if (is_new) { events_.lanes.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), {}}); }
    if (events_.lanes.size() > kMostLanes) {
      return fail(fmt::format("over {} streams, expected fewer: trace fewer cases", kMostLanes));
    }
    events_.lanes[at->second].spans.push_back(span);
    return true;
  }

  std::size_t depth_ = 0;
  std::string root_key_;  ///< the member of the document that is being read
  std::string member_;    ///< the same of an event
  std::string key_;
  bool has_events_ = false;
  std::size_t count_ = 0;  ///< of events that were read
  Event event_;
  Texts names_;
  Texts launches_;
  std::map<std::tuple<std::int64_t, std::int64_t, LaneKind>, std::size_t> lanes_;
  TraceEvents events_;
  std::string fault_;
};

}  // namespace

Result<TraceEvents> read_trace_events(std::string_view text, const std::string& source) {
  // The parser would take a zero byte for the end and leave the rest unread.
  if (const std::size_t zero = text.find('\0'); zero != std::string_view::npos) {
    return invalid_input(fmt::format("{}: not valid JSON at byte {}, expected a trace of elbowroom bench", source, zero + 1));
  }
  TraceWalk walk;
  const bool whole = json::sax_parse(text, &walk);
  if (!whole) { return invalid_input(fmt::format("{}: {}", source, walk.fault())); }
  if (!walk.has_events()) { return invalid_input(fmt::format("{}: traceEvents: missing, expected an array", source)); }
  return walk.take();
}

}  // namespace elbowroom::page
