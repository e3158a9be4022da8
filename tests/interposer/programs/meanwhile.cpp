#include <thread>

#include "during.hpp"
#include "hook_cases.hpp"

// What another thread does while a call of the driver is under way, and contexts of which one ends.

namespace {

cu::Event foreign_event() {
  cu::Event event = nullptr;
  EXPECT(cuIpcOpenEventHandle(&event, {}) == 0);
  return event;
}

cu::GraphExec waiting_graph() {
  cu::Graph graph = nullptr;
  cu::GraphNode node = nullptr;
  cu::GraphExec exec = nullptr;
  EXPECT(cuGraphCreate(&graph, 0) == 0 && cuGraphAddHostNode(&node, graph, nullptr, 0, nullptr) == 0);
  EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
  return exec;
}

// The collective of the other thread may stand behind the wait, the product behind the collective, and the host behind the product.
template <class Call>
void launched_behind_wait(const char* name, Call wait) {
  const Lanes lanes;
  const cu::Stream waiting = make_stream();
  bool waits = true;
  during(name, [&] {
    lanes.collective(lanes.comm);
    waits = lanes.product_waits(lanes.compute);
  });
  EXPECT(wait(waiting) == 0 && !waits);
}

// The other thread has waited for what the stream held before.
template <class Call>
void waited_before_wait(const char* name, Call wait) {
  const Lanes lanes;
  const cu::Stream waiting = make_stream();
  during(name, [&] { EXPECT(cuStreamSynchronize(waiting) == 0); });
  EXPECT(wait(waiting) == 0 && !lanes.waits_for(lanes.comm));
  EXPECT(cuStreamSynchronize(waiting) == 0 && lanes.waits_for(lanes.comm));
}

// Another thread, which the host function has told that it began, captures the stream before the call returns.
void captured_while_host_waits() {
  const Lanes lanes;
  const cu::Stream shared = make_stream();
  EXPECT(lanes.waits_for(lanes.comm));
  during("cuLaunchHostFunc", [&] { EXPECT(cuStreamBeginCapture_v2(shared, cu::kCaptureModeRelaxed) == 0); });
  EXPECT(cuLaunchHostFunc(shared, nullptr, nullptr) == 0);
  cu::Graph graph = nullptr;
  EXPECT(launch_on(shared, lanes.gemm) == 0 && cuStreamEndCapture(shared, &graph) == 0);
  EXPECT(!lanes.waits_for(shared));
}

template <class Call>
void around(const char* name, Call wait) {
  launched_behind_wait(name, wait);
  waited_before_wait(name, wait);
}

int host_function(cu::Stream stream) { return cuLaunchHostFunc(stream, nullptr, nullptr); }

void host_functions() { around("cuLaunchHostFunc", &host_function); }
void foreign_events() {
  around("cuStreamWaitEvent", [](cu::Stream stream) { return cuStreamWaitEvent(stream, foreign_event(), 0); });
}
void waiting_graphs() {
  const cu::GraphExec exec = waiting_graph();
  around("cuGraphLaunch", [exec](cu::Stream stream) { return cuGraphLaunch(exec, stream); });
}
void waiting_contexts() {
  launched_behind_wait("cuCtxWaitEvent", [](cu::Stream) { return cuCtxWaitEvent(nullptr, foreign_event()); });
}

// The event was recorded before the other thread's host function: that it has passed says nothing of it.
void recorded_before() {
  const Lanes lanes;
  const cu::Stream shared = make_stream();
  const cu::Event done = make_event();
  EXPECT(lanes.waits_for(lanes.comm));  // nothing is followed before the first collective
  during("cuEventRecord", [&] { EXPECT(host_function(shared) == 0); });
  EXPECT(cuEventRecord(done, shared) == 0 && cuEventSynchronize(done) == 0 && !lanes.waits_for(lanes.comm));
  EXPECT(cuEventRecord(done, shared) == 0 && cuEventSynchronize(done) == 0 && lanes.waits_for(lanes.comm));
}

/// A stream that waits for the host, one that holds nothing, and an event.
struct Recording {
  Lanes lanes;
  cu::Stream waiting = make_stream();
  cu::Stream empty = make_stream();
  cu::Event event = make_event();

