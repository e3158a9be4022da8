#include <algorithm>

#include "interposer/core/program_order.hpp"

// What threads order at the same time. The driver takes their calls in an order that nobody is told. A collective that is about to
// be launched may come behind what another thread enqueues meanwhile, and so nothing of that is surely behind the collective.

namespace elbowroom::interposer {

CalledFor ProgramOrder::called_for(const Stream& stream) {
  return {stream.id, stream.info.blocking ? key_of(stream.info.context) : 0};
}

void ProgramOrder::forget_calls() {
  launches_.clear();
  joins_.clear();
  waits_.clear();
  unlisted_waits_ = 0;
}

// A collective that another thread is about to launch is not before this one, nor may it be in one chain with it.
Serial ProgramOrder::add_collective(Stream& stream, Order& order, const CollectiveFacts& facts, std::uint64_t now, JoinId join) {
  if (collectives_.exhausted()) { renumber(); }
  const bool captured = &order == &stream.captured;
  const CalledFor on = called_for(stream);
  CollectiveFacts placed = facts;
  placed.behind_blocking = captured ? 0 : order.behind_blocking;
  placed.perhaps_behind = order.perhaps_behind;
  Before before = order.collectives;
  if (leave_untaken(before, collectives_.taken())) { placed.perhaps_behind = collectives_.newest(); }
  const Serial serial = collectives_.add(placed, world_of(stream, captured), stream.info.context, before, stream.chain, now);
  collectives_.join(order.collectives, before);
  overtake(on, serial);
  if (!launches_.begin({serial, on, join})) { lost_ = true; }
  return serial;
}

void ProgramOrder::end_launch(Serial serial, bool taken) {
  const std::optional<LaunchingCall> launched = launches_.end(serial);
  if (launched) { end_join(launched->join, taken); }
  Collective* collective = collectives_.find(serial);
  if (collective == nullptr) { return; }
  collectives_.take(*collective);
  if (launched) { collective->overtaken = std::max(collective->overtaken, behind_waits(launched->on)); }
}

void ProgramOrder::overtake(const CalledFor& on, Serial up_to) {
  launches_.for_each([&](const LaunchingCall& call) {
    Collective* collective = call.on.concerns(on) ? collectives_.find(call.id) : nullptr;
    if (collective != nullptr) { collective->overtaken = std::max(collective->overtaken, up_to); }
  });
}

bool ProgramOrder::leave_untaken(Before& before, std::uint64_t telling) {
  return (launches_.any() || collectives_.taken() != telling) && collectives_.leave_untaken(before, telling);
}

WaitId ProgramOrder::begin_wait(const Stream& stream, EventId event, std::uint64_t records, Serial up_to) {
  const WaitId id = ++last_wait_;
  if (!waits_.begin({id, called_for(stream), event, records, up_to})) { ++unlisted_waits_; }
  return id;
}

void ProgramOrder::end_wait(WaitId id) {
  if (const std::optional<WaitingCall> ended = waits_.end(id)) {
    overtake(ended->on, up_to(*ended));
  } else if (unlisted_waits_ != 0) {
    --unlisted_waits_;
    launches_.for_each([&](const LaunchingCall& call) { overtake(call.on, collectives_.newest()); });
  }
}

Serial ProgramOrder::up_to(const WaitingCall& wait) const {
  const bool known = wait.event != kSomeEvent && event_records_ != nullptr && event_records_->stayed(wait.event, wait.records);
  return known ? wait.up_to : collectives_.newest();
}

Serial ProgramOrder::behind_waits(const CalledFor& on) {
  Serial behind = unlisted_waits_ == 0 ? 0 : collectives_.newest();
  waits_.for_each([&](const WaitingCall& wait) {
    if (wait.on.concerns(on)) { behind = std::max(behind, up_to(wait)); }
  });
  return behind;
}

}  // namespace elbowroom::interposer
