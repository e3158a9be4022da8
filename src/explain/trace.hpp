#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "explain/texts.hpp"

/// What the traces of one run hold, as columns: a trace has millions of rows, and each question reads a few columns of them.
namespace elbowroom::explain {

/// Nanoseconds on the clock of the trace.
using Time = std::int64_t;

/// No index: a row without a launch, a launch without a thread.
inline constexpr std::uint32_t kNone = 0xFFFFFFFFU;

enum class RowKind : std::uint8_t { kernel, copy, peer_copy, set };

/// What a row is to a step.
enum class Work : std::uint8_t { compute, communication, copy };

/// How a kernel was launched. Absent: the trace does not say.
struct Shape {
  std::array<std::int64_t, 3> grid{};
  std::array<std::int64_t, 3> block{};
  std::optional<std::int64_t> registers;  ///< per thread
  std::optional<std::int64_t> shared;     ///< bytes per block, static and dynamic together

  bool operator==(const Shape&) const = default;
};

/// What a trace says of a collective beside its kernel.
struct CollectiveNote {
  TextId op = 0;  ///< as the program calls it: "allreduce", "_allgather_base"
  std::optional<std::int64_t> in_elements;
  std::optional<std::int64_t> out_elements;
  TextId dtype = 0;
  std::optional<std::int64_t> group_size;
  TextId group = 0;
  TextId ranks = 0;     ///< "[0, 1, 2, 3]"; of many ranks an excerpt
  TextId in_split = 0;  ///< "[128, 64]"
  std::optional<std::int64_t> sequence;

  bool operator==(const CollectiveNote&) const = default;
};

/// Kernels, copies and memory sets, in the order of their begin.
struct Rows {
  std::vector<Time> begin, end;
  std::vector<TextId> name;
  std::vector<std::uint32_t> stream;  ///< an index into Trace::streams
  std::vector<RowKind> kind;
  std::vector<Work> work;
  std::vector<std::uint64_t> correlation;
  std::vector<std::uint32_t> launch;  ///< an index into Launches, or kNone
  std::vector<std::uint32_t> shape;   ///< an index into Trace::shapes, or kNone
  std::vector<std::uint32_t> note;    ///< an index into Trace::notes, or kNone
  std::vector<std::int64_t> bytes;    ///< of copies and sets; 0: not said

  [[nodiscard]] std::size_t size() const { return begin.size(); }
};

/// Calls on the host that launch something or wait, in the order of the trace.
struct Launches {
  std::vector<std::uint64_t> correlation;
  std::vector<Time> begin, end;
  std::vector<TextId> name;
  std::vector<TextId> thread;

  [[nodiscard]] std::size_t size() const { return begin.size(); }
};

/// Named spans of the host: steps of a profiler, calls of a collective.
struct Annotation {
  Time begin = 0, end = 0;
  TextId name = 0;
  TextId thread = 0;
  std::optional<std::int64_t> bytes;  ///< of the first tensor, where its shape is told
};

/// A stream was told to wait until another one has come to a point.
struct StreamWait {
  Time at = 0;
  TextId stream = 0;
  TextId on = 0;                  ///< the stream waited for
  std::uint64_t correlation = 0;  ///< of the event's recording
};

/// How fast the SMs of a device ran from a time on.
struct SmClock {
  Time at = 0;
  TextId device = 0;
  double below_most =
      0;  ///< the share of the greatest clock that the power limit took; 0: the clock is below it for no such reason
};

struct Stream {
  TextId device = 0;
  TextId number = 0;

  bool operator==(const Stream&) const = default;
};

struct Device {
  std::string id;
  std::string name;
  std::optional<std::int64_t> sms;
};

/// The trace of one process on one device.
struct Trace {
  std::string file;
  std::optional<std::int64_t> rank;
  std::optional<std::int64_t> world_size;
  std::string clock;  ///< whose times these are, where a recorder says so; ranks of one clock may have been recorded apart
  std::vector<Device> devices;
  Texts texts;
  std::vector<Stream> streams;
  std::vector<Shape> shapes;
  std::vector<CollectiveNote> notes;
  Rows rows;
  Launches launches;
  std::vector<Annotation> annotations;
  std::vector<StreamWait> waits;
  std::vector<SmClock> clocks;    ///< in the order of their times
  std::vector<std::string> lost;  ///< what could not be used, one line each

  [[nodiscard]] std::optional<Time> launched(std::size_t row) const {
    const std::uint32_t launch = rows.launch[row];
    return launch == kNone ? std::nullopt : std::optional(launches.begin[launch]);
  }
};

}  // namespace elbowroom::explain
