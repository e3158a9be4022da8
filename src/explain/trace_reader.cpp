#include "explain/trace_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/number_of.hpp"
#include "base/text_hash.hpp"
#include "elbowroom/base/grouped.hpp"
#include "explain/communication.hpp"
#include "explain/event.hpp"
#include "explain/event_head.hpp"
#include "explain/pieces.hpp"
#include "explain/trace_order.hpp"

namespace elbowroom::explain {
namespace {

using detail::hash_of;

constexpr std::size_t kPieceBytes = std::size_t{1} << 18;

enum class Category : std::uint8_t { none, kernel, copy, set, call, annotation, wait, clock };

/// Categories of Kineto, and those of PyTorch before 1.13, which are capitalised.
Category category_of(std::string_view text) {
  switch (hash_of(text)) {
    case hash_of("kernel"):
    case hash_of("Kernel"):
      return Category::kernel;
    case hash_of("gpu_memcpy"):
    case hash_of("Memcpy"):
      return Category::copy;
    case hash_of("gpu_memset"):
    case hash_of("Memset"):
      return Category::set;
    case hash_of("cuda_runtime"):
    case hash_of("Runtime"):
    case hash_of("cuda_driver"):
    case hash_of("hip_runtime"):
      return Category::call;
    case hash_of("user_annotation"):
      return Category::annotation;
    case hash_of("cuda_sync"):
      return Category::wait;
    case hash_of("gpu_clock"):
      return Category::clock;
    default:
      return Category::none;
  }
}

/// Whether a category above stands anywhere in an event.
bool has_category(std::string_view text) {
  constexpr std::string_view kCat = "\"cat\"";
  for (std::size_t at = 0;;) {
    const void* found = memmem(text.data() + at, text.size() - at, kCat.data(), kCat.size());
    if (found == nullptr) { return false; }
    at = static_cast<std::size_t>(static_cast<const char*>(found) - text.data()) + kCat.size();
    const std::size_t begin = text.find('"', at);
    const std::size_t end = begin == std::string_view::npos ? begin : text.find('"', begin + 1);
    if (end == std::string_view::npos) { return true; }
    if (category_of(text.substr(begin + 1, end - begin - 1)) != Category::none) { return true; }
    at = begin;
  }
}

/// Calls that launch nothing and wait for nothing: half of the calls of a trace.
bool is_idle_call(std::string_view name) {
  constexpr std::array<std::string_view, 10> kWords{"Query",   "Get",         "Occupancy",    "IsCapturing", "Peek",
                                                    "FuncSet", "EventCreate", "EventDestroy", "EventRecord", "hipEventRecord"};
  for (const std::string_view word : kWords) {
    if (name.find(word) != std::string_view::npos) { return true; }
  }
  return false;
}

/// From an operator to what it launched: a third of the events.
bool is_arrow(std::string_view key, std::string_view value) {
  if (value.size() != 1 || (value[0] != 's' && value[0] != 't' && value[0] != 'f')) { return false; }
  return key == "ph";
}

bool is_between_devices(const Event& copy) {
  return copy.name.find("PtoP") != std::string_view::npos || copy.name.find("Peer") != std::string_view::npos;
}

class Builder final : public PieceSink {
 public:
  explicit Builder(Trace& trace) : trace_(trace) {}

  bool event(std::string_view text) override {
    if (!may_matter(text)) { return true; }
    const Event* event = parser_.parse(text);
    if (event == nullptr) {
      ++damaged;
      return false;
    }
    add(*event);
    return true;
  }

  void member(std::string_view key, std::string_view value) override {
    if (key != "distributedInfo" && key != "deviceProperties" && key != "recorder") { return; }
    for (const FlatMember& member : flat_members(value)) {
      if (key == "distributedInfo" && member.path == "rank") { trace_.rank = whole_of(member.value); }
      if (key == "distributedInfo" && member.path == "world_size") { trace_.world_size = whole_of(member.value); }
      if (key == "recorder" && member.path == "clock") { trace_.clock = member.value; }
      if (key == "deviceProperties") { add_device(member); }
    }
  }

  std::uint64_t damaged = 0;  ///< no JSON
  std::uint64_t untimed = 0;  ///< rows without a begin or a length
  std::uint64_t events = 0;

