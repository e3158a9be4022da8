#include "backend_ranks/timeline_bytes.hpp"

#include "backend_ranks/field_wire.hpp"

namespace elbowroom::ranks {
namespace {

void shape_fields(auto& wire, auto& shape) {
  auto& [grid, block, registers_per_thread, static_shared, dynamic_shared, cluster] = shape;
  wire(grid, block, registers_per_thread, static_shared, dynamic_shared, cluster);
}

void launch_fields(FieldsOut& wire, const std::optional<LaunchShape>& launch) {
  wire(launch.has_value());
  if (launch) { shape_fields(wire, *launch); }
}

void launch_fields(FieldsIn& wire, std::optional<LaunchShape>& launch) {
  bool there = false;
  wire(there);
  if (there) { shape_fields(wire, launch.emplace()); }
}

constexpr auto kSpan = [](auto& wire, auto& span) {
  auto& [name, kind, device, stream, begin, end, launch] = span;
  wire(name);
  wire.word(kind, SpanKind::other);
  wire(device, stream, begin, end);
  launch_fields(wire, launch);
};

void timeline_fields(auto& wire, auto& timeline) {
  auto& [provenance, spans] = timeline;
  wire.word(provenance, Provenance::simulated);
  wire.list(spans, kSpan);
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
  if (!wire.complete()) { return failed("a message that holds no recording"); }
  return timeline;
}

}  // namespace elbowroom::ranks
