#pragma once

#include "interposer/driver/interposer.hpp"
#include "interposer/driver/unplaced.hpp"

namespace elbowroom::interposer::driver {

/// `call` makes the stream wait for what the host or another process does later. That is told before the call too: another thread
/// may launch behind it before it returns, or begin a capture on the stream. Or it may wait for the stream before the driver has
/// the call, and launch then. What does not come to be is over.
template <Driver D, class Call>
int wait_for_host(Interposer<D>& state, StreamId stream, Call&& call) {
  const Unplaced meanwhile(*state.core);
  const SyncPoint over = state.core->on_host_dependency(stream);
  const int result = call();
  if (result == D::kSuccess) {
    state.core->on_host_dependency(stream);
  } else {
    state.core->on_synchronized(over, process::now_ns());
  }
  return result;
}

}  // namespace elbowroom::interposer::driver