 private:
  /// By the text alone: most events of a trace are operators, arrows and stack frames, and many calls are idle.
  bool may_matter(std::string_view text) {
    bool is_call = false;
    EventHead head(text);
    while (const std::optional<HeadMember> member = head.next()) {
      const auto& [key, value] = *member;
      if (key == "cat") {
        const Category category = category_of(value);
        if (category != Category::call) { return category != Category::none; }
        is_call = true;
      } else if (is_call && key == "name") {
        return !is_idle(id(value));
      } else if (is_arrow(key, value)) {
        return false;
      }
    }
    return is_call || has_category(text);
  }

  bool is_idle(TextId name) {
    if (name >= idle_.size()) { idle_.resize(name + 1, 0); }
    if (idle_[name] == 0) { idle_[name] = is_idle_call(trace_.texts.text(name)) ? 1 : 2; }
    return idle_[name] == 1;
  }

  void add_device(const FlatMember& member) {
    std::vector<Device>& devices = trace_.devices;
    const std::size_t dot = member.path.find('.');
    const std::string_view name = dot == std::string::npos ? std::string_view() : std::string_view(member.path).substr(dot + 1);
    const auto index = member.path.starts_with('[')
                           ? detail::number_of<std::size_t>(std::string_view(member.path).substr(1, member.path.find(']') - 1))
                           : std::nullopt;
    if (!index || *index > devices.size()) { return; }
    if (*index == devices.size()) { devices.emplace_back(); }
    if (name == "id") { devices[*index].id = member.value; }
    if (name == "name") { devices[*index].name = member.value; }
    if (name == "numSms") { devices[*index].sms = whole_of(member.value); }
  }

  void add(const Event& event) {
    const Category category = category_of(event.category);
    const bool whole = event.phase == "X" || category == Category::wait || category == Category::clock;
    if (category == Category::none || !whole) { return; }
    ++events;
    const std::optional<Time> begin = time_of(event.ts);
    // An event of no length has none written down in some versions.
    const std::optional<Time> length = event.duration.empty() ? std::optional<Time>(0) : time_of(event.duration);
    if (!begin || !length || *length < 0) {
      ++untimed;
      return;
    }
    switch (category) {
      case Category::kernel:
      case Category::copy:
      case Category::set:
        add_row(event, category, *begin, *begin + *length);
        break;
      case Category::call:
        add_call(event, *begin, *begin + *length);
        break;
      case Category::annotation:
        add_annotation(event, *begin, *begin + *length);
        break;
      case Category::wait:
        if (!event.wait_on_stream.empty()) {
          trace_.waits.push_back({*begin, id(event.stream), id(event.wait_on_stream), number(event.wait_on_correlation)});
        }
        break;
      case Category::clock:
        add_clock(event, *begin);
        break;
      case Category::none:
        break;
    }
  }

  void add_clock(const Event& event, Time at) {
    const std::optional<std::int64_t> now = whole_of(event.sm_mhz);
    const std::optional<std::int64_t> most = whole_of(event.most_mhz);
    if (!now || !most || *now < 0 || *most < 1 || *now > *most) { return; }
    const bool limited = event.at_power_limit == "1";
    trace_.clocks.push_back({at, id(event.device), limited ? 1 - static_cast<double>(*now) / static_cast<double>(*most) : 0});
  }

  void add_row(const Event& event, Category category, Time begin, Time end) {
    Rows& rows = trace_.rows;
    // PyTorch says device and stream in the arguments; where they are missing, as process and thread.
    const Stream stream{id(event.device.empty() ? event.process : event.device),
                        id(event.stream.empty() ? event.thread : event.stream)};
    rows.begin.push_back(begin);
    rows.end.push_back(end);
    rows.name.push_back(id(event.name));
    rows.stream.push_back(index_of(stream));
    rows.kind.push_back(category == Category::kernel ? RowKind::kernel
                        : category == Category::set  ? RowKind::set
                        : is_between_devices(event)  ? RowKind::peer_copy
                                                     : RowKind::copy);
    rows.work.push_back(Work::compute);
    rows.correlation.push_back(number(event.correlation));
    rows.launch.push_back(kNone);
    rows.shape.push_back(shape_of(event));
    rows.note.push_back(note_of(event));
    rows.bytes.push_back(whole_of(event.bytes).value_or(0));
  }

  void add_call(const Event& event, Time begin, Time end) {
    const TextId name = id(event.name);
    if (is_idle(name)) { return; }
    Launches& launches = trace_.launches;
    launches.correlation.push_back(number(event.correlation));
    launches.begin.push_back(begin);
    launches.end.push_back(end);
    launches.name.push_back(name);
    launches.thread.push_back(id(event.thread));
  }