  Recording() {
    EXPECT(lanes.waits_for(lanes.comm));  // nothing is followed before the first collective
    EXPECT(host_function(waiting) == 0);
  }
  int record(cu::Stream stream) const { return cuEventRecord(event, stream); }
  /// Whether the host action counts as over. It is over afterwards.
  bool is_over() const { return lanes.waits_for(lanes.comm); }
};

// The driver may answer for either record, and one stands behind no host action.
template <class Call>
void recorded_anew(const char* name, Call call) {
  {
    const Recording recording;
    EXPECT(recording.record(recording.waiting) == 0);
    during(name, [&] { EXPECT(recording.record(recording.empty) == 0); });
    EXPECT(call(recording.event) == 0 && !recording.is_over());
  }
  {
    const Recording recording;
    EXPECT(recording.record(recording.waiting) == 0);
    during("cuEventRecord", [&] { EXPECT(call(recording.event) == 0); });
    EXPECT(recording.record(recording.empty) == 0 && !recording.is_over());
  }
  const Recording recording;
  EXPECT(recording.record(recording.waiting) == 0 && call(recording.event) == 0 && recording.is_over());
}
void queried_while_recorded() { recorded_anew("cuEventQuery", &cuEventQuery); }
void synchronised_while_recorded() { recorded_anew("cuEventSynchronize", &cuEventSynchronize); }

// The stream stands behind the older record, and what it holds is over without the host action.
void waited_while_recorded() {
  const Recording recording;
  const cu::Stream behind = make_stream();
  EXPECT(recording.record(recording.empty) == 0);
  during("cuStreamWaitEvent", [&] { EXPECT(recording.record(recording.waiting) == 0); });
  EXPECT(cuStreamWaitEvent(behind, recording.event, 0) == 0 && cuStreamSynchronize(behind) == 0 && !recording.is_over());
}

// Which of two records the driver took last is not known.
void recorded_twice_at_once() {
  const Recording recording;
  during("cuEventRecord", [&] { EXPECT(recording.record(recording.empty) == 0); });
  EXPECT(recording.record(recording.waiting) == 0 && cuEventSynchronize(recording.event) == 0 && !recording.is_over());
}

void recorded_by_context() {
  const Recording recording;
  EXPECT(recording.record(recording.waiting) == 0);
  during("cuEventSynchronize", [&] { EXPECT(cuCtxRecordEvent(nullptr, recording.event) == 0); });
  EXPECT(cuEventSynchronize(recording.event) == 0 && !recording.is_over());
}

// The number of a thread that has ended is another's, and what it left on its own stream is not.
void thread_ended() {
  const Lanes lanes;
  EXPECT(lanes.waits_for(lanes.comm));
  const auto on_thread = [](auto call) { std::thread([=] { EXPECT(use_device(0) != nullptr && call() == 0); }).join(); };
  on_thread([] { return cuLaunchHostFunc_ptsz(nullptr, nullptr, nullptr); });
  on_thread([] { return cuStreamSynchronize_ptsz(nullptr); });
  EXPECT(!lanes.waits_for(lanes.comm) && lanes.waits_for(lanes.comm));  // the context was waited for in between
}

/// A context that the program made, and a stream of it that waits for the host.
struct MadeContext {
  cu::Context context = nullptr;
  cu::Stream waiting = nullptr;

