#include <initializer_list>

#include "two_streams.hpp"

// Orders that the driver makes by itself, or by events that are recorded unseen. A collective behind late peers in such a way is
// not waited for: their hosts may come only when they are told that the product has ended.

namespace {

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

void launch_records(const ThreeStreams& three, cu::LaunchAttributeId id, cu::Event event) {
  cu::LaunchAttribute own{};
  own.id = id;
  own.value.launch_completion_event.event = event;
  const cu::LaunchConfig config{1, 1, 1, 32, 1, 1, 0, three.late, &own, 1};
  EXPECT(cuLaunchKernelEx(&config, three.gemm, nullptr, nullptr) == 0);
}

void begin_event() {
  recorded_unseen([](const ThreeStreams& three, cu::Event done) { launch_records(three, cu::kLaunchCompletionEvent, done); });
}
void programmatic_event() {
  recorded_unseen([](const ThreeStreams& three, cu::Event done) { launch_records(three, cu::kLaunchProgrammaticEvent, done); });
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
  launch_records(three, cu::kLaunchCompletionEvent, done);
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
  recorded_unseen([](const ThreeStreams& three, cu::Event done) {
    const cu::GraphExec exec = captured([&](cu::Stream stream) {
      EXPECT(launch_on(stream, three.gemm) == 0 && cuEventRecordWithFlags(done, stream, cu::kEventExternal) == 0);
    });
    EXPECT(cuGraphLaunch(exec, three.late) == 0);
  });
}

// A graph that is captured into another one is a collective of that one.
void captured_graph() {
  const auto waits_behind = [](const cu::Function& first) {
    const ThreeStreams three;
    const cu::GraphExec exec = captured([&](cu::Stream stream) { EXPECT(launch_on(stream, first, 24) == 0); });
    const cu::Event forked = make_event();
    EXPECT(cuStreamBeginCapture_v2(three.comm, cu::kCaptureModeRelaxed) == 0);
    EXPECT(cuEventRecord(forked, three.comm) == 0 && cuStreamWaitEvent(three.compute, forked, 0) == 0);
    EXPECT(cuGraphLaunch(exec, three.comm) == 0);
    EXPECT(launch_on(three.comm, three.all_reduce, 24) == 0);
    const std::size_t before = fake_call_count();
    EXPECT(launch_on(three.compute, three.gemm) == 0);
    const bool waits = fake_call_count() == before + 2;
    EXPECT(cuEventRecord(forked, three.compute) == 0 && cuStreamWaitEvent(three.comm, forked, 0) == 0);
    cu::Graph graph = nullptr;
    EXPECT(cuStreamEndCapture(three.comm, &graph) == 0);
    return waits;
  };
  const TwoStreams two;
  EXPECT(waits_behind(two.gemm));
  EXPECT(!waits_behind(two.all_reduce));
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
                           {"graph_event", graph_event},
                           {"blocking_waits", blocking_waits},
                           {"context_waits", context_waits},
                           {"captured_graph", captured_graph},
                           {"captured_allocation", captured_allocation}};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