  void add_annotation(const Event& event, Time begin, Time end) {
    std::optional<std::int64_t> bytes;
    const std::optional<std::int64_t> element = element_bytes(event.first_type);
    if (element && event.first_elements && *event.first_elements < std::int64_t{1} << 50) {
      bytes = *element * *event.first_elements;
    }
    trace_.annotations.push_back({begin, end, id(event.name), id(event.thread), bytes});
  }

  std::uint32_t shape_of(const Event& event) {
    if (event.grid[2].empty() || event.block[2].empty()) { return kNone; }
    Shape shape;
    for (std::size_t i = 0; i < 3; ++i) {
      shape.grid[i] = whole_of(event.grid[i]).value_or(0);
      shape.block[i] = whole_of(event.block[i]).value_or(0);
    }
    shape.registers = whole_of(event.registers);
    shape.shared = whole_of(event.shared);
    const auto [found, fresh] = shapes_.try_emplace({shape.grid[0], shape.grid[1], shape.grid[2], shape.block[0], shape.block[1],
                                                     shape.block[2], shape.registers, shape.shared},
                                                    static_cast<std::uint32_t>(trace_.shapes.size()));
    if (fresh) { trace_.shapes.push_back(shape); }
    return found->second;
  }

  std::uint32_t note_of(const Event& event) {
    if (event.collective.empty()) { return kNone; }
    CollectiveNote note;
    note.op = id(event.collective);
    note.in_elements = whole_of(event.in_elements);
    note.out_elements = whole_of(event.out_elements);
    note.dtype = id(event.dtype);
    note.group_size = whole_of(event.group_size);
    note.group = id(event.group);
    note.ranks = id(event.ranks);
    note.in_split = id(event.in_split);
    note.sequence = whole_of(event.sequence);
    trace_.notes.push_back(note);
    return static_cast<std::uint32_t>(trace_.notes.size() - 1);
  }

  /// There are a handful of streams.
  std::uint32_t index_of(const Stream& stream) {
    std::vector<Stream>& streams = trace_.streams;
    const auto index = static_cast<std::uint32_t>(std::find(streams.begin(), streams.end(), stream) - streams.begin());
    if (index == streams.size()) { streams.push_back(stream); }
    return index;
  }

  TextId id(std::string_view text) { return trace_.texts.id_of(text); }
  static std::uint64_t number(std::string_view text) { return detail::number_of<std::uint64_t>(text).value_or(0); }

  Trace& trace_;
  EventParser parser_;
  std::map<std::array<std::optional<std::int64_t>, 8>, std::uint32_t> shapes_;
  std::vector<std::uint8_t> idle_;  ///< of a call's name: 0 not asked, 1 launches nothing, 2 may
};

std::string counted(std::uint64_t count, std::string_view what) {
  return fmt::format("{} {}{}", grouped(static_cast<std::int64_t>(count)), what, count == 1 ? "" : "s");
}

}  // namespace

Result<Trace> read_trace(ByteSource& source, const std::string& file) {
  Trace trace;
  trace.file = file;
  Builder builder(trace);
  Pieces pieces(builder);
  std::vector<char> buffer(kPieceBytes);
  std::uint64_t bytes = 0;
  std::string broken;
  for (;;) {
    const Result<std::size_t> got = source.read(buffer);
    if (!got) { broken = got.error().message; }
    if (!got || *got == 0) { break; }
    bytes += *got;
    pieces.feed({buffer.data(), *got});
  }
  pieces.finish();
  if (!pieces.has_events()) {
    const std::string why = broken.empty() ? fmt::format("{} without \"traceEvents\"", counted(bytes, "byte")) : broken;
    return invalid_input(fmt::format("{}: {}, expected a trace of torch.profiler", file, why));
  }
  if (trace.rows.size() == 0) {
    return invalid_input(fmt::format("{}: {} of interest and none of a GPU{}, expected a trace with kernels", file,
                                     counted(builder.events, "event"), broken.empty() ? "" : ", " + broken));
  }
  if (!broken.empty()) { trace.lost.push_back(fmt::format("{} behind {}", broken, counted(bytes, "byte"))); }
  if (broken.empty() && !pieces.complete()) { trace.lost.push_back("the text ends before its document does"); }
  if (builder.damaged > 0 || pieces.skipped() > 0) {
    trace.lost.push_back(fmt::format("{} of damaged events were passed over", counted(pieces.skipped(), "byte")));
  }
  if (builder.untimed > 0) { trace.lost.push_back(fmt::format("{} without a time", counted(builder.untimed, "event"))); }
  put_in_order(trace);
  return trace;
}

}  // namespace elbowroom::explain
