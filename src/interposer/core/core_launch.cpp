#include <algorithm>

#include "interposer/core/core_state.hpp"
#include "interposer/core/shaping.hpp"

namespace elbowroom::interposer {
namespace {

// The same in every process, so that what one learns another can use.
std::uint64_t kind_key(const LaunchFacts& facts, std::uint64_t kernel) {
  const std::uint64_t grid = (facts.grid.count() << 16U) ^ facts.grid.x;
  const std::uint64_t block = (facts.block.count() << 32U) | facts.dynamic_shared;
  std::uint64_t key = combine(combine(kernel, grid), block);
  if (facts.note.bytes != 0) { key = combine(key, (std::uint64_t{facts.note.ranks} << 8U) | facts.note.size_class()); }
  return key | 1U;
}

void remember_footprint(KernelRecord& kernel, const LaunchFacts& facts) {
  kernel.threads = static_cast<std::uint32_t>(facts.block.count());
  kernel.dynamic_shared = facts.dynamic_shared;
  kernel.cluster = kernel.cluster_of(facts);
}

CollectiveFacts collective_facts(const LaunchFacts& facts, std::uint32_t cluster, std::uint32_t sms) {
  CollectiveFacts placed;
  placed.blocks = static_cast<std::uint32_t>(std::min<std::uint64_t>(facts.grid.count(), kUnknownBlocks));
  placed.cluster = cluster;
  placed.sms = sms;
  placed.is_short = facts.note.bytes != 0 && facts.note.bytes < kWorthGatingBytes;
  return placed;
}

}  // namespace

Ticket CoreState::enter(Stream& stream, const CollectiveFacts& facts, TicketFields fields) {
  const Collective* collective = known.lanes.begin(stream, facts);
  publish();
  if (collective == nullptr) { return 0; }
  fields.collective = true;
  fields.serial = collective->serial;
  return pack(fields);
}

// Collectives of one device ask about each launch that may keep the newest of them from starting.
void CoreState::publish() {
  std::uint32_t most = FastPath::kEveryLaunch;
  if (known.active.gate && known.lanes.any_pending()) {
    for_each_bit(known.devices_known, [&](unsigned device) {
      const Collective* newest = known.lanes.find(known.lanes.newest_of(static_cast<std::int32_t>(device)));
      if (newest == nullptr || known.lanes.is_over(newest->lane, newest->serial)) { return; }
      most = std::min(most, newest->blocks < newest->sms ? newest->sms - newest->blocks : 0);
    });
  }
  fast_path.ask_above(most);
}

bool CoreState::ask_end(Serial serial, Hold& hold) {
  const Collective* asked = known.lanes.find(serial);
  if (asked == nullptr || asked->ends == 0 || platform.has_ended == nullptr) { return false; }
  const ContextId context = asked->context;
  hold.release();
  const bool over = platform.has_ended(platform.self, context, slot_of(serial));
  hold.take();
  // Kept until now, its event was not recorded anew.
  if (over && known.lanes.find(serial) != nullptr) { known.lanes.finish(serial); }
  return over;
}

// CUDA calls the begin a best effort, which may mean the end. Of one collective that a launch would have waited for, the device
// tells when either event passes.
bool CoreState::tells_begins(const Collective& collective, Hold& hold) {
  if (platform.watch_begin == nullptr) { return true; }
  if (known.begins_seen || known.models_differ) { return !known.models_differ; }  // which model's was seen?
  const Serial serial = collective.serial, next = known.watched.next;
  if (known.watched.serial != 0 || collective.ends == 0 || serial < next) { return false; }
  const ContextId context = collective.context;
  known.watched = {serial, next};
  ++known.waiting[slot_of(serial)];
  hold.release();
  const bool watches = platform.watch_begin(platform.self, context, slot_of(serial));
  hold.take();
  --known.waiting[slot_of(serial)];
  known.watched = {watches ? serial : 0, next, watches};
  times_ends.store(!watches, std::memory_order_relaxed);
  return false;
}

void CoreState::read_begin(Hold& hold) {
  const Serial serial = known.watched.serial;
  const Collective* collective = known.lanes.find(serial);
  const ContextId context = collective == nullptr ? 0 : collective->context;
  const bool over = collective == nullptr || known.lanes.is_over(collective->lane, serial) || ask_end(serial, hold);
  if (!over) { return; }
  hold.release();
  const bool told = platform.begin_told(platform.self, context, slot_of(serial));
  hold.take();
  // Kept until now, its events were not recorded anew.
  known.begins_seen = known.begins_seen || (told && known.lanes.find(serial) != nullptr);
  if (known.watched.serial == serial) { known.watched = {0, 2 * serial}; }
}

void CoreState::refresh(std::uint64_t now_ns, Hold& hold) {
  constexpr std::uint64_t kInterval = 20'000;
  if (now_ns < known.next_ask_ns) { return; }
  known.next_ask_ns = now_ns + kInterval;
  if (known.watched.ready) { read_begin(hold); }
  ask_all_ends(hold);
}

void CoreState::ask_all_ends(Hold& hold) {
  bool any = false;
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    const Serial newest = known.lanes.newest_end(lane);
    any = (newest != 0 && ask_end(newest, hold)) || any;
  }
  if (any) { publish(); }
}

