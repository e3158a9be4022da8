#include "interposer/core/program_order.hpp"

#include <algorithm>
#include <bit>

namespace elbowroom::interposer {

void ProgramOrder::begin_anew() {
  collectives_.finish_all();
  host_places_.release(~std::uint64_t{0});
  captures_.fill({});
  captures_active_ = 0;
  overflow_ = Context{};
  contexts_.clear();
  doubted_contexts_ = 0;
  streams_.for_each([](std::uint64_t, Stream& stream) {
    const Stream before = stream;
    stream = Stream{};
    stream.info = before.info;
    stream.id = before.id;
  });
  events_.clear();
  recorded_unseen_ = true;  // at rest, or by a thread that began to record then
  forget_calls();
}

// Some weeks apart, so that walking through all tables is no matter. All that is lost are windows of collectives that were launched
// before.
void ProgramOrder::renumber() {
  const auto forget = [](Order& order) {
    order.collectives.fill(0);
    order.perhaps_behind = 0;
  };
  const auto forget_context = [&](Context& context) {
    for (Order* order : {&context.legacy, &context.blocking, &context.held, &context.destroyed}) { forget(*order); }
  };
  forget_context(overflow_);
  contexts_.for_each([&](std::uint64_t, Context& context) { forget_context(context); });
  events_.for_each([&](std::uint64_t, Event& event) { forget(event.order); });
  streams_.for_each([&](std::uint64_t, Stream& stream) {
    forget(stream.order);
    forget(stream.captured);
    stream.gated.fill(0);
    stream.asked = Asked{};
  });
  collectives_.begin_anew();
  waits_.for_each([](WaitingCall& wait) { wait.up_to = 0; });
  launches_.clear();
  joins_.clear();
  ++era_;
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

template <class IsGone>
bool ProgramOrder::remove_streams(IsGone is_gone) {
  // An erasure moves entries, so the streams are collected first, as many at a time as fit.
  std::array<StreamId, 32> gone{};
  std::size_t count = 0;
  bool any = false;
  do {
    count = 0;
    streams_.for_each([&](std::uint64_t id, const Stream& stream) {
      if (count < gone.size() && is_gone(id, stream)) { gone[count++] = id; }
    });
    for (std::size_t i = 0; i < count; ++i) { remove_stream(gone[i]); }
    any = any || count > 0;
  } while (count == gone.size());
  return any;
}

void ProgramOrder::remove_context(ContextId context) {
  static_cast<void>(remove_streams([=](StreamId, const Stream& stream) { return stream.info.context == context; }));
  const Context* known = contexts_.find(key_of(context));
  if (known != nullptr && known->doubted != 0) { lose(); }
  contexts_.erase(key_of(context));
}

void ProgramOrder::doubt_context(const Stream& stream) {
  Context& context = context_of(stream);
  if (context.doubted == 0) { ++doubted_contexts_; }
  context.doubted = ++doubts_;
}

bool ProgramOrder::remove_thread(std::uint32_t thread) {
  return remove_streams([=](StreamId id, const Stream&) { return is_per_thread_stream(id, thread); });
}

void ProgramOrder::refresh(Order& order) {
  order.host_actions = host_places_.valid(order.host_actions, order.as_of);
  order.as_of = sequence_;
}

void ProgramOrder::join(Order& into, const Order& other) {
  collectives_.join(into.collectives, other.collectives);
  into.host_actions |= host_places_.valid(other.host_actions, other.as_of);
  into.clock.join(other.clock);
  into.put_behind(other.behind_blocking);
  into.put_perhaps_behind(other.perhaps_behind);
}

ProgramOrder::Context& ProgramOrder::context_of(const Stream& stream) {
  Context* context = contexts_.obtain(key_of(stream.info.context));
  if (context == nullptr) {
    lost_ = true;
    return overflow_;
  }
  return *context;
}

Order& ProgramOrder::open(Stream& stream) {
  Order& order = open_alone(stream);
  if (&order == &stream.order && stream.info.blocking) { join_published(order, stream); }
  return order;
}

Order& ProgramOrder::open_alone(Stream& stream) {
  if (active_capture(stream) != 0) {
    refresh(stream.captured);
    return stream.captured;
  }
  refresh(stream.order);
  if (stream.info.blocking) { put_behind_blocking(stream.order, stream, context_of(stream)); }
  return stream.order;
}

void ProgramOrder::close(const Stream& stream, const Order& order) {
  if (&order == &stream.captured || !stream.info.blocking) { return; }
  Context& context = context_of(stream);
  Order& published = published_by(stream, context);
  note_published(stream, order, context);
  refresh(published);
  join(published, order);
  join(context.held, order);
}

Order& ProgramOrder::open_mark(Stream& stream, const RecordPoint& before) {
  return is_legacy_stream(stream.id) ? open_told(stream, before) : open_alone(stream);
}

void ProgramOrder::close_mark(const Stream& stream, const Order& order) {
  if (is_legacy_stream(stream.id)) { return close(stream, order); }
  const bool of_blocking = stream.info.blocking && &order != &stream.captured;
  if (of_blocking) { join(context_of(stream).held, order); }
}

World ProgramOrder::world_of(const Stream& stream, bool captured) { return {stream.info.device, captured ? stream.capture : 0}; }

Beside ProgramOrder::beside(const Stream& stream, const Order& order, const Span& span) const {
  return {collectives_, collectives_.chains_of(world_of(stream, &order == &stream.captured)), order.collectives, span};
}

Beside ProgramOrder::not_waited_for(const Stream& stream, const Order& order, const Span& span, const Asked& asked) const {
  const std::uint64_t chains = collectives_.chains_of(world_of(stream, &order == &stream.captured));
  return {collectives_, chains, order.collectives, span, &stream.gated, asked};
}

Beside ProgramOrder::ungated(const Stream& stream, const Order& order, const Span& span) const {
  return not_waited_for(stream, order, span, stream.asked);
}

bool ProgramOrder::may_queue(const Collective& collective, const Before& before) {
  if (collectives_.any_between(collective.serial, before)) { return true; }
  Serial perhaps_behind = collective.perhaps_behind;
  bool any = false;
  for_each_behind(collective.behind_blocking, [&](const Context& context) {
    any = any || collectives_.any_in_others(collective, context.held.collectives, before);
    perhaps_behind = std::max(perhaps_behind, context.held.perhaps_behind);
  });
  return any || collectives_.any_perhaps_before(collective, perhaps_behind, before) ||
         collectives_.any_overtaking(collective, before);
}

SyncPoint ProgramOrder::add_host_action(Stream& stream) {
  SyncPoint over;
  if (active_capture(stream) != 0) {
    find_capture(stream.capture)->held.waits = true;
    return over;
  }
  Order& order = open_alone(stream);
  ++sequence_;
  // One place per stream: the younger action is finished only when the older is.
  const bool again = stream.host_place != PlaceSet::kNone && ((order.host_actions >> stream.host_place) & 1U) != 0;
  if (again) {
    host_places_.renew(stream.host_place, sequence_);
  } else {
    stream.host_place = static_cast<std::uint8_t>(host_places_.take(sequence_));
  }
  if (stream.host_place == PlaceSet::kNone) {
    lost_ = true;
  } else {
    order.host_actions |= bit_at(stream.host_place);
    over.host_actions = again ? 0 : bit_at(stream.host_place);
  }
  order.as_of = over.sequence = sequence_;
  publish_wait(stream, order);
  return over;
}

// Nothing else of the stream: the driver may not have it yet.
void ProgramOrder::publish_wait(const Stream& stream, const Order& order) {
  if (!stream.info.blocking || stream.host_place == PlaceSet::kNone) { return; }
  Context& context = context_of(stream);
  note_published(stream, order, context);
  Order& published = published_by(stream, context);
  refresh(published);
  published.host_actions |= bit_at(stream.host_place);
  join(context.held, order);
}

void ProgramOrder::record(EventId id, Stream& stream, const RecordPoint& before, bool alone) {
  const Order& order = open_mark(stream, before);
  close_mark(stream, order);
  Event* event = events_.obtain(id);
  if (event == nullptr) {
    lost_ = true;
    return;
  }
  event->forgettings = forgettings_;
  event->capture = active_capture(stream);
  const bool as_told = alone && before.streams_joined == streams_joined_ && !is_joining(stream);
  event->order = as_told ? order : Order{};
  event->order.host_actions = host_places_.valid(event->order.host_actions, before.host_dependencies);
  const bool sure = !leave_untaken(event->order.collectives, before.collectives_taken);
  if (!as_told || !sure) { event->order.put_perhaps_behind(collectives_.newest()); }
  if (event->capture == 0) { event->order.put_perhaps_behind(behind_waits(called_for(stream))); }
}

void ProgramOrder::distrust(EventId event) {
  recorded_unseen_ = true;
  if (event == kSomeEvent) {
    ++forgettings_;
  } else {
    remove_event(event);
  }
}

// One of a capture under way stays: a stream that joins by it must be known to.
const ProgramOrder::Event* ProgramOrder::find_event(EventId id) {
  const Event* event = events_.find(id);
  if (event == nullptr || event->forgettings == forgettings_ || find_capture(event->capture) != nullptr) { return event; }
  return nullptr;
}

void ProgramOrder::wait(Stream& stream, EventId id, bool sure, const RecordPoint& before) {
  const Event* event = sure ? find_event(id) : nullptr;
  if (event != nullptr) {
    join_event(stream, *event, before);
  } else if (recorded_unseen_ || !sure) {
    suspect(stream, collectives_.newest());
  }
}

void ProgramOrder::suspect(Stream& stream, Serial up_to) {
  const bool captured = active_capture(stream) != 0;
  Order& order = captured ? stream.captured : stream.order;
  order.put_perhaps_behind(up_to);
  if (!captured && stream.info.blocking) { context_of(stream).held.put_perhaps_behind(up_to); }
}

Serial ProgramOrder::may_hold_up_to(EventId id, bool sure) {
  if (sure && !point_of(id).any_collective && !may_hold_more(id)) { return 0; }
  return collectives_.any_up_to(collectives_.newest()) ? collectives_.newest() : 0;
}

bool ProgramOrder::may_hold_more(EventId id) {
  const Event* event = find_event(id);
  const Serial unknown = recorded_unseen_ ? collectives_.newest() : 0;
  if (event == nullptr) { return collectives_.any_up_to(unknown); }
  return collectives_.any_up_to(event->order.perhaps_behind) || blocking_may_hold_more(event->order);
}

void ProgramOrder::join_event(Stream& stream, const Event& event, const RecordPoint& before) {
  const bool captured_event = event.capture != 0;
  if (captured_event) {
    if (active_capture(stream) == 0) {
      stream.capture = event.capture;
      stream.captured = Order{};
    } else if (stream.capture != event.capture) {
      return;
    }
  } else if (active_capture(stream) != 0) {
    return;  // an external wait inside a capture orders nothing that is captured
  }
  Order& order = open_mark(stream, before);
  ++streams_joined_;
  join(order, event.order);
  const bool blocks = stream.info.blocking && &order == &stream.order;
  if (blocks) { note_published(stream, order, context_of(stream)); }  // by its next launch, if not by this
  close_mark(stream, order);
}

SyncPoint ProgramOrder::point_of(const Order& order) {
  SyncPoint point;
  point.collectives = order.collectives;
  leave_untaken(point.collectives, collectives_.taken());
  point.any_collective = collectives_.any_unfinished(point.collectives);
  point.era = era_;
  point.host_actions = host_places_.valid(order.host_actions, order.as_of);
  point.sequence = sequence_;
  point.busy_until = order.clock.busy_until;
  return point;
}

SyncPoint ProgramOrder::point_of(EventId id) {
  const Event* event = find_event(id);
  if (event == nullptr || event->capture != 0) { return {}; }
  return point_of(event->order);
}

// A legacy default stream is asked about all blocking ones as well.
SyncPoint ProgramOrder::point_of(Stream& stream) {
  const bool stands_for_all = is_legacy_stream(stream.id) && active_capture(stream) == 0;
  SyncPoint point = point_of(stands_for_all ? ahead(stream) : taken_of(stream));
  point.stream = stream.id;
  return point;
}

SyncPoint ProgramOrder::context_point(ContextId context) {
  SyncPoint point = point_of(order_of(context));
  if (doubted_contexts_ != 0) { point.context = context; }
  point.doubts = doubts_;
  return point;
}

Order ProgramOrder::order_of(ContextId context) {
  Order all;
  refresh(all);
  if (const Context* found = contexts_.find(key_of(context))) { join(all, found->destroyed); }
  streams_.for_each([&](std::uint64_t, const Stream& stream) {
    if (stream.info.context == context) { join(all, stream.order); }
  });
  return all;
}

void ProgramOrder::finish(const SyncPoint& point) {
  if (point.any_collective && point.era == era_) { collectives_.finish(point.collectives); }
  host_places_.release(host_places_.valid(point.host_actions, point.sequence));
  Context* context = point.context == 0 ? nullptr : contexts_.find(key_of(point.context));
  if (context == nullptr || context->doubted == 0 || context->doubted > point.doubts) { return; }
  context->doubted = 0;
  --doubted_contexts_;
}

void ProgramOrder::mark_gated(Stream& stream, const Collective& collective) { stream.gated[collective.chain] = collective.serial; }

// The questions go from the youngest downward: those of one launch follow each other, and so do those of the next launches.
void ProgramOrder::mark_asked(Stream& stream, const Collective& collective) {
  Asked& asked = stream.asked;
  const bool same_chain = asked.from != 0 && asked.chain == collective.chain;
  if (same_chain && collective.previous == asked.to) {
    asked.to = collective.serial;
  } else if (same_chain && asked.before_first == collective.serial) {
    asked.from = collective.serial;
    asked.before_first = collective.previous;
  } else {
    asked = {collective.chain, collective.serial, collective.serial, collective.previous};
  }
}

}  // namespace elbowroom::interposer
