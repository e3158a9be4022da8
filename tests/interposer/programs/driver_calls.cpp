#include <string>
#include <string_view>

#include "driver_program.hpp"

// Which functions of the driver a call of the program leads to, its own included: docs/run.md has them as a table. What is met for
// the first time (a stream, a function, a device, an event of ours) is asked for once, before these.

namespace {

struct Lanes {
  cu::Context context = use_device(0);
  cu::Stream compute = make_stream();
  cu::Stream comm = make_stream();
  cu::Event event = make_event();
  cu::Function gemm = fake_function("gemm", 64, 0);
  cu::Function all_reduce = fake_function(kAllReduce, 96, 21568);

  /// Everything was met, and every event of ours was made.
  void meet_all() const {
    see_begins();
    for (int i = 0; i < 300; ++i) {
      EXPECT(launch_on(comm, all_reduce, 24) == 0 && launch_on(compute, gemm) == 0 && launch_on(nullptr, gemm) == 0);
    }
    all_ends();
    EXPECT(launch_on(nullptr, gemm) == 0);
    fake_set_finished(0);
  }
};

// Each 20 us at most a launch asks whether a collective has ended.
std::string without_question(std::string times) {
  for (const std::string_view question : {"cuEventQuery 1, ", ", cuThreadExchangeStreamCaptureMode 2"}) {
    const std::size_t at = times.find(question);
    if (at != std::string::npos) { times.erase(at, question.size()); }
  }
  return times;
}

template <class Call>
void expect_calls(std::string_view expected, Call call) {
  fake_forget_times();
  EXPECT(call() == 0);
  const std::string times = without_question(fake_times());
  if (times == expected) { return; }
  std::fprintf(stderr, "expected %s, not %s\n", std::string(expected).c_str(), times.c_str());
  std::exit(1);
}

// A program without collectives.
void no_collective() {
  const Lanes lanes;
  EXPECT(launch_on(lanes.compute, lanes.gemm) == 0);
  expect_calls("cuLaunchKernel 1", [&] { return launch_on(lanes.compute, lanes.gemm); });
  expect_calls("cuLaunchKernel 1", [&] { return launch_on(nullptr, lanes.gemm); });
}

void outside_windows() {
  const Lanes lanes;
  lanes.meet_all();
  expect_calls("cuLaunchKernel 1", [&] { return launch_on(lanes.compute, lanes.gemm); });
  expect_calls("cuLaunchKernel 1", [&] { return launch_on(nullptr, lanes.gemm); });
  expect_calls("cuEventRecord 1", [&] { return cuEventRecord(lanes.event, lanes.comm); });
  expect_calls("cuStreamWaitEvent 1", [&] { return cuStreamWaitEvent(lanes.compute, lanes.event, 0); });
}

// A collective with its two events, the first product beside it, which waits for the one, and the ones after it.
void inside_windows() {
  const Lanes lanes;
  lanes.meet_all();
  expect_calls("cuEventRecord 1, cuLaunchKernelEx 1, cuStreamIsCapturing 1",
               [&] { return launch_on(lanes.comm, lanes.all_reduce, 24); });
  expect_calls("cuLaunchKernel 1, cuStreamIsCapturing 1, cuStreamWaitEvent 1",
               [&] { return launch_on(lanes.compute, lanes.gemm); });
  expect_calls("cuLaunchKernel 1", [&] { return launch_on(lanes.compute, lanes.gemm); });
  expect_calls("cuEventRecord 1, cuStreamIsCapturing 1", [&] { return cuEventRecord(lanes.event, lanes.comm); });
}

// No event: the stream need not be asked about captures.
void priority_alone() {
  const Lanes lanes;
  lanes.meet_all();
  expect_calls("cuLaunchKernelEx 1, cuStreamIsCapturing 1", [&] { return launch_on(lanes.comm, lanes.all_reduce, 24); });
  expect_calls("cuLaunchKernel 1", [&] { return launch_on(lanes.compute, lanes.gemm); });
  expect_calls("cuEventRecord 1", [&] { return cuEventRecord(lanes.event, lanes.comm); });
}

constexpr Case kCases[] = {CASE(no_collective), CASE(outside_windows), CASE(inside_windows), CASE(priority_alone)};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
