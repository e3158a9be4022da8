#include "during.hpp"
#include "late_lanes.hpp"

// An event that is recorded anew while another thread records it too, or waits for it. One of its records stands behind a
// collective whose peers are late. An executable graph is launched by two threads at once, once behind such a collective.
// A stream is made to wait for one while another thread goes on behind it.

namespace {

struct BesideLate : LateLanes {
  int record(cu::Stream stream) const { return cuEventRecord(event, stream); }
  int launch_recording() const {
    cu::LaunchAttribute own{};
    own.id = cu::kLaunchCompletionEvent;
    own.value.launch_completion_event.event = event;
    const cu::LaunchConfig config{1, 1, 1, 32, 1, 1, 0, lanes.compute, &own, 1};
    return cuLaunchKernelEx(&config, lanes.gemm, nullptr, nullptr);
  }
  /// Whether a product waits for a collective behind the late one, or for one that is behind the event. The product's stream may be
  /// behind the event too.
  [[nodiscard]] bool waits_behind(bool event_for_product) const {
    EXPECT(cuStreamWaitEvent(event_for_product ? lanes.compute : lanes.comm, event, 0) == 0);
    return lanes.waits_for(event_for_product ? late : lanes.comm);
  }
};

// One of two records stands behind the late collective. Which of them a stream waits for, the driver alone knows: whether a product
// that waits is behind that collective is not known, and neither is whether a collective that waits is.
template <class Record>
void recorded_beside_late(Record record) {
  for (const bool event_for_product : {true, false}) {
    const BesideLate beside;
    record(beside);
    EXPECT(!beside.waits_behind(event_for_product));
    EXPECT(beside.lanes.waits_for(beside.late) && beside.lanes.waits_for(beside.lanes.comm));
  }
}
void recorded_twice_at_once() {
  const auto at_once = [](cu::Stream (*first)(const BesideLate&), cu::Stream (*second)(const BesideLate&)) {
    recorded_beside_late([=](const BesideLate& beside) {
      during("cuEventRecord", [&] { EXPECT(beside.record(second(beside)) == 0); });
      EXPECT(beside.record(first(beside)) == 0);
    });
  };
  const auto late = [](const BesideLate& beside) { return beside.late; };
  const auto empty = [](const BesideLate&) { return make_stream(); };
  at_once(late, empty);
  at_once(empty, late);
}
void waited_while_recorded() {
  for (const bool event_for_product : {true, false}) {
    const BesideLate beside;
    EXPECT(beside.record(make_stream()) == 0);
    during("cuStreamWaitEvent", [&] { EXPECT(beside.record(beside.late) == 0); });
    EXPECT(!beside.waits_behind(event_for_product));
  }
}

// The stream comes to stand behind the late collective, or behind a wait for the host, while an event is recorded on it. That the
// event has passed says nothing of either, and what waits for it is not behind them.
template <class Order>
void stream_waits_while_recorded(Order order) {
  const BesideLate beside;
  const Lanes& lanes = beside.lanes;
  order(beside);
  const cu::Event ordered = make_event();
  EXPECT(cuEventRecord(ordered, beside.late) == 0);
  during("cuEventRecord", [&] { EXPECT(cuStreamWaitEvent(lanes.comm, ordered, 0) == 0); });
  EXPECT(beside.record(lanes.comm) == 0 && cuEventQuery(beside.event) == 0);
  EXPECT(!lanes.waits_for(lanes.comm));
}
void stream_waits_for_late_while_recorded() {
  stream_waits_while_recorded([](const BesideLate& /*beside*/) {});
}
void stream_waits_for_host_while_recorded() {
  stream_waits_while_recorded([](const BesideLate& beside) {
    Lanes::settle();
    EXPECT(beside.lanes.waits_for(beside.lanes.comm));
    EXPECT(cuLaunchHostFunc(beside.late, nullptr, nullptr) == 0);
  });
}
void seems_behind_what_is_waited_for() {
  const BesideLate beside;
  const Lanes& lanes = beside.lanes;
  const cu::Event ordered = make_event();
  const cu::Stream side = make_stream();
  EXPECT(lanes.product_waits(side) && cuEventRecord(ordered, beside.late) == 0);
  during("cuEventRecord", [&] { EXPECT(cuStreamWaitEvent(lanes.comm, ordered, 0) == 0); });
  EXPECT(beside.record(lanes.comm) == 0 && cuStreamWaitEvent(side, beside.event, 0) == 0);
  lanes.collective(beside.late);
  EXPECT(!lanes.product_waits(side));
}

// Nor is it known where a launch or a graph records the event meanwhile.
void recorded_while_launched() {
  recorded_beside_late([](const BesideLate& beside) {
    during("cuLaunchKernelEx", [&] { EXPECT(beside.record(beside.late) == 0); });
    EXPECT(beside.launch_recording() == 0);
  });
  const BesideLate beside;
  EXPECT(beside.record(beside.late) == 0);
  during("cuEventSynchronize", [&] { EXPECT(beside.launch_recording() == 0); });
  EXPECT(cuEventSynchronize(beside.event) == 0 && !beside.lanes.waits_for(beside.late));
}
void recorded_while_graph() {
  const Lanes lanes;
  cu::Graph graph = nullptr;
  cu::GraphExec exec = nullptr;
  EXPECT(cuStreamBeginCapture_v2(lanes.compute, cu::kCaptureModeRelaxed) == 0);
  EXPECT(cuEventRecordWithFlags(make_event(), lanes.compute, cu::kEventExternal) == 0);
  EXPECT(cuStreamEndCapture(lanes.compute, &graph) == 0 && cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
  recorded_beside_late([=](const BesideLate& beside) {
    during("cuGraphLaunch", [&] { EXPECT(beside.record(beside.late) == 0); });
    EXPECT(cuGraphLaunch(exec, beside.lanes.compute) == 0);
  });
  const BesideLate beside;
  EXPECT(beside.record(beside.late) == 0);
  during("cuEventSynchronize", [&] { EXPECT(cuGraphLaunch(exec, beside.lanes.compute) == 0); });
  EXPECT(cuEventSynchronize(beside.event) == 0 && !beside.lanes.waits_for(beside.late));
}

// A context that waits does so for either record, and no gate comes after it.
void context_waits_while_recorded() {
  const BesideLate beside;
  during("cuCtxWaitEvent", [&] { EXPECT(beside.record(beside.late) == 0); });
  EXPECT(cuCtxWaitEvent(beside.lanes.context, beside.event) == 0 && !beside.lanes.waits_for(beside.lanes.comm));
}
void recorded_while_context_waits() {
  const BesideLate beside;
  during("cuEventRecord", [&] { EXPECT(cuCtxWaitEvent(beside.lanes.context, beside.event) == 0); });
  EXPECT(beside.record(beside.late) == 0 && !beside.lanes.waits_for(beside.lanes.comm));
}
void recorded_while_context_waits_in_vain() {
  const BesideLate beside;
  beside.lanes.settle();
  during("cuEventRecord", [&] { EXPECT(cuCtxWaitEvent(beside.lanes.context, beside.event) == 0); });
  EXPECT(beside.record(beside.late) == 0 && beside.lanes.waits_for(beside.lanes.comm));
}

// What is launched while the driver takes a copy between devices may come before it, and what follows behind it.
template <class Copy>
void launched_while_devices_wait(const char* name, Copy copy) {
  const BesideLate beside;
  beside.lanes.settle();
  during(name, [&] { beside.lanes.collective(beside.late); });
  EXPECT(copy() == 0 && !beside.lanes.waits_for(beside.lanes.comm));
}
void launched_while_devices_wait() {
  launched_while_devices_wait("cuMemcpyPeer", [] { return cuMemcpyPeer(0, nullptr, 0, nullptr, 8); });
}
// The copy may stand behind one of them, and the other one behind the copy.
void launched_twice_while_devices_wait() {
  const BesideLate beside;
  beside.lanes.settle();
  during("cuMemcpyPeer", [&] {
    EXPECT(!beside.lanes.waits_for(beside.lanes.comm));
    beside.lanes.settle();
  });
  EXPECT(cuMemcpyPeer(0, nullptr, 0, nullptr, 8) == 0 && beside.lanes.waits_for(beside.lanes.comm));
}
void launched_while_copied_asynchronously() {
  launched_while_devices_wait("cuMemcpyPeerAsync", [] { return cuMemcpyPeerAsync(0, nullptr, 0, nullptr, 8, nullptr); });
}

// The driver puts the launch that it takes last behind the other one, and may put what makes the graph ready behind it too.
template <class Call>
void launched_meanwhile(const char* name, Call call) {
  const BesideLate beside;
  const cu::GraphExec exec = graph_of([&](cu::Stream stream) { EXPECT(launch_on(stream, beside.lanes.gemm) == 0); });
  beside.lanes.settle();
  during(name, [&] {
    beside.lanes.collective(beside.late);
    EXPECT(cuGraphLaunch(exec, beside.late) == 0 && beside.lanes.product_waits(beside.lanes.compute));
  });
  EXPECT(call(exec, beside.lanes.comm) == 0 && !beside.lanes.waits_for(beside.lanes.comm));
  EXPECT(call(exec, beside.lanes.comm) == 0 && beside.lanes.waits_for(beside.lanes.comm));
}
void graph_launched_meanwhile() { launched_meanwhile("cuGraphLaunch", &cuGraphLaunch); }
void graph_uploaded_meanwhile() { launched_meanwhile("cuGraphUpload", &cuGraphUpload); }

/// Whether a product waits for a collective on `stream` which another thread launches while the driver makes `comm` wait.
template <class Call>
bool launched_while(const BesideLate& beside, const char* name, cu::Stream stream, Call call) {
  bool waits = false;
  during(name, [&] {
    beside.lanes.collective(stream);
    waits = beside.lanes.product_waits(beside.lanes.compute);
  });
  EXPECT(call(beside.lanes.comm) == 0);
  fake_set_failure(nullptr);
  return waits;
}
void launched_while_stream_waits() {
  for (const bool behind_late : {true, false}) {
    const BesideLate beside;
    EXPECT(beside.record(behind_late ? beside.late : make_stream()) == 0);
    const auto wait = [&](cu::Stream stream) { return cuStreamWaitEvent(stream, beside.event, 0); };
    EXPECT(launched_while(beside, "cuStreamWaitEvent", beside.lanes.comm, wait) != behind_late);
  }
  // A blocking stream, behind which another one may stand.
  const BesideLate beside;
  const cu::Stream first = make_blocking_stream();
  EXPECT(beside.record(beside.late) == 0);
  const auto wait = [&](cu::Stream) { return cuStreamWaitEvent(first, beside.event, 0); };
  EXPECT(!launched_while(beside, "cuStreamWaitEvent", make_blocking_stream(), wait));
}
// Nor is it known what stands behind an event that is recorded behind such a wait.
void recorded_while_stream_waits() {
  const BesideLate beside;
  const cu::Event behind = make_event();
  const cu::Stream other = make_stream();
  EXPECT(beside.record(beside.late) == 0);
  during("cuStreamWaitEvent", [&] { EXPECT(cuEventRecord(behind, other) == 0); });
  EXPECT(cuStreamWaitEvent(other, beside.event, 0) == 0 && cuStreamWaitEvent(beside.lanes.comm, behind, 0) == 0);
  EXPECT(!beside.lanes.waits_for(beside.lanes.comm));
}
void launched_while_memory_comes() {
  for (const bool freed : {false, true}) {
    const BesideLate beside;
    cu::DevicePointer memory = 0;
    const auto allocate = [&](cu::Stream stream) { return cuMemAllocAsync(&memory, 8, stream); };
    EXPECT(!freed || cuMemFreeAsync(8, beside.late) == 0);
    EXPECT(launched_while(beside, "cuMemAllocAsync", beside.lanes.comm, allocate) != freed);
  }
}
// What was feared of a call ends with it: what a wait is for is known then, and nothing comes of a refused call.
void feared_while_called() {
  const BesideLate beside;
  const Lanes& lanes = beside.lanes;
  EXPECT(beside.record(beside.late) == 0 && cuMemFreeAsync(8, beside.late) == 0);
  lanes.collective(make_stream());
  cu::DevicePointer memory = 0;
  fake_set_failure([](const FakeCall* call) {
    const bool refused = std::strcmp(call->name, "cuStreamWaitEvent") == 0 || std::strcmp(call->name, "cuMemAllocAsync") == 0;
    return refused ? 2 : 0;
  });
  EXPECT(cuStreamWaitEvent(lanes.comm, beside.event, 0) != 0 && cuMemAllocAsync(&memory, 8, lanes.comm) != 0);
  fake_set_failure(nullptr);
  EXPECT(lanes.product_waits(lanes.compute));
  for (const cu::Stream stream : {lanes.comm, lanes.compute}) { EXPECT(cuStreamWaitEvent(stream, beside.event, 0) == 0); }
  EXPECT(lanes.waits_for(lanes.comm));
}

constexpr Case kCases[] = {
    {"stream_waits_for_late_while_recorded", stream_waits_for_late_while_recorded},
    {"stream_waits_for_host_while_recorded", stream_waits_for_host_while_recorded},
    {"seems_behind_what_is_waited_for", seems_behind_what_is_waited_for},

    {"recorded_twice_at_once", recorded_twice_at_once},
    {"waited_while_recorded", waited_while_recorded},
    {"recorded_while_launched", recorded_while_launched},
    {"recorded_while_graph", recorded_while_graph},
    {"context_waits_while_recorded", context_waits_while_recorded},
    {"recorded_while_context_waits", recorded_while_context_waits},
    {"recorded_while_context_waits_in_vain", recorded_while_context_waits_in_vain},
    {"graph_launched_meanwhile", graph_launched_meanwhile},
    {"graph_uploaded_meanwhile", graph_uploaded_meanwhile},
    {"launched_while_stream_waits", launched_while_stream_waits},
    {"recorded_while_stream_waits", recorded_while_stream_waits},
    {"launched_while_memory_comes", launched_while_memory_comes},
    {"launched_while_copied_asynchronously", launched_while_copied_asynchronously},
    {"launched_while_devices_wait", launched_while_devices_wait},
    {"launched_twice_while_devices_wait", launched_twice_while_devices_wait},
    {"feared_while_called", feared_while_called},
};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
