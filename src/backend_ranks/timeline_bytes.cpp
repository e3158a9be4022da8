#include "backend_ranks/timeline_bytes.hpp"

#include "backend_ranks/field_wire.hpp"

namespace elbowroom::ranks {
namespace {

void shape_fields(auto& wire, auto& shape) {
  wire(shape.grid);
  wire(shape.block);
  wire(shape.registers_per_thread);
  wire(shape.static_shared);
  wire(shape.dynamic_shared);
  wire(shape.cluster);
}

void launch_fields(FieldsOut& wire, const std::optional<LaunchShape>& launch) {
  wire(launch.has_value());
  if (launch) shape_fields(wire, *launch);
}

void launch_fields(FieldsIn& wire, std::optional<LaunchShape>& launch) {
  bool there = false;
  wire(there);
  if (there) shape_fields(wire, launch.emplace());
}

constexpr auto kSpan = [](auto& wire, auto& span) {
  wire(span.name);
  wire.word(span.kind, SpanKind::other);
  wire(span.device);
  wire(span.stream);
  wire(span.begin);
  wire(span.end);
  launch_fields(wire, span.launch);
};

void timeline_fields(auto& wire, auto& timeline) {
  wire.word(timeline.provenance, Provenance::simulated);
  wire.list(timeline.spans, kSpan);
}

}  // namespace

std::string bytes_of(const Timeline& timeline) {
  FieldsOut wire;
  timeline_fields(wire, timeline);
  return wire.take();
}

Result<Timeline> timeline_in(std::string_view bytes) {
  FieldsIn wire(bytes);
  Timeline timeline;
  timeline_fields(wire, timeline);
  if (!wire.complete()) return failed("a message that holds no recording");
  return timeline;
}

}  // namespace elbowroom::ranks
