#include "interposer/core/core.hpp"

#include <cstddef>
#include <new>
#include <utility>

#include "interposer/core/core_state.hpp"

namespace elbowroom::interposer {

Ticket pack(const TicketFields& fields) {
  const auto flag = [](bool set, unsigned at) { return static_cast<Ticket>(set) << at; };
  return flag(true, 0) | flag(fields.collective, 1) | flag(fields.priority, 2) | flag(fields.gate, 3) | flag(fields.shape, 4) |
         Ticket{fields.kernel} << 8U | Ticket{fields.serial} << 32U;
}

TicketFields unpack(Ticket ticket) {
  const auto flag = [&](unsigned at) { return ((ticket >> at) & 1U) != 0; };
  return {flag(1), flag(2), flag(3), flag(4), static_cast<std::uint16_t>(ticket >> 8U), static_cast<Serial>(ticket >> 32U)};
}

CoreState::CoreState(const Rules& the_rules, const Platform& the_platform, FastPath& fast)
    : rules(the_rules), platform(the_platform), fast_path(fast) {
  known.kernels[0].passed_through = true;
  known.trial.begin(trial_arms(rules));
  known.ranks.begin(compares(rules) && platform.ranks.standing != nullptr, hash_of_arms(rules));
  put_in_force();
  publish();
}

void CoreState::forget_functions() {
  ++known.modules;
  fast_path.forget_functions(counted());
}

void CoreState::refuse(KernelRecord& kernel, Decision& decision, Refusal refusal) {
  known.count_refusal(kernel, refusal);
  if (decision.refusal == Refusal::none) { decision.refusal = refusal; }
}

// With what a vendor's room keeps (driver/make_interposer.hpp) a process has 1 MiB at most.
static_assert(sizeof(CoreState) + sizeof(FastPath) <= std::size_t{880} * 1024);

std::unique_ptr<Core> Core::create(const Rules& rules, const Platform& platform, FastPath& fast_path) {
  std::unique_ptr<CoreState> state(new (std::nothrow) CoreState(rules, platform, fast_path));
  if (state == nullptr) { return nullptr; }
  return std::unique_ptr<Core>(new (std::nothrow) Core(std::move(state)));
}

Core::Core(std::unique_ptr<CoreState> state) : state_(std::move(state)) {}
Core::~Core() = default;

bool Core::follows_order() const { return state_->follows_order.load(std::memory_order_acquire); }
bool Core::times_ends() const { return state_->times_ends.load(std::memory_order_relaxed); }

EventSlot Core::on_launched(Ticket ticket, LaunchOutcome outcome) {
  if (ticket == 0) { return kNoEvent; }
  CoreState::Hold hold(*state_);
  const TicketFields fields = unpack(ticket);
  Knowledge& known = state_->known;
  KernelRecord& kernel = known.kernels[fields.kernel];
  const bool taken = outcome != LaunchOutcome::failed;
  if (!fields.collective && fields.gate) { --known.waiting[slot_of(fields.serial)]; }
  Serial ends = 0;
  if (fields.collective) {
    ends = known.lanes.tell(fields.serial, taken);
    Collective* collective = known.lanes.find(fields.serial);
    if (collective != nullptr) { collective->has_begin = outcome == LaunchOutcome::ok && fields.gate; }
    state_->publish();
  }
  if (outcome == LaunchOutcome::relaunched) {
    ++known.totals.relaunched;
    const bool first_suspect = fields.collective && fields.gate && fields.priority && !kernel.event_refused;
    (first_suspect ? kernel.event_refused : kernel.passed_through) = true;
    state_->forget_functions();
  }
  if (outcome == LaunchOutcome::ok) {
    for (AppliedCounts* counts : {&known.totals.applied, &kernel.applied}) {
      counts->priority += fields.priority ? 1 : 0;
      counts->gate += fields.gate && !fields.collective ? 1 : 0;
      counts->shape += fields.shape ? 1 : 0;
    }
  }
  // Where something is decided about what runs beside it, and where it may be the last one of its stream.
  const bool asked = state_->follows_order.load(std::memory_order_relaxed) || (known.active.priority && known.lanes.several()) ||
                     (state_->rules.policy != Policy::observe && known.lanes.is_early(fields.serial));
  return taken && ends != 0 && asked ? state_->reserve_end(fields.serial) : kNoEvent;
}

void Core::on_end_recorded(Ticket ticket, bool recorded) {
  CoreState::Hold hold(*state_);
  const TicketFields fields = unpack(ticket);
  state_->known.recording[slot_of(fields.serial)] = false;
  if (recorded) { state_->known.lanes.note_end(fields.serial, fields.serial); }
}

void Core::on_module_unload() {
  CoreState::Hold hold(*state_);
  state_->forget_functions();
}

LastEnd Core::on_stream_destroy(StreamId stream) {
  CoreState::Hold hold(*state_);
  Lanes& lanes = state_->known.lanes;
  LastEnd last;
  if (const Collective* collective = lanes.find(lanes.unasked_end(stream))) {
    last = {pack({.collective = true, .serial = collective->serial}), collective->context, state_->reserve_end(collective->serial)};
  }
  lanes.remove_stream(stream);
  state_->publish();
  return last;
}

void Core::on_event_destroy(EventId event) {
  CoreState::Hold hold(*state_);
  state_->known.lanes.remove_event(event);
}

RecordMark Core::before_record(EventId event, StreamId stream) {
  CoreState::Hold hold(*state_);
  Lanes& lanes = state_->known.lanes;
  return lanes.before_record(event, lanes.find_stream(stream));
}

void Core::after_record(EventId event, const RecordMark& mark, bool recorded) {
  CoreState::Hold hold(*state_);
  state_->known.lanes.after_record(event, mark, recorded);
}

WaitMark Core::before_wait(EventId event) {
  CoreState::Hold hold(*state_);
  return state_->known.lanes.before_wait(event);
}

void Core::after_wait(StreamId stream, EventId event, const WaitMark& mark) {
  CoreState::Hold hold(*state_);
  state_->known.lanes.after_wait(state_->meet_stream(stream, hold), event, mark);
}

void Core::forget_events() {
  CoreState::Hold hold(*state_);
  state_->known.lanes.forget_events();
}

void Core::on_capture_begin() { state_->captures.fetch_add(1, std::memory_order_acq_rel); }

void Core::on_capture_end() {
  unsigned known = state_->captures.load(std::memory_order_relaxed);
  while (known != 0 && !state_->captures.compare_exchange_weak(known, known - 1, std::memory_order_acq_rel)) {}
}

bool Core::capturing() const { return state_->captures.load(std::memory_order_acquire) != 0; }

}  // namespace elbowroom::interposer
