#include "recorder/trace_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <map>
#include <tuple>
#include <utility>

namespace elbowroom::recorder {
namespace {

/// Text of JSON that goes out in large pieces.
class Text {
 public:
  explicit Text(const std::function<void(std::string_view)>& write) : write_(write) {}
  void finish() { write_(text_); }

  Text& operator<<(std::string_view text) {
    text_ += text;
    return *this;
  }
  Text& operator<<(std::uint64_t number) { return whole(number); }
  Text& operator<<(std::int64_t number) { return whole(number); }
  Text& operator<<(std::uint32_t number) { return whole(number); }
  Text& operator<<(std::int32_t number) { return whole(number); }

  /// A string with its quotes.
  Text& quoted(std::string_view text) {
    text_ += '"';
    for (const char c : text) {
      if (c == '"' || c == '\\') { text_ += '\\'; }
      text_ += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    text_ += '"';
    return *this;
  }
  /// Nanoseconds as microseconds, to the nanosecond.
  Text& us(Time ns) {
    const std::string fraction = std::to_string(1000 + ns % 1000);
    return *this << ns / 1000 << "." << std::string_view(fraction).substr(1);
  }
  template <class Extents>
  Text& list(const Extents& extents) {
    std::string_view before = "[";
    for (const auto extent : extents) {
      *this << before << extent;
      before = ", ";
    }
    return *this << "]";
  }
  /// Between two events.
  void next() {
    text_ += first_ ? "\n" : ",\n";
    first_ = false;
    constexpr std::size_t kPiece = std::size_t{1} << 16;
    if (text_.size() < kPiece) { return; }
    write_(text_);
    text_.clear();
  }

 private:
  template <class Number>
  Text& whole(Number number) {
    std::array<char, 24> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number);
    text_.append(digits.data(), end.ptr);
    return *this;
  }

