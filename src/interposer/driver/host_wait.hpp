#pragma once

#include "interposer/driver/interposer.hpp"
#include "interposer/driver/unplaced.hpp"

namespace elbowroom::interposer::driver {

/// `call` makes the stream wait for what the host or another process does later. Until it returns, nothing is gated: another thread
/// may launch behind it, or wait for the stream before the driver has the call, and launch then.
template <Driver D, class Call>
int wait_for_host(Interposer<D>& state, StreamId stream, Call&& call) {
  const Unplaced meanwhile(*state.core);
  const int result = call();
  if (result == D::kSuccess) { state.core->on_host_dependency(stream); }
  return result;
}

}  // namespace elbowroom::interposer::driver
