#include <unistd.h>

#include "driver_program.hpp"
#include "objects.hpp"

// Stream capture and graphs.

namespace {

struct TwoStreams {
  cu::Context context = use_device(0);
  cu::Stream compute = make_stream();
  cu::Stream comm = make_stream();
  cu::Event forked = make_event();
  cu::Event joined = make_event();
  cu::Function gemm = fake_function("gemm", 64, 0);
  cu::Function all_reduce = fake_function(kAllReduce, 96, 21568);

  TwoStreams() { fake_reset(); }

  // The step that most programs capture: a collective beside a product, forked from and joined to the capturing stream.
  cu::Graph capture_step() const {
    EXPECT(cuStreamBeginCapture_v2(compute, cu::kCaptureModeGlobal) == 0);
    EXPECT(cuEventRecord(forked, compute) == 0 && cuStreamWaitEvent(comm, forked, 0) == 0);
    EXPECT(launch_on(comm, all_reduce, 24) == 0);
    EXPECT(launch_on(compute, gemm) == 0);
    EXPECT(cuEventRecord(joined, comm) == 0 && cuStreamWaitEvent(compute, joined, 0) == 0);
    cu::Graph graph = nullptr;
    EXPECT(cuStreamEndCapture(compute, &graph) == 0 && graph != nullptr);
    return graph;
  }
};

std::size_t calls_named(const char* name) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < fake_call_count(); ++i) { count += is_call(i, name) ? 1 : 0; }
  return count;
}

// A capture in global mode is broken by calls such as cuEventQuery: none of ours may fall into it, and each launch is captured
// once.
void capture() {
  const TwoStreams two;
  for (int step = 0; step < 3; ++step) {
    EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0);  // outside, and timed where the policy times
    const cu::Graph graph = two.capture_step();
    cu::GraphExec exec = nullptr;
    EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
    EXPECT(cuGraphLaunch(exec, two.compute) == 0);
    EXPECT(cuGraphExecDestroy(exec) == 0);
  }
  std::size_t launches = 0;
  for (std::size_t i = 0; i < fake_call_count(); ++i) {
    launches += fake_call(i)->function != nullptr && fake_call(i)->result == 0 ? 1 : 0;
  }
  EXPECT(launches == 9 && calls_named("cuGraphLaunch") == 3);
}

// auto: the program has come to a rest, in which streams are not followed, when it captures a step.
void capture_at_rest() {
  const TwoStreams two;
  for (int i = 0; i < 150 * 16; ++i) {
    EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && launch_on(two.compute, two.gemm, 4096) == 0);
  }
  fake_reset();
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && launch_on(two.compute, two.gemm, 4096) == 0);
  EXPECT(fake_call_count() == 2);
  static_cast<void>(two.capture_step());
}

// auto: six launches of a graph with a collective are a step, whose time is asked for by an event before the graph. No arm acts on
// them, so that the comparison ends in its second round, and a graph costs nothing more from then on.
void graph_steps() {
  const TwoStreams two;
  cu::GraphExec exec = nullptr;
  EXPECT(cuGraphInstantiateWithFlags(&exec, two.capture_step(), 0) == 0);
  double clock = 1.0;
  const auto launch_steps = [&](int steps) {
    fake_reset();
    for (int i = 0; i < 6 * steps; ++i) {
      EXPECT(cuGraphLaunch(exec, two.compute) == 0);
      fake_set_clock(clock += 1.0);
      if (i % 6 == 0) { usleep(250); }  // times come in every 0.2 ms
    }
  };
  launch_steps(60);
  const std::size_t times = fake_times_called("cuEventElapsedTime");
  EXPECT(times > 15 && times < 45);
  launch_steps(10);
  EXPECT(fake_call_count() == 60 && calls_named("cuGraphLaunch") == 60 && fake_times_called("cuEventElapsedTime") == times);
}

// A collective outside the capture is no reason for one inside to wait.
void gate_across_capture() {
  const TwoStreams two;
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0);
  EXPECT(cuStreamBeginCapture_v2(two.compute, cu::kCaptureModeGlobal) == 0);
  EXPECT(launch_on(two.compute, two.gemm) == 0);
  cu::Graph graph = nullptr;
  EXPECT(cuStreamEndCapture(two.compute, &graph) == 0);
  EXPECT(calls_named("cuStreamWaitEvent") == 0);
}

// A capture that begins by an entry point of which nobody knows here: what runs outside stays outside.
void unseen_capture() {
  const TwoStreams two;
  fake::begin_capture(two.comm, cu::kCaptureModeThreadLocal);
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0);
  EXPECT(launch_on(two.compute, two.gemm) == 0);
  EXPECT(fake::capture_of(two.compute) == nullptr && calls_named("cuStreamWaitEvent") == 0);
  bool broken = false;
  EXPECT(fake::end_capture(two.comm, broken) != nullptr && !broken);
  // The other way round: what is captured waits for nothing outside.
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0);
  fake::begin_capture(two.compute, cu::kCaptureModeThreadLocal);
  EXPECT(launch_on(two.compute, two.gemm) == 0);
  EXPECT(calls_named("cuStreamWaitEvent") == 0);
}

// The program's capture that its own call has broken ends with the driver's code.
void broken_capture() {
  const TwoStreams two;
  EXPECT(cuStreamBeginCapture_v2(two.compute, cu::kCaptureModeGlobal) == 0);
  EXPECT(cuEventQuery(two.joined) == 900);
  cu::Graph graph = nullptr;
  EXPECT(cuStreamEndCapture(two.compute, &graph) == 901 && graph == nullptr);
  EXPECT(launch_on(two.compute, two.gemm) == 0);
}

// What is captured goes as the program asks, and so does its graph.
void left_alone() {
  const TwoStreams two;
  const cu::Graph graph = two.capture_step();
  cu::GraphExec exec = nullptr;
  EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 1) == 0 && fake_call(fake_call_count() - 1)->flags == 1);
  for (std::size_t i = 0; i < fake_call_count(); ++i) { EXPECT(fake_call(i)->attribute_count == 0); }
  EXPECT(calls_named("cuStreamWaitEvent") == 2);
}

constexpr Case kCases[] = {CASE(capture),        CASE(capture_at_rest), CASE(graph_steps), CASE(gate_across_capture),
                           CASE(unseen_capture), CASE(broken_capture),  CASE(left_alone)};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
