#include "interposer/core/core.hpp"

#include <sys/mman.h>

#include <cstdlib>
#include <new>
#include <utility>

#include "interposer/core/core_state.hpp"

namespace elbowroom::interposer {

Ticket pack(const TicketFields& fields) {
  const auto flag = [](bool set, unsigned at) { return static_cast<Ticket>(set) << at; };
  const Ticket number = fields.collective ? fields.serial : fields.join;
  const Ticket rest = fields.collective ? fields.era & kEraMask : fields.slot;
  return flag(true, 0) | flag(fields.collective, 1) | flag(fields.priority, 2) | flag(fields.gate, 3) | flag(fields.shape, 4) |
         Ticket{fields.kind} << 5U | number << 19U | rest << 51U;
}

TicketFields unpack(Ticket ticket) {
  static_assert(kMaxKinds == std::size_t{1} << 14U, "a kind takes the fourteen bits from 5 on");
  static_assert(kEventSlots <= std::size_t{1} << 13U, "a slot takes at most the thirteen bits from 51 on");
  const auto flag = [&](unsigned at) { return ((ticket >> at) & 1U) != 0; };
  TicketFields fields{flag(1), flag(2), flag(3), flag(4), (ticket >> 5U) & (kMaxKinds - 1)};
  const auto number = static_cast<std::uint32_t>(ticket >> 19U);
  const auto rest = static_cast<std::uint32_t>(ticket >> 51U);
  if (fields.collective) {
    fields.serial = number;
    fields.era = rest;
  } else {
    fields.join = number;
    fields.slot = static_cast<EventSlot>(rest);
  }
  return fields;
}

CoreState::CoreState(const Rules& the_rules, const Platform& the_platform) : rules(the_rules), platform(the_platform) { begin(); }

void* CoreState::operator new(std::size_t size, std::align_val_t, const std::nothrow_t&) noexcept {
  constexpr std::size_t huge_page = std::size_t{2} << 20U;
  const std::size_t rounded = (size + huge_page - 1) / huge_page * huge_page;
  void* memory = std::aligned_alloc(huge_page, rounded);
  // Whatever the answer, the memory is as good as any.
  if (memory != nullptr) { static_cast<void>(madvise(memory, rounded, MADV_HUGEPAGE)); }
  return memory;
}

void CoreState::operator delete(void* memory, std::align_val_t) noexcept {
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc): the other half of operator new
}
void CoreState::operator delete(void* memory, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  operator delete(memory, alignment);
}

Knowledge::Knowledge() { static_cast<void>(kinds.obtain(kOtherKinds)); }

void CoreState::begin() {
  known.kernels[0].passed_through = true;
  known.trial.begin(trial_arms(rules));
  const bool agrees = compares(rules) && platform.ranks.standing != nullptr;
  known.ranks.begin(agrees, hash_of_arms(rules));
  known.active = controls(rules, known.trial.arm());
  known.order.watch(event_records);
  rest.reset();
  passing.forget_shapes();
}

void CoreState::forget_functions() {
  known.modules = ++known.newest_modules;
  rest.forget_functions();
  passing.forget_shapes();
}

void CoreState::refuse(KernelRecord& kernel, Decision& decision, Refusal refusal) {
  known.count_refusal(kernel, refusal);
  if (decision.refusal == Refusal::none) { decision.refusal = refusal; }
}

std::unique_ptr<Core> Core::create(const Rules& rules, const Platform& platform) {
  std::unique_ptr<CoreState> state(new (std::nothrow) CoreState(rules, platform));
  if (state == nullptr) { return nullptr; }
  return std::unique_ptr<Core>(new (std::nothrow) Core(std::move(state)));
}

Core::Core(std::unique_ptr<CoreState> state) : state_(std::move(state)) {}
Core::~Core() = default;

bool Core::at_rest() const { return state_->rest.on(); }

PassedLaunches* Core::passed_launches(std::uint32_t thread) { return state_->passing.of(thread); }

