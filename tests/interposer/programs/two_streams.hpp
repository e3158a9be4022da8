#pragma once

#include "driver_program.hpp"

/// A stream for compute and one for communication, of one device, with a kernel for each.
struct TwoStreams {
  cu::Context context = use_device(0);
  cu::Stream compute = make_stream();
  cu::Stream comm = make_stream();
  cu::Function gemm = fake_function("gemm", 64, 0);
  cu::Function all_reduce = fake_function(kAllReduce, 96, 21568);

  TwoStreams() { fake_reset(); }
};
