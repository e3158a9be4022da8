#include <algorithm>

#include "interposer/core/core_state.hpp"

namespace elbowroom::interposer {

std::uint64_t Core::needed_sms(std::uint32_t sms) const {
  const CoreState::Hold hold(*state_);
  return state_->known.needed_sms.beside_first(sms);
}

GraphStep Core::on_graph_launch(StreamId stream, const GraphFacts& graph, std::uint64_t host_time_ns, std::uint32_t behind) {
  CoreState::Hold hold(*state_);
  Knowledge& known = state_->known;
  ++known.totals.graph_launches;
  if (graph.collectives > 0) { state_->see_collective(); }
  const std::uint64_t key = combine(combine(0, graph.collectives), graph.computes) | 1U;
  const Stream* before = known.order.find_stream(stream);
  const bool captured = before != nullptr && known.order.active_capture(*before) != 0;
  GraphStep begun;
  if (graph.collectives > 0 && !captured) { begun.step = state_->note_collective(key, host_time_ns); }
  if (state_->rest.on() && !state_->times_steps()) { begun.step = 0; }
  if (graph.waits) {
    if (Stream* waiting = state_->disturb(stream, hold)) { state_->wait_for_host(*waiting); }
  }
  const bool followed = !state_->rest.on() && !state_->dormant();
  if ((!followed && begun.step == 0) || !state_->meet_stream(stream, hold)) { return {}; }
  Stream* found = known.order.find_stream(stream);
  if (found == nullptr) { return {}; }
  begun.context = found->info.context;
  if (followed && !captured) {
    known.order.suspect(*found, behind);
    begun.newest = known.order.collectives().newest();
  }
  // Without kernels it may be without nodes, which is no operation: other streams do not wait for it.
  const bool operates = followed && (graph.collectives > 0 || graph.computes > 0);
  if (operates) {
    const TicketFields placed = state_->place_graph(*found, graph, key, host_time_ns);
    begun.joins = placed.join != 0;
    begun.ticket = placed.collective || begun.joins ? pack(placed) : 0;
  }
  if (begun.newest != 0) { begun.wait = known.order.begin_wait(*found, kSomeEvent, 0, 0); }
  return begun;
}

TicketFields CoreState::place_graph(Stream& stream, const GraphFacts& graph, std::uint64_t key, std::uint64_t host_time_ns) {
  TicketFields ticket;
  Order& order = known.order.open_launch(stream, ticket.join);
  ticket.kind = known.kinds.position(known.other_kinds());
  if (&order == &stream.captured) { known.order.count_captured(stream, graph); }
  if (graph.collectives > 0) {
    const LaunchKind* kind = known.kinds.obtain(key);
    CollectiveFacts facts;
    facts.expected = order.clock.enqueue(host_time_ns, 0);
    facts.shape = static_cast<std::uint32_t>(kind == nullptr ? ticket.kind : known.kinds.position(kind));
    facts.blocks = kUnknownBlocks;
    const std::uint64_t first_blocks = stream.info.first ? kUnknownBlocks : graph.first_blocks;
    facts.first_blocks = static_cast<std::uint32_t>(std::min<std::uint64_t>(first_blocks, kUnknownBlocks));
    ticket.collective = true;
    ticket.kind = facts.shape;
    ticket.serial = add_collective(stream, order, facts, host_time_ns, ticket.join);
    ticket.era = known.order.era();
  }
  known.order.close_launch(stream, order, ticket.join);
  return ticket;
}

// Until the driver has taken it, another thread may launch it elsewhere, and so before it.
GraphStep Core::on_graph_upload(StreamId stream, std::uint32_t behind) {
  if (state_->rest.on()) { return {}; }
  CoreState::Hold hold(*state_);
  ProgramOrder& order = state_->known.order;
  Stream* found = state_->followed_stream(stream, hold);
  GraphStep begun;
  if (found == nullptr) { return begun; }
  order.suspect(*found, behind);
  begun.newest = order.collectives().newest();
  begun.wait = order.begin_wait(*found, kSomeEvent, 0, 0);
  return begun;
}

void Core::on_graph_followed(StreamId stream, std::uint32_t newest) {
  if (state_->rest.on()) { return; }
  CoreState::Hold hold(*state_);
  if (Stream* found = state_->followed_stream(stream, hold)) { state_->known.order.suspect(*found, newest); }
}

std::uint32_t Core::newest_collective() const { return state_->newest_collective.load(std::memory_order_acquire); }

void Core::after_graph(const GraphStep& begun, bool taken) {
  on_launched(begun.ticket, taken ? LaunchOutcome::plain_ok : LaunchOutcome::failed);
  if (begun.wait != 0) { after_wait(begun.wait); }
}

void Core::on_memory_freed() {
  if (!state_->memory_freed.load(std::memory_order_relaxed)) { state_->memory_freed.store(true, std::memory_order_relaxed); }
}

WaitId Core::before_allocation(StreamId stream) {
  if (state_->rest.on() || !state_->memory_freed.load(std::memory_order_relaxed)) { return 0; }
  CoreState::Hold hold(*state_);
  ProgramOrder& order = state_->known.order;
  Stream* found = state_->followed_stream(stream, hold);
  const bool eager = found != nullptr && order.active_capture(*found) == 0;
  return eager ? order.begin_wait(*found, kSomeEvent, 0, 0) : 0;
}

// What the memory was freed behind is not looked for: who allocates in this way frees as often. In a capture both are nodes.
void Core::on_memory_allocated(StreamId stream) {
  if (state_->rest.on() || !state_->memory_freed.load(std::memory_order_relaxed)) { return; }
  CoreState::Hold hold(*state_);
  ProgramOrder& order = state_->known.order;
  Stream* found = state_->followed_stream(stream, hold);
  if (found != nullptr && order.active_capture(*found) == 0) { order.suspect(*found, order.collectives().newest()); }
}

// Lock-free: most copies on a legacy stream are within one device.
void Core::begin_unplaced() { state_->unplaced.fetch_add(1, std::memory_order_acq_rel); }
void Core::end_unplaced() { state_->unplaced.fetch_sub(1, std::memory_order_acq_rel); }

// Which streams are behind which is not followed.
void Core::on_devices_wait() {
  if (state_->rest.on()) { return; }
  CoreState::Hold hold(*state_);
  if (state_->known.order.any_pending()) { state_->known.order.lose(); }
}

bool Core::may_be_waited_for() const {
  if (state_->rest.on()) { return false; }
  return state_->collectives_pending.load(std::memory_order_relaxed) ||
         state_->host_dependencies.load(std::memory_order_relaxed) != 0;
}

void Core::on_stream_operation(StreamId stream, const RecordPoint& before) {
  if (!is_legacy_stream(stream) || state_->rest.on()) { return; }
  CoreState::Hold hold(*state_);
  if (state_->dormant() || !state_->meet_stream(stream, hold)) { return; }
  if (Stream* found = state_->known.order.find_stream(stream)) {
    state_->known.order.close(*found, state_->known.order.open_told(*found, before));
  }
}

// Like one that ends at once, it is seldom beside anything. What stands behind it queues behind another all the same.
Decision Core::on_copying_collective(StreamId stream, std::uint64_t host_time_ns) {
  if (state_->rest.on()) { return {}; }
  CoreState::Hold hold(*state_);
  state_->see_collective();
  Stream* found = state_->meet_stream(stream, hold) ? state_->known.order.find_stream(stream) : nullptr;
  if (found == nullptr) { return {}; }
  Knowledge& known = state_->known;
  TicketFields ticket;
  Order& order = known.order.open_launch(*found, ticket.join);
  CollectiveFacts facts;
  facts.expected = order.clock.enqueue(host_time_ns, 0);
  facts.duration_known = true;
  ticket.collective = true;
  ticket.kind = known.kinds.position(known.other_kinds());
  ticket.serial = state_->add_collective(*found, order, facts, host_time_ns, ticket.join);
  ticket.era = known.order.era();
  known.order.close_launch(*found, order, ticket.join);
  Decision decision;
  decision.ticket = pack(ticket);
  decision.joins = ticket.join != 0;
  return decision;
}

bool Core::sets_targets() {
  if (state_->rest.on()) { return false; }
  CoreState::Hold hold(*state_);
  return state_->sets_targets();
}

SmTarget Core::on_library_gemm(StreamId stream, const Product& product, std::uint64_t host_time_ns) {
  if (state_->rest.on()) { return {}; }
  CoreState::Hold hold(*state_);
  if (!state_->sets_targets() || !state_->meet_stream(stream, hold)) { return {}; }
  const SmTarget target = state_->sm_target(stream, product, host_time_ns);
  if (target.sms != 0) { state_->known.trial.on_acted(); }
  return target;
}

void Core::on_library_gemm_done(LaunchOutcome outcome) {
  CoreState::Hold hold(*state_);
  Totals& totals = state_->known.totals;
  totals.applied.sm_target += outcome == LaunchOutcome::ok ? 1 : 0;
  totals.relaunched += outcome == LaunchOutcome::relaunched ? 1 : 0;
}

std::optional<SmTarget> Core::expected_sm_target(StreamId stream, const Product& product, std::uint64_t host_time_ns) {
  if (state_->rest.on()) { return SmTarget{}; }
  CoreState::Hold hold(*state_);
  if (!state_->sets_targets()) { return SmTarget{}; }
  if (state_->known.order.find_stream(stream) == nullptr) { return std::nullopt; }
  return state_->sm_target(stream, product, host_time_ns);
}

SmTarget Core::common_sm_target(StreamId stream, const Product& product, std::uint64_t host_time_ns) {
  if (state_->rest.on()) { return {}; }
  CoreState::Hold hold(*state_);
  if (!state_->sets_targets() || !state_->has_several_ranks() || !state_->meet_stream(stream, hold)) { return {}; }
  return state_->sm_target(stream, product, host_time_ns);
}

SmTarget CoreState::sm_target(StreamId stream, const Product& product, std::uint64_t host_time_ns) {
  Stream* found = known.order.find_stream(stream);
  if (found == nullptr) { return {}; }
  const std::uint32_t target = rules.target_of(product, names_on(*found));
  // A rule may have been made for a larger device of the same name.
  const std::uint32_t sms = known.devices[static_cast<std::size_t>(found->info.device)].sms;
  if (target == 0 || (sms != 0 && target >= sms)) { return {}; }
  if (known.order.active_capture(*found) != 0) { return {}; }
  // Ranks that compute one product twice must get one result, and a target may let the library choose another algorithm. What is
  // beside a product, and when, each rank sees for itself, and so it does which arm is faster.
  if (has_several_ranks()) {
    if (!compares(rules)) { return {target}; }
    ++known.totals.refused[static_cast<std::size_t>(Refusal::own_choice)];
    return {};
  }
  Order order = known.order.ahead(*found);
  // The kernel that the library will choose is not known yet, and neither is its duration.
  const Span from_then{order.clock.enqueue(host_time_ns, 0).start};
  return {known.order.beside(*found, order, from_then).any() ? target : 0};
}

}  // namespace elbowroom::interposer
