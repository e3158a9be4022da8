#pragma once

#include "hip_program.hpp"
#include "past_hooks.hpp"

/// Programs with a case for each hook, named by it: what the hook tells shows in which products count as beside a collective. These
/// get more shared memory by rules/capped.rules.

struct Lanes {
  hip::Stream compute = make_stream();
  hip::Stream comm = make_stream();
  const void* gemm = fake_hip_symbol("gemm", 64, 0);
  const void* all_reduce = fake_hip_symbol(kAllReduce, 96, 4184);
  hip::Function module_all_reduce = fake_hip_function(kAllReduce, 96, 4184);

  Lanes() { hold_ends(); }
  void settle() const { let_end(gemm); }

  void collective(hip::Stream stream) const { EXPECT(launch_on(stream, all_reduce, 24) == 0); }
  /// Whether a product that is launched now counts as beside a collective.
  [[nodiscard]] bool is_beside(hip::Stream stream) const {
    EXPECT(launch_on(stream, gemm, 100000) == 0 && last_call().function == gemm);
    return last_call().shared > 0;
  }
};

/// A stream that stands behind a collective by the program's own order.
inline void stand_behind_collective(const Lanes& lanes, hip::Stream stream) {
  const hip::Event done = make_event();
  lanes.collective(lanes.comm);
  EXPECT(hipEventRecord(done, lanes.comm) == 0 && hipStreamWaitEvent(stream, done, 0) == 0 && !lanes.is_beside(stream));
}

/// The process stands aside for good.
template <class Call>
void stands_aside(Call call) {
  const Lanes lanes;
  lanes.collective(lanes.comm);
  EXPECT(lanes.is_beside(lanes.compute) && call(lanes) == 0 && !lanes.is_beside(lanes.compute));
}

template <std::size_t N>
int run_hook_cases(const Case (&cases)[N], int argc, char** argv) {
  return run_driver_cases_of(cases, "libamdhip64.so.6", &fake_hip_times_called, argc, argv);
}
