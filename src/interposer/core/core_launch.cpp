#include <algorithm>
#include <bit>
#include <optional>

#include "interposer/core/core_state.hpp"
#include "interposer/core/launch_rules.hpp"
#include "interposer/core/shaping.hpp"

namespace elbowroom::interposer {
namespace {

// The same in every process, so that what one learns another can use.
std::uint64_t kind_key(const LaunchFacts& facts, std::uint64_t kernel) {
  const std::uint64_t grid = (facts.grid.count() << 16U) ^ facts.grid.x;
  const std::uint64_t block = (facts.block.count() << 32U) | facts.dynamic_shared;
  std::uint64_t key = combine(combine(kernel, grid), block);
  if (facts.note.bytes != 0) { key = combine(key, (std::uint64_t{facts.note.ranks} << 8U) | std::bit_width(facts.note.bytes)); }
  return key | 1U;
}

/// What a step is known by. Budgets change the blocks of collectives that the library asks about, and the step stays the same.
std::uint64_t signature_of(const LaunchFacts& facts, std::uint64_t kernel, std::uint64_t kind) {
  if (!facts.note.asked) { return kind; }
  LaunchFacts of_any_grid = facts;
  of_any_grid.grid = {};
  return kind_key(of_any_grid, kernel);
}

// Another stream may join the capture by an event that the launch records, and what it captures before the others is not known.
GraphFacts captured_node(const LaunchFacts& facts, bool communicates) {
  GraphFacts node;
  (communicates ? node.collectives : node.computes) = 1;
  node.waits = facts.records_event;
  return node;
}

void remember_footprint(KernelRecord& kernel, const LaunchFacts& facts) {
  kernel.threads = static_cast<std::uint32_t>(facts.block.count());
  kernel.dynamic_shared = facts.dynamic_shared;
  kernel.cluster = kernel.cluster_of(facts);
}

bool may_time(const Launch& launch) {
  Knowledge& known = launch.state.known;
  if (!launch.state.rules.timing || launch.kind.timing_pending) { return false; }
  if (known.order.captures_active() != 0 || !launch.kind.samples.wants(launch.kind.launches)) { return false; }
  return known.timing_allowance.spend();
}

bool acts(const Launch& launch) {
  const Decision& decision = launch.decision;
  return decision.priority || decision.wait_on != kNoEvent || decision.dynamic_shared != launch.facts.dynamic_shared;
}

/// When the launch is expected to run; nothing captured happens at a time.
Span span_of(const Launch& launch) {
  Span span;
  if (launch.captured) { return span; }
  span.start = launch.expected.start;
  if (launch.kind.samples.known()) { span.end = launch.expected.end; }
  return span;
}

/// That may keep the collective's from beginning. A cooperative launch waits for its SMs where another collective holds some, as
/// one with clusters does, and the collective behind it.
std::uint64_t blocks_of_others(const Launch& launch, const Collective& collective) {
  Knowledge& known = launch.state.known;
  const std::uint64_t collectives = known.order.collectives().blocks_beside(collective, launch.order.collectives);
  return collectives == 0 ? 0 : collectives + known.needed_sms.beside_others(known.sms_of(launch.stream));
}

Refusal refusal_of(const Launch& launch, const Collective& collective) {
  ProgramOrder& order = launch.state.known.order;
  const CoreState& state = launch.state;
  return gate_refusal({.collective = collective,
                       .facts = launch.facts,
                       .context = launch.stream.info.context,
                       .capture = launch.captured ? launch.stream.capture : 0,
                       .compute = launch.expected,
                       .sms = state.known.sms_of(launch.stream),
                       .collectives_between = order.may_queue(collective, launch.order.collectives),
                       .blocks_of_others = blocks_of_others(launch, collective),
                       .event_taken = order.collectives().newest() - collective.serial >= kEventSlots,
                       .capture_active = order.captures_active() != 0,
                       .waits_captured = launch.captured && order.waits_captured(launch.stream),
                       .host_action_pending = order.host_actions_pending(),
                       .order_lost = state.order_lost(),
                       .compares = compares(state.rules)});
}

/// Not asked about again by the stream. Some might be allowed later, when more is known to be over, but every launch would ask.
bool is_final(Refusal refusal, const Collective& collective) {
  switch (refusal) {
    case Refusal::queued_collective:
    case Refusal::short_collective:
    case Refusal::several_waves:
    case Refusal::other_context:
    case Refusal::other_capture:
      return true;
    case Refusal::no_event:
      return collective.launched;
    default:
      return false;
  }
}

// Until the driver has taken the wait, no later collective may get the event: another thread may launch hundreds meanwhile.
void begin_waiting(Launch& launch, Serial serial) {
  launch.decision.wait_on = launch.ticket.slot = slot_of(serial);
  launch.ticket.gate = true;
  ++launch.state.known.waiting[slot_of(serial)];
}

/// Waits for the youngest collective that may be waited for, once per stream.
void decide_gate(Launch& launch, const Span& span) {
  ProgramOrder& order = launch.state.known.order;
  Beside beside = order.ungated(launch.stream, launch.order, span);
  Refusal refusal = Refusal::none;
  for (int i = 0; i < kMostQuestions; ++i) {
    const Collective* collective = order.collectives().find(beside.next());
    if (collective == nullptr) { break; }
    refusal = refusal_of(launch, *collective);
    if (refusal == Refusal::none) {
      ProgramOrder::mark_gated(launch.stream, *collective);
      begin_waiting(launch, collective->serial);
      return;
    }
    if (is_final(refusal, *collective)) { ProgramOrder::mark_asked(launch.stream, *collective); }
  }
  if (refusal != Refusal::none) { launch.state.refuse(launch.kernel, launch.decision, refusal); }
}

void decide_shape(Launch& launch) {
  if (launch.captured && compares(launch.state.rules)) {
    launch.state.refuse(launch.kernel, launch.decision, Refusal::captured_trial);
    return;
  }
  const auto device = static_cast<std::size_t>(launch.stream.info.device);
  LaunchFacts facts = launch.facts;
  facts.cluster = launch.kernel.cluster_of(launch.facts);
  const Shaping shaping =
      shape({facts, launch.state.known.devices[device], launch.kernel.static_shared, launch.kind.residency, launch.cap});
  if (shaping.refusal != Refusal::none) {
    launch.state.refuse(launch.kernel, launch.decision, shaping.refusal);
  } else if (shaping.dynamic_shared != launch.facts.dynamic_shared) {
    launch.decision.dynamic_shared = shaping.dynamic_shared;
    launch.ticket.shape = true;
  }
}

/// No collective that was launched so far can meet it, nor what its stream does later. Each is ordered before, or was to have ended
/// by now.
bool stays_outside(const Launch& launch, const Beside& now) {
  if (!now.any_unordered()) { return true; }
  const Span from_now_on{launch.facts.host_time_ns};
  return !launch.state.known.order.beside(launch.stream, launch.order, from_now_on).any();
}

/// The most blocks with which neither the launch nor what its stream does later will wait for a collective that was launched so
/// far; 0: it may be asked for. What the stream is not asked about again counts as well: such a mark may be lost. Who was just
/// refused a gate for another reason than its size is not looked at again: the next launch tells.
std::uint16_t most_ungated_blocks(const Launch& launch) {
  Knowledge& known = launch.state.known;
  std::uint16_t most = PassedKind::kManyBlocks;
  if (!known.active.gate) { return most; }
  if (launch.decision.refusal != Refusal::none && launch.decision.refusal != Refusal::small_compute) { return 0; }
  const Span from_now_on{launch.facts.host_time_ns};
  if (!known.order.ungated(launch.stream, launch.order, from_now_on).any()) { return most; }
  Beside beside = known.order.not_waited_for(launch.stream, launch.order, from_now_on);
  const std::uint32_t sms = known.sms_of(launch.stream);
  for (int i = 0; i < kMostQuestions; ++i) {
    const Collective* collective = known.order.collectives().find(beside.next());
    if (collective == nullptr) { break; }
    const std::uint32_t left = sms > collective->blocks ? sms - collective->blocks : 0;
    most = static_cast<std::uint16_t>(std::min<std::uint32_t>(most, left));
  }
  return beside.any() || launch.facts.grid.count() > most ? std::uint16_t{0} : most;
}

/// Its time is not to be learned, now or later.
bool is_settled(const Launch& launch) { return !launch.state.rules.timing || launch.kind.samples.converged(); }

void decide_passing(Launch& launch, const Beside& now) {
  if (!is_settled(launch) || launch.captured || launch.state.known.order.captures_active() != 0) { return; }
  if (stays_outside(launch, now)) {
    launch.passes = PassTerms{};
  } else if (launch.state.may_pass_anywhere(launch.kernel)) {
    if (const std::uint16_t most = most_ungated_blocks(launch); most != 0) { launch.passes = PassTerms{true, most}; }
  }
}

/// Beside a collective.
void decide_in_window(Launch& launch, const Span& span) {
  const Knowledge& known = launch.state.known;
  if (launch.kernel.passed_through) {
    if (known.active.gate || known.active.shape) { launch.state.refuse(launch.kernel, launch.decision, Refusal::passed_through); }
    return;
  }
  if (known.active.gate) { decide_gate(launch, span); }
  if (launch.cap != 0) { decide_shape(launch); }
}

void decide_compute(Launch& launch) {
  Knowledge& known = launch.state.known;
  const auto device = static_cast<std::size_t>(launch.stream.info.device);
  known.compute_until[device] = std::max(known.compute_until[device], launch.expected.end);
  const Span span = span_of(launch);
  Beside beside = known.order.beside(launch.stream, launch.order, span);
  launch.decision.in_window = known.count_beside(launch.kernel, beside);
  if (launch.decision.in_window) { decide_in_window(launch, span); }
  decide_passing(launch, beside);
}

}  // namespace

Decision CoreState::decide(const LaunchFacts& facts, std::uint16_t kernel_index, Hold& hold) {
  Decision decision;
  decision.dynamic_shared = facts.dynamic_shared;
  const std::uint64_t key = kind_key(facts, known.kernels[kernel_index].id);
  known.prefetch(kernel_index, key);
  if (facts.note.library != 0) { known.library = facts.note.library; }
  // First: a trial that changes its arm does so for whole steps.
  std::uint64_t step = 0;
  if (known.kernels[kernel_index].communication) {
    step = note_collective(signature_of(facts, known.kernels[kernel_index].id, key), facts.host_time_ns);
  }
  if (rest.on()) {
    pass_at_rest(facts, kernel_index, key);
    const bool timed = step != 0 && times_steps() && meet_stream(facts.stream, hold);
    const Stream* stream = timed ? known.order.find_stream(facts.stream) : nullptr;
    if (stream != nullptr) {
      decision.step = step;
      decision.context = stream->info.context;  // whose event is recorded
    }
    return decision;
  }
  if (!meet_stream(facts.stream, hold)) {
    ++known.totals.overflowed;
    return decision;
  }
  const std::uint32_t cap = cap_of(known.kernels[kernel_index], facts);
  if (cap != 0) { meet_residency(facts, kernel_index, key, hold); }
  Stream* stream = known.order.find_stream(facts.stream);
  if (stream == nullptr) {
    ++known.totals.overflowed;
    return decision;
  }
  LaunchKind* kind = known.kinds.obtain(key);
  const bool tracked = kind != nullptr;
  if (!tracked) {
    ++known.totals.overflowed;
    kind = known.other_kinds();
  }
  decision.context = stream->info.context;
  KernelRecord& kernel = known.kernels[kernel_index];
  if (tracked && kind->launches == 0) { begin_kind(*kind, key); }
  kind->kernel = tracked ? kernel_index : 0;
  remember_footprint(kernel, facts);

  TicketFields ticket;
  Order& order = known.order.open_launch(*stream, ticket.join);
  const bool captured = &order == &stream->captured;
  Launch launch{*this, facts, kernel, *kind, *stream, order, captured, decision, cap, ticket};
  if (facts.programmatic) { known.order.hold(order, facts.grid.count()); }
  if (captured) {
    ++known.totals.captured;
    known.order.count_captured(*stream, captured_node(facts, kernel.communication));
    decision.captured = true;
    decision.capture = known.order.driver_capture(*stream);
  } else {
    launch.expected = order.clock.enqueue(facts.host_time_ns, kind->samples.expected());
  }
  if (kernel.communication) {
    if (!captured) { decision.step = step; }
    if (tracked) { kind->size_class = facts.note.size_class(); }
    // What stands behind it, or beside it, is to know of it all the same.
    tracked ? decide_collective(launch) : place_collective(launch);
  } else if (tracked) {
    decide_compute(launch);
  }
  if (acts(launch)) { known.trial.on_acted(); }
  if (launch.passes) { let_pass(facts, kernel_index, kind, *launch.passes); }
  if (tracked && may_time(launch)) { decision.time_it = kind->timing_pending = true; }
  ++kind->launches;
  known.order.close_launch(*stream, order, launch.ticket.join);
  if (decision.is_collective || launch.ticket.join != 0 || !decision.untouched(facts.dynamic_shared)) {
    decision.joins = launch.ticket.join != 0;
    launch.ticket.kind = known.kinds.position(kind);
    decision.ticket = pack(launch.ticket);
  }
  return decision;
}

Decision Core::on_launch(const LaunchFacts& facts) {
  CoreState& state = *state_;
  state.known.prefetch(facts);
  state.passing.prefetch();
  CoreState::Hold hold(state);
  const std::uint16_t kernel = state.meet_function(facts.function, hold);
  Knowledge& known = state.known;
  ++known.totals.launches;
  ++known.kernels[kernel].launches;
  known.timing_allowance.earn();
  if (!known.kernels[kernel].communication) {
    known.needed_sms.note(facts.cooperative ? facts.grid.count() : 0, known.kernels[kernel].cluster_of(facts));
  } else {
    state.see_collective();
    known.several_ranks = known.several_ranks || facts.note.ranks != 1;  // 0: launched by a thread that made no call
  }
  if (known.kernels[kernel].waits_for_host) { return state.decide_wait(facts, hold); }
  if (state.dormant()) {
    state.let_pass(facts, kernel, nullptr, {});
    Decision decision;
    decision.dynamic_shared = facts.dynamic_shared;
    return decision;
  }
  return state.decide(facts, kernel, hold);
}

}  // namespace elbowroom::interposer