void Core::on_launched(Ticket ticket, LaunchOutcome outcome) {
  if (ticket == 0) { return; }
  CoreState::Hold hold(*state_);
  const TicketFields fields = unpack(ticket);
  Knowledge& known = state_->known;
  LaunchKind& kind = known.kinds.at(fields.kind);
  KernelRecord& kernel = known.kernels[kind.kernel];
  Collective* collective = known.collective_of(fields);
  if (fields.gate && !fields.collective) { --known.waiting[fields.slot]; }
  const bool taken = outcome != LaunchOutcome::failed;
  if (!taken && collective != nullptr) { known.order.collectives().withdraw(fields.serial); }
  state_->end_launch(fields, taken);
  if (!taken) {
    kind.timing_pending = false;
    return;
  }
  if (collective != nullptr) {
    collective->launched = true;
    collective->has_event = outcome == LaunchOutcome::ok && fields.gate;
  }
  if (outcome == LaunchOutcome::relaunched) {
    ++known.totals.relaunched;
    const bool first_suspect = fields.collective && fields.gate && fields.priority && !kernel.event_refused;
    (first_suspect ? kernel.event_refused : kernel.passed_through) = true;
    state_->passing.forget_shapes();
  }
  if (outcome != LaunchOutcome::ok) { return; }
  for (AppliedCounts* counts : {&known.totals.applied, &kernel.applied}) {
    counts->priority += fields.priority ? 1 : 0;
    counts->gate += fields.gate && !fields.collective ? 1 : 0;
    counts->shape += fields.shape ? 1 : 0;
  }
}

void Core::on_timing(Ticket ticket, std::uint64_t nanoseconds, std::uint64_t /*host_time_ns*/) {
  if (ticket == 0) { return; }
  CoreState::Hold hold(*state_);
  const TicketFields fields = unpack(ticket);
  Knowledge& known = state_->known;
  LaunchKind& kind = known.kinds.at(fields.kind);
  kind.timing_pending = false;
  kind.samples.add(nanoseconds);
  if (known.collective_of(fields) != nullptr) { known.order.collectives().finish(fields.serial); }
}

void Core::on_timing_lost(Ticket ticket) {
  if (ticket == 0) { return; }
  CoreState::Hold hold(*state_);
  state_->known.kinds.at(unpack(ticket).kind).timing_pending = false;
}

void Core::on_module_unload() {
  CoreState::Hold hold(*state_);
  state_->forget_functions();
}

ModuleAges Core::begin_release() {
  CoreState::Hold hold(*state_);
  const std::uint32_t before = state_->known.modules;
  state_->forget_functions();
  return {before, state_->known.modules};
}

// Functions that were met meanwhile are asked for once more.
void Core::end_release(const ModuleAges& begun) {
  CoreState::Hold hold(*state_);
  std::uint32_t& modules = state_->known.modules;
  if (modules == begun.meanwhile) { modules = begun.before; }
}

void Core::on_stream_create(StreamId stream, const StreamInfo& info) {
  CoreState::Hold hold(*state_);
  state_->known.order.remove_stream(stream);
  state_->meet_device(info.device, hold);
  (void)state_->known.order.add_stream(stream, info);
  state_->passing.close();
}

std::optional<StreamInfo> Core::on_stream_destroy(StreamId stream) {
  CoreState::Hold hold(*state_);
  std::optional<StreamInfo> info;
  if (const Stream* found = state_->known.order.find_stream(stream)) { info = found->info; }
  state_->known.order.remove_stream(stream);
  state_->passing.close();
  state_->captures.store(state_->known.order.captures_active(), std::memory_order_relaxed);
  return info;
}

// A wait for the host that it holds is over with its context alone, as of any stream that was destroyed.
void Core::on_stream_kept(StreamId stream, const StreamInfo& info) {
  CoreState::Hold hold(*state_);
  ProgramOrder& order = state_->known.order;
  Stream* found = order.find_stream(stream);
  if (found == nullptr) { found = order.add_stream(stream, info); }
  if (found != nullptr) { order.suspect(*found, order.collectives().newest()); }
}

