#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "explain/byte_source.hpp"
#include "explain/trace_reader.hpp"

// Traces as Kineto writes them, from rows that a test can lay out on paper. Times are whole microseconds.
namespace elbowroom::explain::test {

inline constexpr char kAllReduce[] = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
inline constexpr char kAllGather[] = "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)";
inline constexpr char kReduceScatter[] = "ncclDevKernel_ReduceScatter_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)";

/// Every kernel gets a correlation of its own, and a launch unless it has none.
class TraceText {
 public:
  TraceText& rank(int number, int of) {
    members_ = fmt::format(R"("distributedInfo": {{"backend": "nccl", "rank": {}, "world_size": {}}},)", number, of);
    return *this;
  }
  TraceText& recorder(const std::string& clock) {
    members_ += fmt::format(R"("recorder": {{"name": "elbowroom", "clock": "{}"}},)", clock);
    return *this;
  }
  TraceText& device(const std::string& name, int sms) {
    members_ += fmt::format(R"("deviceProperties": [{{"id": 0, "name": "{}", "numSms": {}}}],)", name, sms);
    return *this;
  }
  /// Runs from `begin` to `end`; `more` goes among its arguments.
  TraceText& kernel(const std::string& name, int stream, std::int64_t begin, std::int64_t end, std::optional<std::int64_t> launched,
                    const std::string& more = "") {
    ++correlation_;
    events_.push_back(fmt::format(
        R"({{"ph": "X", "cat": "kernel", "name": "{}", "pid": 0, "tid": {}, "ts": {}, "dur": {}, "args": {{"device": 0, "stream": {}, "correlation": {}{}}}}})",
        name, stream, begin, end - begin, stream, correlation_, more.empty() ? "" : ", " + more));
    if (launched) {
      events_.push_back(fmt::format(
          R"({{"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 7, "tid": 7, "ts": {}, "dur": 1, "args": {{"cbid": 211, "correlation": {}}}}})",
          *launched, correlation_));
    }
    return *this;
  }
  TraceText& copy(const std::string& name, int stream, std::int64_t begin, std::int64_t end, std::int64_t bytes,
                  std::optional<std::int64_t> launched = std::nullopt) {
    ++correlation_;
    events_.push_back(fmt::format(
        R"t({{"ph": "X", "cat": "gpu_memcpy", "name": "{}", "pid": 0, "tid": {}, "ts": {}, "dur": {}, "args": {{"device": 0, "stream": {}, "correlation": {}, "bytes": {}, "memory bandwidth (GB/s)": inf}}}})t",
        name, stream, begin, end - begin, stream, correlation_, bytes));
    if (launched) {
      events_.push_back(fmt::format(
          R"({{"ph": "X", "cat": "cuda_runtime", "name": "cudaMemcpyAsync", "pid": 7, "tid": 7, "ts": {}, "dur": 1, "args": {{"correlation": {}}}}})",
          *launched, correlation_));
    }
    return *this;
  }
  TraceText& annotation(const std::string& name, std::int64_t begin, std::int64_t end, const std::string& arguments = "") {
    events_.push_back(fmt::format(
        R"({{"ph": "X", "cat": "user_annotation", "name": "{}", "pid": 7, "tid": 7, "ts": {}, "dur": {}, "args": {{{}}}}})", name,
        begin, end - begin, arguments));
    return *this;
  }
  TraceText& clock(std::int64_t at, int mhz, int most_mhz, bool at_power_limit) {
    return event(fmt::format(
        R"({{"ph": "C", "cat": "gpu_clock", "name": "SM clock", "pid": 0, "ts": {}, "args": {{"device": 0, "sm_mhz": {}, "most_mhz": {}, "at_power_limit": {}}}}})",
        at, mhz, most_mhz, at_power_limit ? 1 : 0));
  }
  TraceText& event(std::string text) {
    events_.push_back(std::move(text));
    return *this;
  }

  [[nodiscard]] const std::vector<std::string>& events() const { return events_; }
  [[nodiscard]] std::string text() const { return text_of(events_); }
  [[nodiscard]] std::string text_of(const std::vector<std::string>& events) const {
    std::string text = "{\n  \"schemaVersion\": 1, " + members_ + "\n  \"traceEvents\": [\n";
    for (std::size_t i = 0; i < events.size(); ++i) { text += "  " + events[i] + (i + 1 < events.size() ? ",\n" : "\n"); }
    return text + "  ],\n  \"traceName\": \"t.json\"\n}\n";
  }
  [[nodiscard]] Trace trace() const { return read(text()); }

  static Trace read(const std::string& text) {
    TextSource source(text);
    Result<Trace> trace = read_trace(source, "t.json");
    if (!trace) {
      ADD_FAILURE() << trace.error().message;
      return {};
    }
    return *std::move(trace);
  }

 private:
  std::string members_;
  std::vector<std::string> events_;
  std::int64_t correlation_ = 100;
};

}  // namespace elbowroom::explain::test
