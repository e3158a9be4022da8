#include "during.hpp"
#include "late_lanes.hpp"

// A collective that one thread launches while another thread orders something on its stream. The driver may take either call
// first. So the collective may stand behind one whose peers are late, and what the other thread records before it.

namespace {

/// The event is behind the late collective.
struct BesideLate : LateLanes {
  BesideLate() { EXPECT(cuEventRecord(event, late) == 0); }
  /// Whether a product waits for a collective that is launched now, of all that it is beside.
  [[nodiscard]] bool waits_for_next(cu::Stream stream) const {
    lanes.collective(stream);
    const cu::LaunchAttribute* begun = attribute_of(last_call_named("cuLaunchKernelEx"), cu::kLaunchCompletionEvent);
    EXPECT(begun != nullptr);
    const cu::Event of_next = begun->value.launch_completion_event.event;
    return lanes.product_waits(lanes.compute) && last_call_named("cuStreamWaitEvent").event == of_next;
  }
  /// Whether a product waits for the collective that is launched on that stream while another thread acts there.
  template <class Action>
  [[nodiscard]] bool waits_beside(cu::Stream stream, Action action) const {
    during("cuLaunchKernelEx", action);
    lanes.collective(stream);
    return lanes.product_waits(lanes.compute);
  }
};

void wait_while_launched() {
  for (const bool behind_late : {true, false}) {
    const BesideLate beside;
    const cu::Event event = behind_late ? beside.event : make_event();
    EXPECT(beside.waits_beside(beside.lanes.comm, [&] { EXPECT(cuStreamWaitEvent(beside.lanes.comm, event, 0) == 0); }) !=
           behind_late);
    Lanes::settle();
    EXPECT(beside.lanes.waits_for(beside.lanes.comm));
  }
}
// A blocking stream, behind which another one may stand.
void blocking_wait_while_launched() {
  const BesideLate beside;
  const cu::Stream first = make_blocking_stream();
  Lanes::settle();
  during("cuLaunchKernelEx", [&] {
    beside.lanes.collective(beside.late);
    EXPECT(beside.lanes.product_waits(beside.lanes.compute));
    EXPECT(cuEventRecord(beside.event, beside.late) == 0 && cuStreamWaitEvent(first, beside.event, 0) == 0);
  });
  EXPECT(!beside.waits_for_next(make_blocking_stream()));
}
// The wait has not returned when the collective is launched and its launch has.
void launched_within_late_wait() {
  const BesideLate beside;
  const cu::Event event = make_event();
  bool waits = true;
  during("cuStreamWaitEvent", [&] {
    EXPECT(cuEventRecord(event, beside.late) == 0);
    beside.lanes.collective(beside.lanes.comm);
    waits = beside.lanes.product_waits(beside.lanes.compute);
  });
  EXPECT(cuStreamWaitEvent(beside.lanes.comm, event, 0) == 0 && !waits);
}
void memory_while_launched() {
  const BesideLate beside;
  cu::DevicePointer memory = 0;
  EXPECT(cuMemFreeAsync(8, beside.late) == 0);
  EXPECT(!beside.waits_beside(beside.lanes.comm, [&] { EXPECT(cuMemAllocAsync(&memory, 8, beside.lanes.comm) == 0); }));
}

// The graph was launched before, behind the collective whose peers are late.
void graph_while_launched() {
  const BesideLate beside;
  const cu::GraphExec exec = graph_of([&](cu::Stream stream) { EXPECT(launch_on(stream, beside.lanes.gemm) == 0); });
  EXPECT(cuGraphLaunch(exec, beside.late) == 0);
  EXPECT(!beside.waits_beside(beside.lanes.comm, [&] { EXPECT(cuGraphLaunch(exec, beside.lanes.comm) == 0); }));
}

// The other thread's collective may come first, and its peers may be late.
void collective_while_launched() {
  for (const bool same : {true, false}) {
    const BesideLate beside;
    const cu::Stream stream = same ? beside.lanes.comm : make_stream();
    Lanes::settle();
    during("cuLaunchKernelEx", [&] { beside.lanes.collective(stream); });
    beside.lanes.collective(beside.lanes.comm);
    const FakeCall& launch = last_call_named("cuLaunchKernelEx");
    const cu::LaunchAttribute* begun = attribute_of(launch, cu::kLaunchCompletionEvent);
    EXPECT(begun != nullptr && launch.stream == beside.lanes.comm);
    EXPECT(beside.lanes.product_waits(beside.lanes.compute) != same);
  }
}

// A graph is launched by one thread behind a late collective, and by another one meanwhile. A third one goes on behind the second.
template <class Call>
void third_behind(const char* name, Call call) {
  const BesideLate beside;
  const cu::GraphExec exec = graph_of([&](cu::Stream stream) { EXPECT(launch_on(stream, beside.lanes.gemm) == 0); });
  Lanes::settle();
  bool waits = true;
  during(name, [&] {
    beside.lanes.collective(beside.late);
    EXPECT(cuGraphLaunch(exec, beside.late) == 0);
    waits = beside.waits_for_next(beside.lanes.comm);
  });
  EXPECT(call(exec, beside.lanes.comm) == 0 && !waits);
  Lanes::settle();
  EXPECT(call(exec, beside.lanes.comm) == 0 && beside.lanes.waits_for(beside.lanes.comm));
}
void third_behind_graph() { third_behind("cuGraphLaunch", &cuGraphLaunch); }
void third_behind_upload() { third_behind("cuGraphUpload", &cuGraphUpload); }

// Two threads launch a graph for the first time at once, and no collective is launched in between.
void graph_by_two() {
  const BesideLate beside;
  Lanes::settle();
  const cu::GraphExec exec = graph_of([&](cu::Stream stream) { EXPECT(launch_on(stream, beside.lanes.gemm) == 0); });
  beside.lanes.collective(beside.late);
  EXPECT(beside.lanes.product_waits(beside.lanes.compute));
  during("cuGraphLaunch", [&] { EXPECT(cuGraphLaunch(exec, beside.late) == 0); });
  EXPECT(cuGraphLaunch(exec, beside.lanes.comm) == 0 && !beside.lanes.waits_for(beside.lanes.comm));
}
// The graph is launched behind a late collective that was not there when its launch began, and then elsewhere.
void graph_behind_next() {
  const BesideLate beside;
  Lanes::settle();
  const cu::GraphExec exec = graph_of([&](cu::Stream stream) { EXPECT(launch_on(stream, beside.lanes.gemm) == 0); });
  during("cuGraphLaunch", [&] {
    beside.lanes.collective(beside.late);
    EXPECT(beside.lanes.product_waits(beside.lanes.compute));
  });
  EXPECT(cuGraphLaunch(exec, beside.late) == 0 && cuGraphLaunch(exec, beside.lanes.comm) == 0);
  EXPECT(!beside.lanes.waits_for(beside.lanes.comm));
}

// The other thread waits for what the stream held before the collective.
void finished_while_launched() {
  const BesideLate beside;
  Lanes::settle();
  const cu::Stream behind = make_stream();
  const cu::Event joined = make_event();
  during("cuLaunchKernelEx", [&] { EXPECT(cuStreamSynchronize(beside.lanes.comm) == 0); });
  beside.lanes.collective(beside.lanes.comm);
  EXPECT(cuEventRecord(joined, beside.lanes.comm) == 0 && cuStreamWaitEvent(behind, joined, 0) == 0);
  EXPECT(beside.lanes.product_waits(beside.lanes.compute));  // for the first one
  EXPECT(!beside.waits_for_next(behind));
}

// Or for another collective there, which came first.
void finished_behind_other() {
  const BesideLate beside;
  Lanes::settle();
  const cu::Stream behind = make_stream();
  const cu::Event joined = make_event();
  during("cuLaunchKernelEx", [&] {
    beside.lanes.collective(beside.lanes.comm);
    EXPECT(cuEventRecord(beside.event, beside.lanes.comm) == 0 && cuEventSynchronize(beside.event) == 0);
  });
  beside.lanes.collective(beside.lanes.comm);
  EXPECT(cuEventRecord(joined, beside.lanes.comm) == 0 && cuStreamWaitEvent(behind, joined, 0) == 0);
  EXPECT(beside.lanes.product_waits(beside.lanes.compute));  // for the one that is not over
  EXPECT(!beside.waits_for_next(behind));
}

// The same of a graph with a collective.
void finished_while_graph() {
  const BesideLate beside;
  const cu::GraphExec exec = graph_of([&](cu::Stream stream) { beside.lanes.collective(stream); });
  Lanes::settle();
  during("cuGraphLaunch", [&] { EXPECT(cuStreamSynchronize(beside.lanes.comm) == 0); });
  EXPECT(cuGraphLaunch(exec, beside.lanes.comm) == 0 && !beside.waits_for_next(beside.lanes.comm));
  Lanes::settle();
  EXPECT(cuGraphLaunch(exec, beside.lanes.comm) == 0 && cuStreamSynchronize(beside.lanes.comm) == 0);
  EXPECT(beside.waits_for_next(beside.lanes.comm));
}

// An event that the other thread records there stands before the collective. Who waits for it is not behind the collective, and
// must not be made to wait for the next one.
void recorded_while_launched() {
  const BesideLate beside;
  Lanes::settle();
  during("cuLaunchKernelEx", [&] { EXPECT(cuEventRecord(beside.event, beside.lanes.comm) == 0); });
  beside.lanes.collective(beside.lanes.comm);
  EXPECT(cuStreamWaitEvent(beside.lanes.compute, beside.event, 0) == 0 && !beside.waits_for_next(beside.lanes.comm));
}
void launched_while_recorded() {
  const BesideLate beside;
  Lanes::settle();
  during("cuEventRecord", [&] { beside.lanes.collective(beside.lanes.comm); });
  EXPECT(cuEventRecord(beside.event, beside.lanes.comm) == 0);
  EXPECT(cuStreamWaitEvent(beside.lanes.compute, beside.event, 0) == 0 && !beside.waits_for_next(beside.lanes.comm));
}
// The legacy stream's kernel stands before the collective of a blocking stream, and another blocking stream behind that kernel.
void legacy_while_launched() {
  const BesideLate beside;
  Lanes::settle();
  const cu::Stream blocking = make_blocking_stream();
  const cu::Stream other = make_blocking_stream();
  during("cuLaunchKernelEx", [&] { EXPECT(launch_on(nullptr, beside.lanes.gemm) == 0); });
  beside.lanes.collective(blocking);
  EXPECT(launch_on(other, beside.lanes.gemm) == 0);
  EXPECT(cuEventRecord(beside.event, other) == 0 && cuStreamWaitEvent(beside.lanes.compute, beside.event, 0) == 0);
  EXPECT(!beside.waits_for_next(blocking));
}

constexpr Case kCases[] = {
    {"wait_while_launched", wait_while_launched},
    {"blocking_wait_while_launched", blocking_wait_while_launched},
    {"launched_within_late_wait", launched_within_late_wait},
    {"memory_while_launched", memory_while_launched},
    {"graph_while_launched", graph_while_launched},
    {"third_behind_graph", third_behind_graph},
    {"third_behind_upload", third_behind_upload},
    {"graph_by_two", graph_by_two},
    {"graph_behind_next", graph_behind_next},
    {"finished_while_graph", finished_while_graph},
    {"collective_while_launched", collective_while_launched},
    {"finished_while_launched", finished_while_launched},
    {"finished_behind_other", finished_behind_other},
    {"recorded_while_launched", recorded_while_launched},
    {"launched_while_recorded", launched_while_recorded},
    {"legacy_while_launched", legacy_while_launched},
};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
