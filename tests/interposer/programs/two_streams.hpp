#pragma once

#include "driver_program.hpp"

/// A stream for compute and one for communication, of one device, with a kernel for each.
struct TwoStreams {
  cu::Context context = use_device(0);
  cu::Stream compute = make_stream();
  cu::Stream comm = make_stream();
  cu::Function gemm = fake_function("gemm", 64, 0);
  cu::Function all_reduce = fake_function(kAllReduce, 96, 21568);

  /// Nothing ends before the program says so.
  TwoStreams() {
    see_begins();
    fake_reset();
    fake_set_finished(0);
  }
  /// Everything ends, and the interposer gets to see it.
  void settle() const {
    static const cu::Stream idle = make_stream();
    all_ends();
    EXPECT(launch_on(idle, gemm) == 0);
    fake_set_finished(0);
  }
};
