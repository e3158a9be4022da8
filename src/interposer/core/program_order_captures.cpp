#include "interposer/core/program_order.hpp"

// Which streams are captured, and what the captures hold.

namespace elbowroom::interposer {

void ProgramOrder::begin_capture(Stream& stream, std::uint64_t of_driver) {
  for (Capture& capture : captures_) {
    if (capture.id != 0) { continue; }
    capture = Capture{++last_capture_, stream.id, of_driver, {}};
    stream.capture = capture.id;
    stream.captured = Order{};
    stream.captured.as_of = sequence_;
    ++captures_active_;
    return;
  }
  lost_ = true;
}

bool ProgramOrder::end_capture(const Stream& stream, GraphFacts& held) {
  Capture* capture = find_capture(stream.capture);
  if (capture == nullptr || capture->origin != stream.id) { return false; }
  held = capture->held;
  free_capture(*capture);
  return true;
}

void ProgramOrder::free_capture(Capture& capture) {
  collectives_.finish_capture(capture.id);
  capture = Capture{};
  --captures_active_;
}

std::uint32_t ProgramOrder::active_capture(const Stream& stream) const {
  if (stream.capture == 0 || captures_active_ == 0) { return 0; }
  return find_capture(stream.capture) == nullptr ? 0 : stream.capture;
}

void ProgramOrder::count_captured(const Stream& stream, const GraphFacts& nodes) {
  Capture* capture = find_capture(stream.capture);
  if (capture == nullptr) { return; }
  capture->held.collectives += nodes.collectives;
  capture->held.computes += nodes.computes;
  capture->held.waits = capture->held.waits || nodes.waits;
}

std::uint64_t ProgramOrder::driver_capture(const Stream& stream) const {
  const Capture* capture = find_capture(stream.capture);
  return capture == nullptr ? 0 : capture->of_driver;
}

bool ProgramOrder::waits_captured(const Stream& stream) const {
  const Capture* capture = find_capture(stream.capture);
  return capture != nullptr && capture->held.waits;
}

ProgramOrder::Capture* ProgramOrder::find_capture(std::uint32_t id) {
  for (Capture& capture : captures_) {
    if (capture.id == id && id != 0) { return &capture; }
  }
  return nullptr;
}

const ProgramOrder::Capture* ProgramOrder::find_capture(std::uint32_t id) const {
  for (const Capture& capture : captures_) {
    if (capture.id == id && id != 0) { return &capture; }
  }
  return nullptr;
}

}  // namespace elbowroom::interposer