void Core::on_thread_end(std::uint32_t thread) {
  CoreState::Hold hold(*state_);
  if (!state_->known.order.remove_thread(thread)) { return; }
  state_->passing.close();
  state_->captures.store(state_->known.order.captures_active(), std::memory_order_relaxed);
}

void Core::on_event_destroy(EventId event) {
  if (state_->rest.on()) { return; }
  CoreState::Hold hold(*state_);
  state_->known.order.remove_event(event);
}

RecordPoint Core::before_event_record(EventId event) {
  const std::uint64_t records = state_->event_records.begin(event);
  RecordPoint before = before_operation();
  before.records = records;
  before.collectives = state_->may_gate && !state_->rest.on() && state_->collectives_pending.load(std::memory_order_relaxed);
  return before;
}

RecordPoint Core::before_operation() const {
  RecordPoint before;
  before.host_dependencies = state_->host_dependencies.load(std::memory_order_acquire);
  before.collectives_taken = state_->collectives_taken.load(std::memory_order_acquire);
  before.streams_joined = state_->streams_joined.load(std::memory_order_acquire);
  return before;
}

RecordPoint Core::before_wait(EventId event) const {
  RecordPoint before = before_operation();
  before.records = state_->event_records.count(event);
  return before;
}

void Core::on_event_record(EventId event, StreamId stream, const RecordPoint& before, bool captured) {
  if (state_->rest.on()) { return on_event_not_recorded(event, before); }
  CoreState::Hold hold(*state_);
  ProgramOrder& order = state_->known.order;
  Stream* found = state_->followed_stream(stream, hold);
  // Whoever sees no thread record it finds what is told here.
  const bool alone = state_->event_records.end(event, before.records);
  if (found == nullptr || (captured && order.active_capture(*found) == 0)) {
    order.remove_event(event);
  } else {
    order.record(event, *found, before, alone);
  }
}

void Core::on_event_not_recorded(EventId event, const RecordPoint& before) {
  static_cast<void>(state_->event_records.end(event, before.records));
}

std::uint64_t Core::event_records(EventId event) const { return state_->event_records.count(event); }

WaitId Core::before_stream_wait(StreamId stream, EventId event, std::uint64_t records) {
  if (state_->rest.on()) { return 0; }
  CoreState::Hold hold(*state_);
  Stream* found = state_->followed_stream(stream, hold);
  ProgramOrder& order = state_->known.order;
  if (found == nullptr || order.active_capture(*found) != 0) { return 0; }
  const Serial up_to = order.may_hold_up_to(event, state_->event_records.stayed(event, records));
  return order.begin_wait(*found, event, records, up_to);
}

void Core::after_wait(WaitId wait) {
  CoreState::Hold hold(*state_);
  state_->known.order.end_wait(wait);
}

void Core::on_stream_wait(StreamId stream, EventId event, const RecordPoint& before) {
  if (state_->rest.on()) { return; }
  CoreState::Hold hold(*state_);
  if (state_->dormant() || !state_->meet_stream(stream, hold)) { return; }
  const bool known = state_->event_records.stayed(event, before.records);
  ProgramOrder& order = state_->known.order;
  if (Stream* found = order.find_stream(stream)) { order.wait(*found, event, known, before); }
  state_->streams_joined.store(order.streams_joined(), std::memory_order_release);
}

void Core::before_unseen_record(EventId event) {
  if (event == kSomeEvent) {
    state_->event_records.begin_some();
  } else {
    static_cast<void>(state_->event_records.begin(event));
  }
  CoreState::Hold hold(*state_);
  state_->known.order.distrust(event);
}

void Core::after_unseen_record(EventId event) {
  if (event == kSomeEvent) {
    state_->event_records.end_some();
  } else {
    static_cast<void>(state_->event_records.end(event, 0));
  }
}