  MadeContext() {
    const cu::Context before = use_device(0);
    EXPECT(cuCtxCreate_v2(&context, 0, 0) == 0);
    waiting = make_stream();
    EXPECT(host_function(waiting) == 0 && cuCtxSetCurrent(before) == 0);
  }
};

// The end of the primary context is not that of another one of the device, but that of all that it holds itself.
template <class End>
void primary_ends(End end) {
  const MadeContext made;
  EXPECT(end(0) == 0);
  const Lanes lanes;
  EXPECT(!lanes.waits_for(lanes.comm));
  EXPECT(cuStreamSynchronize(made.waiting) == 0 && lanes.waits_for(lanes.comm));
  EXPECT(host_function(lanes.comm) == 0 && !lanes.waits_for(lanes.comm));
  // Who asks waits for all that is under way. This one is when the context ends, and a stream of the other one stands behind it.
  const cu::Event behind = make_event();
  Lanes other;
  EXPECT(host_function(lanes.comm) == 0 && cuEventRecord(behind, lanes.comm) == 0 && cuCtxSetCurrent(made.context) == 0);
  other.compute = make_stream();
  other.comm = make_stream();
  EXPECT(cuStreamWaitEvent(other.comm, behind, 0) == 0 && end(0) == 0 && other.waits_for(other.comm));
  use_device(0);
  const Lanes next;
  EXPECT(next.waits_for(next.comm));
}

int release_all(cu::Device device) {
  unsigned flags = 0;
  int active = 1;
  int result = 0;
  while (result == 0 && cuDevicePrimaryCtxGetState(device, &flags, &active) == 0 && active != 0) {
    result = cuDevicePrimaryCtxRelease_v2(device);
  }
  return result;
}

// A context that lives on holds what it held.
template <class End>
void context_stays(int (*decide)(const FakeCall* call), int expected, End end) {
  const MadeContext made;
  const Lanes lanes;
  fake_set_failure(decide);
  EXPECT(end(made.context) == expected);
  fake_set_failure(nullptr);
  EXPECT(!lanes.waits_for(lanes.comm));
}

// Its collectives stand where they stood: one behind another, whose peers may be late.
template <class End>
void order_stays(int (*decide)(const FakeCall* call), int expected, End end) {
  const Lanes lanes;
  lanes.collective(lanes.comm);
  EXPECT(lanes.product_waits(lanes.compute));
  fake_set_failure(decide);
  EXPECT(end(lanes.context) == expected);
  fake_set_failure(nullptr);
  lanes.collective(lanes.comm);
  EXPECT(!lanes.product_waits(lanes.compute));
}

int refuse_destroy(const FakeCall* call) { return std::strncmp(call->name, "cuCtxDestroy", 12) == 0 ? 201 : 0; }

void primary_reset() { primary_ends(&cuDevicePrimaryCtxReset_v2); }
void primary_released() { primary_ends(&release_all); }

int primaries_taken = 0;

// Two threads hold the context. One gives its reference back, the other one while the interposer asks whether the context lives on.
// It ends with the question.
void primary_released_while_asked() {
  use_device(0);
  cu::Context second = nullptr;
  EXPECT(cuDevicePrimaryCtxRetain(&second, 0) == 0);
  const cu::Function reused = fake_function("gemm", 64, 0);
  EXPECT(launch_on(make_stream(), fake_function(kAllReduce, 96, 21568), 24) == 0 && launch_on(make_stream(), reused) == 0);
  fake_set_told([](const char* name) {
    if (std::strcmp(name, "cuDevicePrimaryCtxRetain") == 0 && ++primaries_taken == 2) {  // the first question is before the call
      std::thread([] { EXPECT(cuDevicePrimaryCtxRelease_v2(0) == 0); }).join();
    }
  });
  EXPECT(cuDevicePrimaryCtxRelease_v2(0) == 0 && primaries_taken > 2);
  fake_set_told(nullptr);
  use_device(0);
  fake_reuse_function(reused, kAllReduce);
  fake_reset();
  EXPECT(launch_on(make_stream(), reused, 24) == 0 && fake_call(0)->attribute_count != 0);
}

void context_not_destroyed() { context_stays(&refuse_destroy, 201, &cuCtxDestroy_v2); }
void order_not_destroyed() { order_stays(&refuse_destroy, 201, &cuCtxDestroy_v2); }
void context_attached_twice() {
  order_stays(nullptr, 0, &cuCtxDetach);
  context_stays(nullptr, 0, &cuCtxDetach);
}
void context_destroyed() {
  const MadeContext made;
  const Lanes lanes;
  EXPECT(!lanes.waits_for(lanes.comm) && cuCtxDestroy_v2(made.context) == 0);
  EXPECT(cuCtxSetCurrent(lanes.context) == 0 && lanes.waits_for(lanes.comm));
}

// A function's handle is free before the call returns, and another thread may get it for a collective at once.
void reused_while_released() {
  const Lanes lanes;
  const cu::Function function = fake_function("product", 64, 0);
  EXPECT(launch_on(lanes.compute, function, 24) == 0);
  bool known = false;
  during("cuDevicePrimaryCtxRelease", [&] {
    fake_reuse_function(function, kAllReduce);
    fake_reset();
    EXPECT(launch_on(make_stream(), function, 24) == 0);
    known = attribute_of(last_call_named("cuLaunchKernelEx"), cu::kLaunchPriority) != nullptr;
  });
  EXPECT(cuDevicePrimaryCtxRelease(0) == 0 && known);
}

// The driver may be waiting for room in a stream's queue, which what another thread launches makes.
void full_queue() {
  const TwoStreams two;
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0);
  bool launched = false;
  during("cuEventRecord", [&] { launched = launch_on(two.comm, fake_function("other", 64, 0)) == 0; });
  EXPECT(launch_on(two.compute, two.gemm) == 0 && launched);
}