void CoreState::make_room(StreamId id, Hold& hold) {
  const Stream* stream = known.lanes.find_stream(id);
  if (stream != nullptr && !known.lanes.has_room(*stream)) { ask_all_ends(hold); }
  const Serial forgotten = known.lanes.forgotten_end();
  if (forgotten != 0 && ask_end(forgotten, hold)) { publish(); }
}

// A compute launch k waits for the begin of the newest collective c of its device. c waits for what stands before it: compute,
// which ends by itself, and collectives. Each of those has ended or is one that k waits for anyway.
Refusal CoreState::ask_gate(const LaunchFacts& facts, const Stream& stream, const Collective& collective, Serial& missing) {
  missing = 0;
  Serial found = 0;
  const unsigned lane = known.lanes.missing(collective, stream.clock, 0, found);
  missing = lane == kNoLane ? 0 : found;
  return gate_refusal({.collective = collective,
                       .facts = facts,
                       .context = stream.info.context,
                       .sms = known.sms_of(stream),
                       .queued = lane != kNoLane,
                       .capture_active = captures.load(std::memory_order_relaxed) != 0,
                       .order_lost = known.lanes.exhausted()});
}

Refusal CoreState::decide_gate(const LaunchFacts& facts, StreamId id, Serial& waits_for, Hold& hold) {
  Refusal refusal = Refusal::none;
  for (int question = 0; question <= kMostQuestions; ++question) {
    Stream* stream = known.lanes.find_stream(id);
    const Collective* collective = stream == nullptr ? nullptr : known.lanes.find(known.lanes.newest_of(stream->info.device));
    if (collective == nullptr || collective->serial <= stream->settled) { return Refusal::none; }
    const bool before =
        known.lanes.is_over(collective->lane, collective->serial) || stream->clock.newest[collective->lane] >= collective->serial;
    if (before) { return Refusal::none; }
    Serial missing = 0;
    refusal = ask_gate(facts, *stream, *collective, missing);
    if (refusal == Refusal::none && !tells_begins(*collective, hold)) { return Refusal::unseen_begin; }
    if (refusal == Refusal::none) {
      stream->settled = waits_for = collective->serial;
      return refusal;
    }
    if (refusal != Refusal::queued_collective || question == kMostQuestions || !ask_end(missing, hold)) { break; }
  }
  if (Stream* stream = known.lanes.find_stream(id)) {
    const Collective* collective = known.lanes.find(known.lanes.newest_of(stream->info.device));
    const bool later = refusal == Refusal::no_event && collective != nullptr && !collective->launched;
    if (collective != nullptr && refusal != Refusal::small_compute && !later) { stream->settled = collective->serial; }
  }
  return refusal;
}

