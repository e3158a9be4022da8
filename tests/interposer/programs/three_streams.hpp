#pragma once

#include "two_streams.hpp"

/// With another stream, for collectives whose peers are late.
struct ThreeStreams : TwoStreams {
  cu::Stream late = make_stream();

  /// One whose peers are late.
  void late_collective() const { EXPECT(launch_on(late, all_reduce, 24) == 0); }
  [[nodiscard]] bool product_waits() const { return product_waits(comm); }
  /// Whether a product waits for the collective that is launched now, on that stream. Everything has ended then.
  [[nodiscard]] bool product_waits(cu::Stream stream) const {
    EXPECT(launch_on(stream, all_reduce, 24) == 0);
    const cu::LaunchAttribute* begun = attribute_of(*fake_call(fake_call_count() - 1), cu::kLaunchCompletionEvent);
    EXPECT(begun != nullptr);
    const cu::Event event = begun->value.launch_completion_event.event;
    const std::size_t before = fake_call_count();
    EXPECT(launch_on(compute, gemm) == 0);
    bool waits = false;
    for (std::size_t i = before; i < fake_call_count(); ++i) {
      waits = waits || (is_call(i, "cuStreamWaitEvent") && fake_call(i)->event == event);
    }
    EXPECT(cuCtxSynchronize() == 0);
    return waits;
  }
};