void Core::on_context_wait(EventId event, std::uint64_t records) {
  if (state_->rest.on()) { return; }
  CoreState::Hold hold(*state_);
  ProgramOrder& order = state_->known.order;
  if (!state_->event_records.stayed(event, records) && order.any_pending()) { return order.lose(); }
  const SyncPoint held = order.point_of(event);
  if (held.any_collective || held.host_actions != 0 || order.may_hold_more(event)) { order.lose(); }
}

SyncPoint Core::on_host_dependency(StreamId stream) {
  CoreState::Hold hold(*state_);
  Stream* found = state_->disturb(stream, hold);
  return found == nullptr ? SyncPoint{} : state_->wait_for_host(*found);
}

SyncPoint Core::event_point(EventId event) {
  if (state_->rest.on()) { return {}; }
  CoreState::Hold hold(*state_);
  const std::uint64_t records = state_->event_records.count(event);
  if (!EventRecords::is_settled(records)) { return {}; }
  SyncPoint point = state_->known.order.point_of(event);
  point.event = event;
  point.records = records;
  return point;
}

SyncPoint Core::stream_point(StreamId stream) {
  if (state_->rest.on()) { return {}; }
  CoreState::Hold hold(*state_);
  // A stream that is not known yet holds nothing, except that a legacy stream stands for all blocking ones.
  if (is_legacy_stream(stream) && !state_->dormant()) { (void)state_->meet_stream(stream, hold); }
  Stream* found = state_->known.order.find_stream(stream);
  return found == nullptr ? SyncPoint{} : state_->known.order.point_of(*found);
}

SyncPoint Core::context_point(ContextId context) {
  if (state_->rest.on()) { return {}; }
  CoreState::Hold hold(*state_);
  return state_->known.order.context_point(context);
}

void Core::on_synchronized(const SyncPoint& point, std::uint64_t host_time_ns) {
  if (!point.any_collective && point.host_actions == 0 && point.stream == 0 && point.context == 0) { return; }
  if (point.event != 0 && state_->event_records.count(point.event) != point.records) { return; }
  CoreState::Hold hold(*state_);
  ProgramOrder& order = state_->known.order;
  order.finish(point);
  if (!order.collectives().any()) { state_->collectives_pending.store(false, std::memory_order_relaxed); }
  Stream* stream = point.stream == 0 ? nullptr : order.find_stream(point.stream);
  // What was expected to be still running has ended: whatever follows it begins that much earlier.
  if (stream != nullptr && point.busy_until > host_time_ns) { stream->order.clock.advance(point.busy_until - host_time_ns); }
}

void Core::on_context_destroy(ContextId context) {
  CoreState::Hold hold(*state_);
  state_->known.order.remove_context(context);
  state_->forget_functions();
  state_->captures.store(state_->known.order.captures_active(), std::memory_order_relaxed);
}

void Core::before_capture(StreamId stream) {
  CoreState::Hold hold(*state_);
  static_cast<void>(state_->disturb(stream, hold));
}

void Core::on_capture_begin(StreamId stream, std::uint64_t capture) {
  CoreState::Hold hold(*state_);
  Stream* found = state_->disturb(stream, hold);
  if (found == nullptr) { return; }
  state_->known.order.begin_capture(*found, capture);
  state_->passing.forget_shapes();  // of some no kind may be known, and now each has one
  state_->captures.store(state_->known.order.captures_active(), std::memory_order_relaxed);
}

GraphFacts Core::on_capture_end(StreamId stream) {
  CoreState::Hold hold(*state_);
  GraphFacts held;
  if (const Stream* found = state_->known.order.find_stream(stream)) { state_->known.order.end_capture(*found, held); }
  state_->captures.store(state_->known.order.captures_active(), std::memory_order_relaxed);
  return held;
}

bool Core::capturing() const { return state_->captures.load(std::memory_order_relaxed) != 0; }

}  // namespace elbowroom::interposer