Decision CoreState::decide_compute(const LaunchFacts& facts, std::uint16_t index, Hold& hold) {
  Decision decision;
  decision.dynamic_shared = facts.dynamic_shared;
  remember_footprint(known.kernels[index], facts);
  const bool has_cap = known.active.shape && (known.kernels[index].cap != 0 || rules.footprint_count != 0);
  if (!has_cap && index != 0 && !known.kernels[index].passed_through) { fast_path.add(facts.function, index, counted()); }
  Stream* stream = &meet_stream(facts.stream, hold);
  if (!follows_order.load(std::memory_order_relaxed)) {
    known.totals.in_order_only += known.lanes.any_pending() ? 1 : 0;
    return decision;
  }
  decision.context = stream->info.context;
  if (!known.lanes.any_beside(stream->info.device, stream->clock)) { return decision; }
  refresh(facts.host_time_ns, hold);
  stream = known.lanes.find_stream(facts.stream);
  if (stream == nullptr || !known.lanes.any_beside(stream->info.device, stream->clock)) { return decision; }
  KernelRecord& kernel = known.kernels[index];
  decision.in_window = true;
  ++known.totals.in_window;
  ++kernel.in_window;
  if (kernel.passed_through) {
    refuse(kernel, decision, Refusal::passed_through);
    return decision;
  }
  const std::int32_t device = stream->info.device;
  const std::uint32_t cap = cap_of(kernel, facts, *stream);
  TicketFields ticket;
  ticket.kernel = index;
  if (known.active.gate) {
    const Refusal refusal = decide_gate(facts, facts.stream, ticket.serial, hold);
    if (refusal != Refusal::none) { refuse(kernel, decision, refusal); }
    ticket.gate = ticket.serial != 0;
  }
  if (cap != 0) {
    const std::uint32_t residency = meet_residency(facts, index, device, hold);
    LaunchFacts shaped = facts;
    shaped.cluster = kernel.cluster_of(facts);
    const Shaping shaping = shape({shaped, known.devices[static_cast<std::size_t>(device)], kernel.static_shared, residency, cap});
    if (shaping.refusal != Refusal::none) { refuse(kernel, decision, shaping.refusal); }
    ticket.shape = shaping.refusal == Refusal::none && shaping.dynamic_shared != facts.dynamic_shared;
    if (ticket.shape) { decision.dynamic_shared = shaping.dynamic_shared; }
  }
  if (ticket.gate) {
    decision.wait_on = slot_of(ticket.serial);
    ++known.waiting[decision.wait_on];
  }
  if (!has_cap && known.lanes.find_stream(facts.stream) != nullptr && !ticket.gate && decision.refusal != Refusal::small_compute &&
      decision.refusal != Refusal::unseen_begin) {
    fast_path.settle(facts.stream);
  }
  if (ticket.gate || ticket.shape) {
    known.trial.on_acted();
    decision.ticket = pack(ticket);
  }
  return decision;
}

// Of each lane the largest collective counts that may not have ended, since those of one stream follow each other.
bool CoreState::takes_half(StreamId id, const CollectiveFacts& facts, std::uint64_t now_ns, Hold& hold) {
  if (known.lanes.exhausted()) { return false; }
  for (const bool again : {true, false}) {
    const Stream* stream = known.lanes.find_stream(id);
    if (stream == nullptr) { return false; }
    if (2 * (known.lanes.blocks_at_once(stream->info.device, *stream) + facts.blocks) <= facts.sms) { return true; }
    if (again) { refresh(now_ns, hold); }
  }
  return false;
}

Decision CoreState::decide_unknown(StreamId id, std::uint32_t blocks, Hold& hold) {
  Decision decision;
  meet_stream(id, hold);
  make_room(id, hold);
  Stream* stream = known.lanes.find_stream(id);
  if (stream == nullptr) { return decision; }
  decision.context = stream->info.context;
  CollectiveFacts placed;
  placed.blocks = blocks;
  decision.ticket = enter(*stream, placed, {});
  return decision;
}

