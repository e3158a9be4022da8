#pragma once

#include "interposer/driver/followed.hpp"

namespace elbowroom::interposer::driver {

/// Hooks of stream capture, and of the launch of graphs. What is captured goes as the program asks, and a graph does what it does:
/// its launch counts as one collective of unknown content. `Ours` is the hook whose real function is called.
template <class D>
struct CaptureHooks {
  using Stream = typename D::Stream;

  template <auto Ours, class... Arguments>
  static int begin(Stream stream, Arguments... arguments) {
    Interposer<D>* state = interposer<D>();
    if (state != nullptr) { state->core->on_capture_begin(); }
    const int result = process::call_real<Ours>(stream, arguments...);
    if (state != nullptr && result != D::kSuccess) { state->core->on_capture_end(); }
    return result;
  }

  // Whatever the driver says: the capture is over or was broken.
  template <auto Ours, class... Arguments>
  static int end(Stream stream, Arguments... arguments) {
    const int result = process::call_real<Ours>(stream, arguments...);
    if (Interposer<D>* state = interposer<D>()) { state->core->on_capture_end(); }
    return result;
  }

  // It may record any event.
  template <auto Ours>
  static int launch(DefaultStream default_stream, typename D::GraphExec exec, Stream stream) {
    const int result =
        followed<D>(default_stream, stream, Core::Unknown::graph, [&] { return process::call_real<Ours>(exec, stream); });
    Interposer<D>* state = interposer<D>();
    if (state != nullptr && state->core->follows_order()) { state->core->forget_events(); }
    return result;
  }
};

}  // namespace elbowroom::interposer::driver
