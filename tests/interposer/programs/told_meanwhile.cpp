#include "during.hpp"
#include "late_lanes.hpp"

// A call is told once the driver has it, which may be long after the driver took it. What another thread enqueues in between may be
// behind it.

namespace {

/// Two blocking streams and the default one, on which something was launched.
struct Blocking : LateLanes {
  cu::Stream first = make_blocking_stream();
  cu::Stream second = make_blocking_stream();

  Blocking() {
    Lanes::settle();
    for (const cu::Stream stream : {first, second, cu::Stream{}}) { EXPECT(launch_on(stream, lanes.gemm) == 0); }
    Lanes::settle();
  }
  /// Whether a launch on the second stream waits for a collective behind the late one, which the first one holds.
  [[nodiscard]] bool waits_behind_late() const {
    lanes.collective(first);
    const cu::LaunchAttribute* begun = attribute_of(last_call_named("cuLaunchKernelEx"), cu::kLaunchCompletionEvent);
    EXPECT(begun != nullptr);
    const cu::Event next = begun->value.launch_completion_event.event;
    return lanes.product_waits(second) && last_call_named("cuStreamWaitEvent").event == next;
  }
};

// The default stream has an operation. Another thread launches a late collective on a blocking stream, which is not before it.
template <class Call>
void late_within(const char* name, Call call) {
  const Blocking streams;
  during(name, [&] { streams.lanes.collective(streams.first); });
  EXPECT(call(streams) == 0 && !streams.waits_behind_late());
}
int fill(const Blocking& /*streams*/) { return cuMemsetD8Async(8, 0, 8, nullptr); }
void fill_while_launched() { late_within("cuMemsetD8Async", &fill); }
void copy_while_launched() {
  const char from[8] = {};
  late_within("cuMemcpyHtoDAsync_v2", [&](const Blocking&) { return cuMemcpyHtoDAsync_v2(8, from, 8, nullptr); });
}
void record_while_launched() {
  late_within("cuEventRecord", [](const Blocking& streams) { return cuEventRecord(streams.event, nullptr); });
}
void wait_while_launched() {
  const Blocking streams;
  EXPECT(cuEventRecord(streams.event, streams.lanes.compute) == 0);
  during("cuStreamWaitEvent", [&] { streams.lanes.collective(streams.first); });
  EXPECT(cuStreamWaitEvent(nullptr, streams.event, 0) == 0 && !streams.waits_behind_late());
}
// Nor is a wait for the host.
void fill_while_host_waits() {
  const Blocking streams;
  during("cuMemsetD8Async", [&] { EXPECT(cuLaunchHostFunc(streams.first, [](void* /*data*/) {}, nullptr) == 0); });
  EXPECT(fill(streams) == 0 && launch_on(streams.second, streams.lanes.gemm) == 0 && cuStreamSynchronize(streams.second) == 0);
  EXPECT(!streams.lanes.waits_for(streams.lanes.comm));
}

// A wait for the host is under way. Another thread has waited for its stream before the driver took it, and launches after that.
template <class Call, class Action>
void host_within(const char* name, Call call, Action action) {
  const LateLanes late;
  Lanes::settle();
  bool waits = true;
  during(name, [&] {
    action(late);
    late.lanes.collective(late.lanes.comm);
    waits = late.lanes.product_waits(late.lanes.compute);
  });
  EXPECT(call(late) == 0 && !waits);
}
int call_host(const LateLanes& late) {
  return cuLaunchHostFunc(late.lanes.comm, [](void* /*data*/) {}, nullptr);
}
void host_synchronised() {
  host_within("cuLaunchHostFunc", &call_host, [](const LateLanes& late) { EXPECT(cuStreamSynchronize(late.lanes.comm) == 0); });
}
void host_queried() {
  host_within("cuLaunchHostFunc", &call_host, [](const LateLanes& late) { EXPECT(cuStreamQuery(late.lanes.comm) == 0); });
}
void host_passed() {
  host_within("cuLaunchHostFunc", &call_host, [](const LateLanes& late) {
    EXPECT(cuEventRecord(late.event, late.lanes.comm) == 0 && cuEventQuery(late.event) == 0);
  });
}
void graph_host_synchronised() {
  cu::GraphExec exec = nullptr;
  const auto launch = [&](const LateLanes& late) {
    cu::Graph graph = nullptr;
    cu::GraphNode node = nullptr;
    EXPECT(cuGraphCreate(&graph, 0) == 0 && cuGraphAddHostNode(&node, graph, nullptr, 0, nullptr) == 0);
    EXPECT(cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
    return cuGraphLaunch(exec, late.late);
  };
  host_within("cuGraphLaunch", launch, [](const LateLanes&) { EXPECT(cuCtxSynchronize() == 0); });
}

// An event of a blocking stream may be behind what the default stream holds, though nothing was launched on it. A stream is made to
// wait for the event, and another thread launches there before the call has returned.
void event_within(cu::Stream holds_late, cu::Stream records) {
  const LateLanes late;
  Lanes::settle();
  late.lanes.collective(holds_late);
  EXPECT(late.lanes.product_waits(late.lanes.compute) && cuEventRecord(late.event, records) == 0);
  bool waits = true;
  during("cuStreamWaitEvent", [&] { waits = late.lanes.waits_for(late.lanes.comm); });
  EXPECT(cuStreamWaitEvent(late.lanes.comm, late.event, 0) == 0 && !waits);
}
void blocking_event() {
  const LateLanes late;  // so that the driver is there
  event_within(nullptr, make_blocking_stream());
}
// The default stream's record was told late, so that it seems to be behind nothing.
void default_event() {
  const LateLanes late;
  const cu::Stream blocking = make_blocking_stream();
  Lanes::settle();
  during("cuLaunchKernelEx", [&] { EXPECT(cuEventRecord(late.event, nullptr) == 0); });
  late.lanes.collective(blocking);
  EXPECT(late.lanes.product_waits(late.lanes.compute));
  bool waits = true;
  during("cuStreamWaitEvent", [&] { waits = late.lanes.waits_for(late.lanes.comm); });
  EXPECT(cuStreamWaitEvent(late.lanes.comm, late.event, 0) == 0 && !waits);
}

constexpr Case kCases[] = {
    {"fill_while_launched", fill_while_launched},
    {"copy_while_launched", copy_while_launched},
    {"record_while_launched", record_while_launched},
    {"wait_while_launched", wait_while_launched},
    {"fill_while_host_waits", fill_while_host_waits},
    {"host_synchronised", host_synchronised},
    {"host_queried", host_queried},
    {"host_passed", host_passed},
    {"graph_host_synchronised", graph_host_synchronised},
    {"blocking_event", blocking_event},
    {"default_event", default_event},
};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
