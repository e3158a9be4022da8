#include <algorithm>

#include "interposer/core/program_order.hpp"

// Blocking streams and the legacy default one of their context wait for each other, from the next launch on. What a launch puts its
// stream behind in this way holds once the driver has the launch.

namespace elbowroom::interposer {

bool ProgramOrder::holds_more(const Order& published, const Order& order) const {
  const std::uint64_t waits = host_places_.valid(published.host_actions, published.as_of);
  return (waits & ~host_places_.valid(order.host_actions, order.as_of)) != 0 ||
         collectives_.any_more(published.collectives, order.collectives);
}

bool ProgramOrder::publishes_more(const Stream& stream, const Order& order, const Context& context) const {
  return holds_more(order, context.legacy) && (is_legacy_stream(stream.id) || holds_more(order, context.blocking));
}

void ProgramOrder::note_published(const Stream& stream, const Order& order, Context& context) {
  context.has_blocking = context.has_blocking || !is_legacy_stream(stream.id);
  if (context.has_blocking && publishes_more(stream, order, context)) { ++published_; }
}

void ProgramOrder::join_published(Order& into, const Stream& stream) {
  const Order& published = published_to(stream, context_of(stream));
  if (!launches_.any()) { return join(into, published); }
  Order taken = published;
  static_cast<void>(leave_untaken(taken.collectives, collectives_.taken()));
  join(into, taken);
}

Order ProgramOrder::ahead(const Stream& stream) {
  Order order = stream.order;
  refresh(order);
  if (stream.info.blocking) {
    join_published(order, stream);
    put_behind_blocking(order, stream, context_of(stream));
  }
  return order;
}

Order& ProgramOrder::open_told(Stream& stream, const RecordPoint& before) {
  Order& order = open_alone(stream);
  if (&order != &stream.order || !stream.info.blocking) { return order; }
  Order published = published_to(stream, context_of(stream));
  static_cast<void>(leave_untaken(published.collectives, before.collectives_taken));
  published.host_actions = host_places_.valid(published.host_actions, std::min(published.as_of, before.host_dependencies));
  if (before.streams_joined == streams_joined_ && !joins_.any()) { join(order, published); }
  return order;
}

Order& ProgramOrder::open_launch(Stream& stream, JoinId& join) {
  join = 0;
  if (!stream.info.blocking || active_capture(stream) != 0) { return open(stream); }
  const Context& context = context_of(stream);
  if (holds_more(published_to(stream, context), stream.order) || publishes_more(stream, stream.order, context)) {
    refresh(stream.order);
    if (++last_join_ == 0) { ++last_join_; }
    join = last_join_;
    if (!joins_.begin({join, stream.id, held_by(stream.order), {}})) { doubt_context(stream); }
  }
  return open(stream);
}

Order& ProgramOrder::open_passed(Stream& stream) {
  Order& order = open_alone(stream);
  const bool blocks = stream.info.blocking && &order == &stream.order;
  if (blocks) { order.clock.join(published_to(stream, context_of(stream)).clock); }  // when it runs is a guess in any case
  return order;
}

void ProgramOrder::close_passed(const Stream& stream, const Order& order) {
  if (&order == &stream.captured || !stream.info.blocking) { return; }
  Context& context = context_of(stream);
  published_by(stream, context).clock.join(order.clock);
  join(context.held, order);
}

void ProgramOrder::close_launch(const Stream& stream, const Order& order, JoinId launch) {
  if (launch == 0) { return close(stream, order); }
  join(context_of(stream).held, order);
  if (JoiningLaunch* joining = joins_.find(launch)) { joining->with = held_by(order); }
}

// A launch that was not taken leaves its stream behind nothing new. What it seems to be behind would seem over with the stream.
void ProgramOrder::end_join(JoinId join, bool taken) {
  const std::optional<JoiningLaunch> ended = joins_.end(join);
  if (!ended) { return; }
  ++streams_joined_;
  const Stream* stream = find_stream(ended->stream);
  if (stream == nullptr) { return; }
  if (taken) {
    Order published = taken_of(*stream);
    leave_held(published, ended->with);  // and not what another thread made the stream wait for meanwhile
    close(*stream, published);
  } else {
    doubt_context(*stream);
  }
}

Order ProgramOrder::taken_of(const Stream& stream) {
  Order order = stream.order;
  joins_.for_each([&](const JoiningLaunch& launch) {
    if (launch.stream == stream.id) { leave_held(order, launch.before); }
  });
  return order;
}

bool ProgramOrder::is_joining(const Stream& stream) {
  bool any = false;
  joins_.for_each([&](const JoiningLaunch& launch) { any = any || launch.stream == stream.id; });
  return any;
}

void ProgramOrder::leave_held(Order& order, const HeldThen& then) const {
  order.host_actions &= host_places_.valid(then.host_actions, then.as_of);
  for (std::size_t chain = 0; chain < order.collectives.size(); ++chain) {
    order.collectives[chain] = std::min(order.collectives[chain], then.collectives[chain]);
  }
}

// Not every operation of a legacy default stream is followed.
bool ProgramOrder::blocking_may_hold_more(const Order& order) {
  bool more = false;
  for_each_behind(order.behind_blocking, [&](const Context& context) {
    more = more || collectives_.any_more(context.held.collectives, order.collectives) ||
           collectives_.any_up_to(context.held.perhaps_behind);
  });
  return more;
}

}  // namespace elbowroom::interposer
