#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "elbowroom/base/provenance.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/time.hpp"

namespace elbowroom {

enum class SpanKind { compute, communication, other };

/// How a kernel was launched, where the recorder knows it.
struct LaunchShape {
  Blocks grid;
  Threads block;
  Registers registers_per_thread;
  Bytes static_shared;
  Bytes dynamic_shared;
  int cluster = 1;
};

/// One kernel on one device: from its first block's start to its last block's end.
struct Span {
  std::string name;
  SpanKind kind = SpanKind::other;
  int device = 0;
  std::int64_t stream = 0;  ///< recorder's number of the stream, unique on its device
  Nanoseconds begin{0};     ///< on one clock for all devices, from an arbitrary origin
  Nanoseconds end{0};
  std::optional<LaunchShape> launch;
};

/// What ran when. Spans are in no particular order.
struct Timeline {
  Provenance provenance = Provenance::measured;
  std::vector<Span> spans;
};

}  // namespace elbowroom