  const std::function<void(std::string_view)>& write_;
  std::string text_;
  bool first_ = true;
};

std::string_view direction(std::uint8_t kind) {
  constexpr std::array<std::string_view, 11> kKinds{"",     "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
                                                    "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};
  return kind < kKinds.size() ? kKinds[kind] : "Unknown";
}

std::string_view memory(std::uint8_t kind) {
  constexpr std::array<std::string_view, 8> kKinds{"Unknown", "Pageable", "Pinned",        "Device",
                                                   "Array",   "Managed",  "Device Static", "Managed Static"};
  return kind < kKinds.size() ? kKinds[kind] : "Unknown";
}

/// An event up to the arguments that all of them have.
Text& begin_event(Text& text, std::string_view category, std::string_view name, const OnDevice& row) {
  text.next();
  text << R"({"ph": "X", "cat": ")" << category << R"(", "name": )";
  text.quoted(name) << R"(, "pid": )" << row.device << R"(, "tid": )" << row.stream << R"(, "ts": )";
  text.us(row.begin) << R"(, "dur": )";
  text.us(row.end - row.begin) << R"(, "args": {"device": )" << row.device << R"(, "context": )" << row.context << R"(, "stream": )"
                               << row.stream << R"(, "correlation": )" << row.correlation;
  return text;
}

void write_kernel(Text& text, const Kernel& kernel, std::string_view name) {
  begin_event(text, "kernel", name, kernel) << R"(, "registers per thread": )" << kernel.registers << R"(, "shared memory": )"
                                            << std::int64_t{kernel.static_shared} + kernel.dynamic_shared
                                            << R"(, "static shared memory": )" << kernel.static_shared
                                            << R"(, "dynamic shared memory": )" << kernel.dynamic_shared << R"(, "cluster": )"
                                            << kernel.cluster << R"(, "grid": )";
  text.list(kernel.grid) << R"(, "block": )";
  text.list(kernel.block) << (kernel.in_graph ? R"(, "graph": 1}})" : "}}");
}

void write_copy(Text& text, const Copy& copy) {
  std::string name(copy.kind == 0 ? "Memset (" : "Memcpy ");
  if (copy.kind != 0) {
    name += direction(copy.kind);
    name += " (";
    name += memory(copy.from);
    name += " -> ";
  }
  name += memory(copy.to);
  name += ")";
  begin_event(text, copy.kind == 0 ? "gpu_memset" : "gpu_memcpy", name, copy) << R"(, "bytes": )" << copy.bytes;
  if (copy.from_device >= 0) { text << R"(, "fromDevice": )" << copy.from_device << R"(, "toDevice": )" << copy.to_device; }
  text << "}}";
}

void write_call(Text& text, const Call& call, std::string_view name, std::uint32_t process) {
  text.next();
  text << R"({"ph": "X", "cat": ")" << (call.driver ? "cuda_driver" : "cuda_runtime") << R"(", "name": )";
  text.quoted(name) << R"(, "pid": )" << process << R"(, "tid": )" << call.thread << R"(, "ts": )";
  text.us(call.begin) << R"(, "dur": )";
  text.us(call.end - call.begin) << R"(, "args": {"correlation": )" << call.correlation << "}}";
}

void write_clock(Text& text, const ClockReading& clock) {
  text.next();
  text << R"({"ph": "C", "cat": "gpu_clock", "name": "SM clock", "pid": )" << clock.device << R"(, "tid": 0, "ts": )";
  text.us(clock.at) << R"(, "args": {"device": )" << clock.device << R"(, "sm_mhz": )" << clock.mhz << R"(, "most_mhz": )"
                    << clock.most_mhz << R"(, "at_power_limit": )" << (clock.at_power_limit ? 1 : 0) << "}}";
}

using EventKey = std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>;  // context, event, correlation

/// Each wait with the last recording of its event before it: the calls of a process are numbered one after the other.
void write_waits(Text& text, const Recording& recording) {
  std::map<EventKey, const EventMark*> marks;
  for (const EventMark& mark : recording.marks) { marks[{mark.context, mark.event, mark.correlation}] = &mark; }
  std::map<std::uint32_t, std::uint32_t> devices;  // of contexts
  for (const Kernel& kernel : recording.kernels) { devices[kernel.context] = kernel.device; }
  for (const Wait& wait : recording.waits) {
    auto behind = marks.lower_bound({wait.context, wait.event, wait.correlation});
    if (behind == marks.begin()) { continue; }
    const EventMark& mark = *(--behind)->second;
    if (mark.event != wait.event || mark.context != wait.context) { continue; }
    const OnDevice row{wait.begin, wait.end, devices[wait.context], wait.context, wait.stream, wait.correlation};
    begin_event(text, "cuda_sync", "Stream Wait Event", row)
        << R"(, "cuda_sync_kind": "Stream Wait Event", "wait_on_stream": )" << mark.stream
        << R"(, "wait_on_cuda_event_record_corr_id": )" << mark.correlation << "}}";
  }
}

void write_header(Text& text, const Header& header) {
  text << "{\n\"schemaVersion\": 1,\n\"recorder\": {\"name\": \"elbowroom\", \"clock\": ";
  text.quoted(header.clock) << "},\n";
  if (header.rank) {
    text << R"("distributedInfo": {"rank": )" << *header.rank << R"(, "world_size": )" << header.world_size.value_or(1) << "},\n";
  }
  text << R"("deviceProperties": [)";
  for (std::size_t i = 0; i < header.devices.size(); ++i) {
    const Device& device = header.devices[i];
    text << (i == 0 ? "" : ", ") << R"({"id": )" << device.id << R"(, "name": )";
    text.quoted(device.name) << R"(, "numSms": )" << device.sms << "}";
  }
  text << "],\n\"traceEvents\": [";
}

}  // namespace

bool matters(std::string_view call) {
  // Callbacks, graphs that are built and attributes of kernels have "Launch" in their names too.
  constexpr std::array<std::string_view, 5> kWords{"Launch", "Memcpy", "Memset", "Synchronize", "WaitEvent"};
  constexpr std::array<std::string_view, 4> kNot{"GraphAdd", "GetParams", "SetParams", "Attribute"};
  const auto has = [&](std::string_view word) { return call.find(word) != std::string_view::npos; };
  return std::any_of(kWords.begin(), kWords.end(), has) && std::none_of(kNot.begin(), kNot.end(), has);
}

std::string_view without_version(std::string_view call) {
  const std::size_t at = call.rfind("_v");
  const bool digits = at != std::string_view::npos && at + 2 < call.size() &&
                      call.find_first_not_of("0123456789", at + 2) == std::string_view::npos;
  return digits ? call.substr(0, at) : call;
}

void write_trace(const Recording& recording, const Header& header, const std::function<void(std::string_view)>& write) {
  Text text(write);
  write_header(text, header);
  for (const Call& call : recording.calls) { write_call(text, call, recording.names[call.name], header.process); }
  for (const Kernel& kernel : recording.kernels) { write_kernel(text, kernel, recording.names[kernel.name]); }
  for (const Copy& copy : recording.copies) { write_copy(text, copy); }
  write_waits(text, recording);
  for (const ClockReading& clock : recording.clocks) { write_clock(text, clock); }
  text << "\n],\n\"traceName\": \"elbowroom\"\n}\n";
  text.finish();
}

}  // namespace elbowroom::recorder
