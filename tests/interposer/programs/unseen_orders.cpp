#include <initializer_list>

#include "three_streams.hpp"

// Orders that the driver makes by itself, or by events that are recorded unseen. A collective behind late peers in such a way is
// not waited for: their hosts may come only when they are told that the product has ended.

namespace {

cu::GraphExec executable(cu::Graph graph) {
  cu::GraphExec exec = nullptr;
  EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
  return exec;
}

template <class Capture>
cu::GraphExec captured(Capture capture) {
  const cu::Stream stream = make_stream();
  EXPECT(cuStreamBeginCapture_v2(stream, cu::kCaptureModeRelaxed) == 0);
  capture(stream);
  cu::Graph graph = nullptr;
  EXPECT(cuStreamEndCapture(stream, &graph) == 0);
  return executable(graph);
}

// Each launch of an executable graph is behind the ones before, whatever streams they are on.
void graph_twice() {
  const ThreeStreams three;
  const cu::GraphExec exec = captured([&](cu::Stream stream) { EXPECT(launch_on(stream, three.gemm) == 0); });
  three.late_collective();
  EXPECT(cuGraphLaunch(exec, three.comm) == 0 && three.product_waits());
  three.late_collective();
  EXPECT(cuGraphLaunch(exec, three.late) == 0 && cuGraphLaunch(exec, three.comm) == 0 && !three.product_waits());
  // What the launches before were behind has ended.
  three.late_collective();
  EXPECT(cuGraphLaunch(exec, three.comm) == 0 && three.product_waits());
}

// Also what waits for the second launch, or may do so as it is on a blocking stream.
void behind_second_graph() {
  const ThreeStreams three;
  const cu::GraphExec exec = captured([&](cu::Stream stream) { EXPECT(launch_on(stream, three.gemm) == 0); });
  const auto second = [&](unsigned flags) {
    cu::Stream stream = nullptr;
    EXPECT(cuStreamCreate(&stream, flags) == 0);
    three.late_collective();
    EXPECT(cuGraphLaunch(exec, three.late) == 0 && cuGraphLaunch(exec, stream) == 0);
    return stream;
  };
  const cu::Event done = make_event();
  EXPECT(cuEventRecord(done, second(cu::kStreamNonBlocking)) == 0 && cuStreamWaitEvent(three.comm, done, 0) == 0);
  EXPECT(!three.product_waits());
  cu::Stream other = nullptr;
  EXPECT(cuStreamCreate(&other, 0) == 0);
  static_cast<void>(second(0));
  EXPECT(!three.product_waits(other));
}

template <class Record>
void recorded_unseen(Record record) {
  const ThreeStreams three;
  const cu::Event done = make_event();
  three.late_collective();
  EXPECT(cuStreamWaitEvent(three.comm, done, 0) == 0 && three.product_waits());
  three.late_collective();
  record(three, done);
  EXPECT(cuStreamWaitEvent(three.comm, done, 0) == 0 && !three.product_waits() && three.product_waits());
  three.late_collective();
  record(three, done);
  EXPECT(cuCtxWaitEvent(three.context, done) == 0 && !three.product_waits());
}

void launch_records(const ThreeStreams& three, cu::LaunchAttributeId id, cu::Stream stream, cu::Event event) {
  cu::LaunchAttribute own{};
  own.id = id;
  own.value.launch_completion_event.event = event;
  const cu::LaunchConfig config{1, 1, 1, 32, 1, 1, 0, stream, &own, 1};
  EXPECT(cuLaunchKernelEx(&config, three.gemm, nullptr, nullptr) == 0);
}

cu::GraphExec recording_graph(const ThreeStreams& three, cu::Event event) {
  return captured([&](cu::Stream stream) {
    EXPECT(launch_on(stream, three.gemm) == 0 && cuEventRecordWithFlags(event, stream, cu::kEventExternal) == 0);
  });
}

void begin_event() {
  recorded_unseen(
      [](const ThreeStreams& three, cu::Event done) { launch_records(three, cu::kLaunchCompletionEvent, three.late, done); });
}
void programmatic_event() {
  recorded_unseen(
      [](const ThreeStreams& three, cu::Event done) { launch_records(three, cu::kLaunchProgrammaticEvent, three.late, done); });
}

// Its blocks may wait on their SMs for the collective behind which it stands. Those that were not launched so wait for none.
void programmatic_launch() {
  const ThreeStreams three;
  const auto launch = [&](cu::Stream stream, unsigned blocks, int early) {
    cu::LaunchAttribute own{};
    own.id = cu::kLaunchProgrammaticSerialization;
    own.value.programmatic_serialization = early;
    const cu::LaunchConfig config{blocks, 1, 1, 256, 1, 1, 0, stream, &own, 1};
    EXPECT(cuLaunchKernelEx(&config, three.gemm, nullptr, nullptr) == 0);
  };
  three.late_collective();
  for (int i = 0; i < 4; ++i) { launch(three.late, 132, 0); }
  EXPECT(three.product_waits());
  // Blocks of the late collective, of the launch behind it and of the one that is waited for: 24 + 84 + 24 of 132.
  three.late_collective();
  launch(three.late, 84, 1);
  EXPECT(three.product_waits());
  three.late_collective();
  launch(three.late, 85, 1);
  EXPECT(!three.product_waits());
  three.late_collective();
  for (int i = 0; i < 4; ++i) { launch(three.late, 132, 0); }
  launch(three.late, 132, 1);
  EXPECT(!three.product_waits());
  launch(three.late, 132, 1);
  EXPECT(three.product_waits());
}

// The legacy stream may stand between what one blocking stream waits for and what another one does next.
void blocking_waits() {
  const ThreeStreams three;
  const cu::Event done = make_event();
  cu::Stream first = nullptr;
  cu::Stream second = nullptr;
  EXPECT(cuStreamCreate(&first, 0) == 0 && cuStreamCreate(&second, 0) == 0);
  three.late_collective();
  EXPECT(three.product_waits(second));
  three.late_collective();
  launch_records(three, cu::kLaunchCompletionEvent, three.late, done);
  EXPECT(cuStreamWaitEvent(first, done, 0) == 0 && !three.product_waits(second));
}

// No event is recorded unseen here.
void context_waits() {
  const ThreeStreams three;
  const cu::Event done = make_event();
  EXPECT(cuEventRecord(done, three.late) == 0 && cuCtxWaitEvent(three.context, done) == 0 && three.product_waits());
  three.late_collective();
  EXPECT(cuEventRecord(done, three.late) == 0 && cuCtxWaitEvent(three.context, done) == 0 && !three.product_waits());
}

void graph_event() {
  recorded_unseen(
      [](const ThreeStreams& three, cu::Event done) { EXPECT(cuGraphLaunch(recording_graph(three, done), three.late) == 0); });
}

// Who waits for an event that was recorded anew is not behind its older record, which stood behind the late collective. Neither is
// that collective over where the event is.
template <class Record>
void recorded_anew(Record record) {
  const ThreeStreams three;
  const cu::Event done = make_event();
  const auto recorded = [&](bool anew) {
    three.late_collective();
    EXPECT(cuEventRecord(done, three.late) == 0);
    if (anew) { record(three, done); }
  };
  for (const bool anew : {false, true, false}) {
    recorded(anew);
    EXPECT(cuStreamWaitEvent(three.compute, done, 0) == 0 && three.product_waits(three.late) == !anew);
  }
  for (const bool anew : {false, true, false}) {
    recorded(anew);
    EXPECT(cuEventSynchronize(done) == 0 && three.product_waits(three.late) == !anew);
  }
}

void recorded_anew_by_launch() {
  for (const cu::LaunchAttributeId id : {cu::kLaunchCompletionEvent, cu::kLaunchProgrammaticEvent}) {
    recorded_anew([=](const ThreeStreams& three, cu::Event done) { launch_records(three, id, three.compute, done); });
  }
}
void recorded_anew_by_graph() {
  recorded_anew(
      [](const ThreeStreams& three, cu::Event done) { EXPECT(cuGraphLaunch(recording_graph(three, done), three.compute) == 0); });
}
// As an external record on a stream that is not captured, while another one is.
void recorded_anew_beside_capture() {
  recorded_anew([](const ThreeStreams& three, cu::Event done) {
    static_cast<void>(captured([&](cu::Stream) { EXPECT(cuEventRecordWithFlags(done, three.compute, cu::kEventExternal) == 0); }));
  });
}

// By another process, once it was given the event.
void recorded_anew_elsewhere() {
  const ThreeStreams three;
  const cu::Event done = make_event();
  cu::IpcEventHandle handle{};
  three.late_collective();
  EXPECT(cuEventRecord(done, three.late) == 0 && cuIpcGetEventHandle(&handle, done) == 0);
  EXPECT(cuEventSynchronize(done) == 0 && !three.product_waits(three.late));
  three.late_collective();
  EXPECT(cuEventRecord(done, three.late) == 0 && cuEventQuery(done) == 0 && !three.product_waits(three.late));
}

/// A capture from which the stream for compute was forked, with a product and a collective beside it.
template <class Act>
bool waits_in_capture(const ThreeStreams& three, Act act) {
  const cu::Event forked = make_event();
  EXPECT(cuStreamBeginCapture_v2(three.comm, cu::kCaptureModeRelaxed) == 0 && cuEventRecord(forked, three.comm) == 0);
  act();
  EXPECT(cuStreamWaitEvent(three.compute, forked, 0) == 0 && launch_on(three.comm, three.all_reduce, 24) == 0);
  const std::size_t before = fake_call_count();
  EXPECT(launch_on(three.compute, three.gemm) == 0);
  const bool waits = fake_call_count() == before + 2;
  cu::Graph graph = nullptr;
  EXPECT(cuEventRecord(forked, three.compute) == 0 && cuStreamWaitEvent(three.comm, forked, 0) == 0);
  EXPECT(cuStreamEndCapture(three.comm, &graph) == 0);
  return waits;
}

// A launch that is captured makes an event by which another stream may join the capture. A graph does not record what the capture
// goes on from.
void recorded_in_capture() {
  const ThreeStreams three;
  const cu::Event done = make_event();
  const cu::GraphExec exec = recording_graph(three, done);
  EXPECT(waits_in_capture(three, [] {}));
  for (const cu::Stream stream : {three.comm, three.late}) {
    EXPECT(waits_in_capture(three, [&] { EXPECT(cuGraphLaunch(exec, stream) == 0); }));
  }
  EXPECT(!waits_in_capture(three, [&] {
    launch_records(three, cu::kLaunchCompletionEvent, three.comm, done);
    EXPECT(cuStreamWaitEvent(three.late, done, 0) == 0);
    three.late_collective();
    EXPECT(cuEventRecord(done, three.late) == 0 && cuStreamWaitEvent(three.comm, done, 0) == 0);
  }));
}

// A graph that is captured into another one is a collective of that one.
void captured_graph() {
  const ThreeStreams three;
  for (const cu::Function first : {three.gemm, three.all_reduce}) {
    const cu::GraphExec exec = captured([&](cu::Stream stream) { EXPECT(launch_on(stream, first, 24) == 0); });
    const bool waits = waits_in_capture(three, [&] { EXPECT(cuGraphLaunch(exec, three.comm) == 0); });
    EXPECT(waits == (first == three.gemm));
  }
}

// Memory in a capture makes nodes of the graph, which no other stream waits for.
void captured_allocation() {
  const ThreeStreams three;
  const cu::Event forked = make_event();
  cu::DevicePointer memory = 0;
  EXPECT(cuMemFreeAsync(8, three.late) == 0 && cuStreamBeginCapture_v2(three.comm, cu::kCaptureModeRelaxed) == 0);
  EXPECT(cuEventRecord(forked, three.comm) == 0);
  for (const cu::Stream stream : {three.late, three.compute}) { EXPECT(cuStreamWaitEvent(stream, forked, 0) == 0); }
  three.late_collective();
  EXPECT(cuMemAllocAsync(&memory, 8, three.comm) == 0 && three.product_waits());
}

constexpr Case kCases[] = {{"graph_twice", graph_twice},
                           {"behind_second_graph", behind_second_graph},
                           {"begin_event", begin_event},
                           {"programmatic_event", programmatic_event},
                           {"programmatic_launch", programmatic_launch},
                           {"graph_event", graph_event},
                           {"recorded_anew_by_launch", recorded_anew_by_launch},
                           {"recorded_anew_by_graph", recorded_anew_by_graph},
                           {"recorded_anew_beside_capture", recorded_anew_beside_capture},
                           {"recorded_anew_elsewhere", recorded_anew_elsewhere},
                           {"recorded_in_capture", recorded_in_capture},
                           {"blocking_waits", blocking_waits},
                           {"context_waits", context_waits},
                           {"captured_graph", captured_graph},
                           {"captured_allocation", captured_allocation}};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