Decision CoreState::decide_collective(const LaunchFacts& facts, std::uint16_t index, Hold& hold) {
  Decision decision;
  decision.dynamic_shared = facts.dynamic_shared;
  decision.is_collective = true;
  if (facts.note.library != 0) { known.library = facts.note.library; }
  // First: a trial that changes its arm does so for whole steps.
  decision.step = timed(note_collective(kind_key(facts, known.kernels[index].id), facts.host_time_ns));
  Stream* stream = &meet_stream(facts.stream, hold);
  KernelRecord& kernel = known.kernels[index];
  remember_footprint(kernel, facts);
  if (CollectiveKind* kind = known.kinds.obtain(kind_key(facts, kernel.id))) {
    kind->kernel = index;
    kind->size_class = facts.note.size_class();
    ++kind->launches;
  }
  decision.context = stream->info.context;
  TicketFields ticket;
  ticket.kernel = index;
  const CollectiveFacts placed = collective_facts(facts, kernel.cluster_of(facts), known.sms_of(*stream));
  const bool acts = !kernel.left_alone && !kernel.passed_through;
  if (known.active.priority && acts) {
    if (facts.sets_priority) {
      refuse(kernel, decision, Refusal::own_priority);
    } else if (known.no_priority || !takes_half(facts.stream, placed, facts.host_time_ns, hold)) {
      refuse(kernel, decision, Refusal::fills_device);
    } else {
      decision.priority = ticket.priority = true;
      known.trial.on_acted();
    }
  }
  if (known.active.any() && kernel.passed_through) { refuse(kernel, decision, Refusal::passed_through); }
  make_room(facts.stream, hold);
  stream = known.lanes.find_stream(facts.stream);
  if (stream == nullptr) { return decision; }
  const EventSlot next = slot_of(known.lanes.newest() + 1);
  const bool takes_event = acts && !facts.sets_completion_event && !kernel.event_refused && known.waiting[next] == 0;
  ticket.gate = known.active.gate && takes_event;
  decision.ticket = enter(*stream, placed, ticket);
  if (ticket.gate && decision.ticket != 0) { decision.completion_event = next; }
  if (ticket.gate && decision.ticket == 0) { refuse(known.kernels[index], decision, Refusal::order_lost); }
  return decision;
}

Decision Core::on_launch(const LaunchFacts& facts) {
  CoreState& state = *state_;
  CoreState::Hold hold(state);
  const std::uint16_t kernel = state.meet_function(facts.function, hold);
  Knowledge& known = state.known;
  ++known.totals.launches;
  ++known.kernels[kernel].launches;
  if (known.kernels[kernel].waits_for_host) {
    Decision decision = state.decide_unknown(facts.stream, 0, hold);
    decision.dynamic_shared = facts.dynamic_shared;
    return decision;
  }
  if (!known.kernels[kernel].communication) {
    known.no_priority = known.no_priority || facts.cooperative || known.kernels[kernel].cluster_of(facts) > kMostCluster;
    return state.decide_compute(facts, kernel, hold);
  }
  known.several_ranks = known.several_ranks || facts.note.ranks != 1;  // 0: launched by a thread that made no call
  return state.decide_collective(facts, kernel, hold);
}

Decision Core::on_unknown(StreamId id, Unknown what, std::uint64_t host_time_ns) {
  CoreState::Hold hold(*state_);
  Knowledge& known = state_->known;
  if (what != Unknown::graph) { return state_->decide_unknown(id, 0, hold); }
  ++known.totals.graph_launches;
  const std::uint64_t step = state_->timed(state_->note_collective(combine(0, 1) | 1U, host_time_ns));
  known.lanes.forget_events();  // it may record any of them
  Decision decision = state_->decide_unknown(id, kUnknownBlocks, hold);
  decision.step = step;
  return decision;
}

}  // namespace elbowroom::interposer