// A call for one device may wait for what runs there, and that for what another thread launches on another device.
void other_device() {
  static const TwoStreams two;
  use_device(1);
  static const cu::Stream other = make_stream();
  static const cu::Function function = fake_function("other", 64, 0);
  for (const cu::Function each : {two.all_reduce, function}) { EXPECT(launch_on(other, each, 24) == 0); }
  EXPECT(cuCtxSetCurrent(two.context) == 0);
  static bool launched = false;
  fake_set_told([](const char* name) {
    if (std::strcmp(name, "cuEventCreate") != 0) { return; }
    fake_set_told(nullptr);
    act_beside([] {
      use_device(1);
      launched = launch_on(other, two.all_reduce, 24) == 0 && launch_on(other, function) == 0;
    });
  });
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && launched);
}

// The same of a question whether a launch has ended.
void other_device_asked() {
  static const TwoStreams two;
  use_device(1);
  static const cu::Stream other = make_stream();
  static const cu::Function function = fake_function("other", 64, 0);
  EXPECT(cuCtxSetCurrent(two.context) == 0 && launch_on(two.comm, two.all_reduce, 24) == 0);
  fake_set_finished(0);
  EXPECT(launch_on(two.compute, two.gemm) == 0);
  std::this_thread::sleep_for(std::chrono::milliseconds(1));
  static bool launched = false;
  during("cuEventQuery", [] {
    use_device(1);
    launched = launch_on(other, function) == 0;
  });
  EXPECT(launch_on(two.compute, two.gemm) == 0 && launched);
}

constexpr Case kCases[] = {
    {"host_functions", host_functions},
    {"foreign_events", foreign_events},
    {"waiting_graphs", waiting_graphs},
    {"waiting_contexts", waiting_contexts},
    {"recorded_before", recorded_before},
    {"queried_while_recorded", queried_while_recorded},
    {"synchronised_while_recorded", synchronised_while_recorded},
    {"waited_while_recorded", waited_while_recorded},
    {"recorded_twice_at_once", recorded_twice_at_once},
    {"recorded_by_context", recorded_by_context},
    {"thread_ended", thread_ended},
    {"captured_while_host_waits", captured_while_host_waits},
    {"primary_reset", primary_reset},
    {"primary_released", primary_released},
    {"primary_released_while_asked", primary_released_while_asked},
    {"context_not_destroyed", context_not_destroyed},
    {"order_not_destroyed", order_not_destroyed},
    {"context_attached_twice", context_attached_twice},
    {"context_destroyed", context_destroyed},
    {"full_queue", full_queue},
    {"reused_while_released", reused_while_released},
    {"other_device", other_device},
    {"other_device_asked", other_device_asked},
};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
