#pragma once

#include "interposer/driver/interposer.hpp"

namespace elbowroom::interposer::driver {

/// The launch of a collective has returned: its end event is recorded behind it. `asked`: the stream is known not to be captured.
template <class D>
void end_launch(Interposer<D>& state, Ticket ticket, ContextId context, typename D::Stream stream, LaunchOutcome outcome,
                bool asked) {
  const EventSlot slot = state.core->on_launched(ticket, outcome);
  if (slot == kNoEvent) { return; }
  const bool records = asked || !state.driver.is_captured(stream);
  state.core->on_end_recorded(ticket, records && state.ends.record(D::place_of(context), slot, stream, state.core->times_ends()));
}

/// `call` puts something on the stream that may wait for other ranks, the host or another process.
template <class D, class Call>
int followed(DefaultStream default_stream, typename D::Stream stream, Core::Unknown what, Call&& call) {
  Interposer<D>* state = interposer<D>();
  const typename D::Stream named = explicit_stream<D>(stream, default_stream);
  if (state == nullptr || (state->core->capturing() && state->driver.is_captured(named))) { return call(); }
  const std::uint64_t now = process::now_ns();
  const Decision decision = state->core->on_unknown(state->stream_id(stream, default_stream), what, now);
  if (decision.step != 0) { state->timer.begin_step(D::place_of(decision.context), named, decision.step); }
  const int result = call();
  end_launch(*state, decision.ticket, decision.context, named,
             result == D::kSuccess ? LaunchOutcome::plain_ok : LaunchOutcome::failed, false);
  state->timer.poll(now);  // a program of graphs alone has no other launch that would ask
  return result;
}

}  // namespace elbowroom::interposer::driver
