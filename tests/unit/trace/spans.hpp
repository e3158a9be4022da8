#pragma once

#include "elbowroom/trace/timeline.hpp"

namespace elbowroom::testing {

inline Span span(SpanKind kind, int device, int begin, int end, int stream = 0) {
  Span made;
  made.kind = kind;
  made.device = device;
  made.stream = stream;
  made.begin = Nanoseconds(begin);
  made.end = Nanoseconds(end);
  return made;
}

}  // namespace elbowroom::testing
