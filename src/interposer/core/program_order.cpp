#include "interposer/core/program_order.hpp"

#include <bit>
#include <memory>
#include <new>

namespace elbowroom::interposer {
namespace {

constexpr std::uint64_t bit(unsigned place) { return std::uint64_t{1} << place; }

}  // namespace

unsigned PlaceSet::take(std::uint64_t sequence) {
  unsigned place = 0;
  if (live_ != ~std::uint64_t{0}) {
    place = (next_ + static_cast<unsigned>(std::countr_one(std::rotr(live_, static_cast<int>(next_))))) % 64;
  } else {
    for (unsigned other = 1; other < 64; ++other) {
      if (born_[other] < born_[place]) { place = other; }
    }
    ++dropped_;
  }
  next_ = (place + 1) % 64;
  live_ |= bit(place);
  renew(place, sequence);
  return place;
}

std::uint64_t PlaceSet::drop_younger(std::uint64_t mask, std::uint64_t as_of) const {
  for (std::uint64_t rest = mask; rest != 0; rest &= rest - 1) {
    const auto place = static_cast<unsigned>(std::countr_zero(rest));
    if (born_[place] > as_of) { mask &= ~bit(place); }
  }
  return mask;
}

void ProgramOrder::begin_anew() {
  PlaceSet places = places_;
  PlaceSet host_places = host_places_;
  places.release(~std::uint64_t{0});
  host_places.release(~std::uint64_t{0});
  const std::uint64_t sequence = sequence_;
  const std::uint32_t last_capture = last_capture_;
  const bool lost = lost_;
  // In place: a value of several MiB has no room on a thread's stack.
  std::destroy_at(this);
  new (this) ProgramOrder();
  places_ = places;
  host_places_ = host_places;
  sequence_ = sequence;
  last_capture_ = last_capture;
  lost_ = lost;
}

Stream* ProgramOrder::add_stream(StreamId id, const StreamInfo& info) {
  Stream* stream = streams_.obtain(id);
  if (stream == nullptr) {
    lost_ = true;
    return nullptr;
  }
  *stream = Stream{};
  stream->id = id;
  stream->info = info;
  if (info.device < 0 || info.device >= kMaxDevices) {
    stream->info.device = kMaxDevices - 1;
    lost_ = true;
  }
  return stream;
}

void ProgramOrder::remove_stream(StreamId id) {
  for (Capture& capture : captures_) {
    if (capture.id != 0 && capture.origin == id) { free_capture(capture); }
  }
  const Stream* stream = streams_.find(id);
  if (stream == nullptr) { return; }
  Order& destroyed = context_of(*stream).destroyed;
  refresh(destroyed);
  join(destroyed, stream->order);
  streams_.erase(id);
}

void ProgramOrder::remove_context(ContextId context) {
  finish(context_point(context));
  // An erasure moves entries, so the streams are collected first, as many at a time as fit.
  std::array<StreamId, 32> gone{};
  std::size_t count = 0;
  do {
    count = 0;
    streams_.for_each([&](std::uint64_t id, const Stream& stream) {
      if (stream.info.context == context && count < gone.size()) { gone[count++] = id; }
    });
    for (std::size_t i = 0; i < count; ++i) { remove_stream(gone[i]); }
  } while (count == gone.size());
  contexts_.erase(context | 1U);
}

void ProgramOrder::refresh(Order& order) {
  order.collectives = places_.valid(order.collectives, order.as_of);
  order.host_actions = host_places_.valid(order.host_actions, order.as_of);
  order.as_of = sequence_;
}

void ProgramOrder::join(Order& into, const Order& other) {
  into.collectives |= places_.valid(other.collectives, other.as_of);
  into.host_actions |= host_places_.valid(other.host_actions, other.as_of);
  into.clock.join(other.clock);
}

ProgramOrder::Context& ProgramOrder::context_of(const Stream& stream) {
  Context* context = contexts_.obtain(stream.info.context | 1U);
  if (context == nullptr) {
    lost_ = true;
    return overflow_;
  }
  return *context;
}

Order& ProgramOrder::open(Stream& stream) {
  if (active_capture(stream) != 0) {
    refresh(stream.captured);
    return stream.captured;
  }
  Order& order = stream.order;
  refresh(order);
  if (is_legacy_stream(stream.id)) {
    join(order, context_of(stream).blocking);
  } else if (stream.info.blocking) {
    join(order, context_of(stream).legacy);
  }
  return order;
}

void ProgramOrder::close(const Stream& stream, const Order& order) {
  if (&order == &stream.captured || !stream.info.blocking) { return; }
  Context& context = context_of(stream);
  Order& published = is_legacy_stream(stream.id) ? context.legacy : context.blocking;
  refresh(published);
  join(published, order);
}

std::uint64_t ProgramOrder::unordered(const Stream& stream, const Order& order) const {
  if (&order != &stream.captured) { return live_on_device_[static_cast<std::size_t>(stream.info.device)] & ~order.collectives; }
  const Capture* capture = find_capture(stream.capture);
  std::uint64_t beside = capture == nullptr ? 0 : capture->collectives & ~order.collectives;
  for (std::uint64_t rest = beside; rest != 0; rest &= rest - 1) {
    const auto place = static_cast<unsigned>(std::countr_zero(rest));
    if (collectives_[place].device != stream.info.device) { beside &= ~bit(place); }
  }
  return beside;
}

unsigned ProgramOrder::add_collective(const Stream& stream, Order& order) {
  const unsigned place = places_.take(++sequence_);
  unlist(bit(place));  // a place taken from the oldest is still listed under that one's device or capture
  Collective& collective = collectives_[place];
  collective = Collective{};
  collective.stream = stream.id;
  collective.context = stream.info.context;
  collective.device = stream.info.device;
  collective.before = order.collectives & ~bit(place);
  if (&order == &stream.captured) {
    collective.capture = stream.capture;
    if (Capture* capture = find_capture(stream.capture)) { capture->collectives |= bit(place); }
  } else {
    live_on_device_[static_cast<std::size_t>(stream.info.device)] |= bit(place);
  }
  order.collectives |= bit(place);
  order.as_of = sequence_;
  return place;
}

void ProgramOrder::add_host_action(Stream& stream) {
  if (active_capture(stream) != 0) { return; }
  Order& order = open(stream);
  ++sequence_;
  // One place per stream: the younger action is finished only when the older is.
  const bool again = stream.host_place != 0xff && ((order.host_actions >> stream.host_place) & 1U) != 0;
  if (again) {
    host_places_.renew(stream.host_place, sequence_);
  } else {
    const std::uint64_t dropped = host_places_.dropped();
    stream.host_place = static_cast<std::uint8_t>(host_places_.take(sequence_));
    if (host_places_.dropped() != dropped) { lost_ = true; }
  }
  order.host_actions |= bit(stream.host_place);
  order.as_of = sequence_;
  close(stream, order);
}

void ProgramOrder::record(EventId id, Stream& stream) {
  const Order& order = open(stream);
  close(stream, order);
  Event* event = events_.obtain(id);
  if (event == nullptr) {
    lost_ = true;
    return;
  }
  event->order = order;
  event->capture = active_capture(stream);
}

void ProgramOrder::wait(Stream& stream, EventId id) {
  const Event* event = events_.find(id);
  if (event == nullptr) { return; }
  const bool captured_event = event->capture != 0;
  if (captured_event) {
    if (find_capture(event->capture) == nullptr) { return; }  // the driver refuses it as well
    if (active_capture(stream) == 0) {
      stream.capture = event->capture;
      stream.captured = Order{};
    } else if (stream.capture != event->capture) {
      return;
    }
  } else if (active_capture(stream) != 0) {
    return;  // an external wait inside a capture orders nothing that is captured
  }
  Order& order = open(stream);
  join(order, event->order);
  close(stream, order);
}

SyncPoint ProgramOrder::point_of(const Order& order) const {
  return {places_.valid(order.collectives, order.as_of), host_places_.valid(order.host_actions, order.as_of), sequence_, 0,
          order.clock.busy_until};
}

SyncPoint ProgramOrder::point_of(EventId id) {
  const Event* event = events_.find(id);
  if (event == nullptr || event->capture != 0) { return {}; }
  return point_of(event->order);
}

SyncPoint ProgramOrder::point_of(Stream& stream) {
  SyncPoint point;
  if (is_legacy_stream(stream.id) && active_capture(stream) == 0) {
    const Order& order = open(stream);
    close(stream, order);
    point = point_of(order);
  } else {
    point = point_of(stream.order);
  }
  point.stream = stream.id;
  return point;
}

SyncPoint ProgramOrder::context_point(ContextId context) {
  Order all;
  refresh(all);
  if (const Context* found = contexts_.find(context | 1U)) { join(all, found->destroyed); }
  streams_.for_each([&](std::uint64_t, const Stream& stream) {
    if (stream.info.context == context) { join(all, stream.order); }
  });
  return point_of(all);
}

void ProgramOrder::finish(const SyncPoint& point) {
  release(places_.valid(point.collectives, point.sequence));
  host_places_.release(host_places_.valid(point.host_actions, point.sequence));
}

void ProgramOrder::finish(unsigned place) { release(bit(place) | unfinished_before(place)); }

void ProgramOrder::withdraw(unsigned place) { release(bit(place)); }

void ProgramOrder::unlist(std::uint64_t collectives) {
  for (std::uint64_t& on_device : live_on_device_) { on_device &= ~collectives; }
  for (Capture& capture : captures_) { capture.collectives &= ~collectives; }
}

void ProgramOrder::release(std::uint64_t collectives) {
  unlist(collectives);
  places_.release(collectives);
}

void ProgramOrder::begin_capture(Stream& stream) {
  for (Capture& capture : captures_) {
    if (capture.id != 0) { continue; }
    capture = Capture{++last_capture_, stream.id, 0, {}};
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
  release(capture.collectives);
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

void ProgramOrder::mark_gated(Stream& stream, unsigned place) {
  stream.gated = gated(stream) | bit(place);
  stream.gated_as_of = sequence_;
}

}  // namespace elbowroom::interposer
