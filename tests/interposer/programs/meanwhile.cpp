#include "during.hpp"
#include "hook_cases.hpp"

// What another thread does while a call of the driver is under way, and contexts of which one ends.

namespace {

cu::GraphExec some_graph() {
  cu::Graph graph = nullptr;
  cu::GraphExec exec = nullptr;
  EXPECT(cuGraphCreate(&graph, 0) == 0 && cuGraphInstantiateWithFlags(&exec, graph, 0) == 0);
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

int host_function(cu::Stream stream) { return cuLaunchHostFunc(stream, nullptr, nullptr); }

void host_functions() { launched_behind_wait("cuLaunchHostFunc", &host_function); }
void graph_launches() {
  launched_behind_wait("cuGraphLaunch", [exec = some_graph()](cu::Stream stream) { return cuGraphLaunch(exec, stream); });
}

// A collective counts from before the driver has it: the other thread's may stand behind it, and the product before it.
void collective_under_way() {
  const Lanes lanes;
  const cu::Stream other = make_stream();
  bool waits = true;
  during("cuLaunchKernelEx", [&] {
    lanes.collective(other);
    waits = lanes.product_waits(lanes.compute);
  });
  lanes.collective(lanes.comm);
  EXPECT(!waits);
}

// The driver may wait for the other thread's record or for the one before.
void waited_while_recorded() {
  const Lanes lanes;
  const cu::Event event = make_event();
  const cu::Stream empty = make_stream();
  lanes.collective(lanes.comm);
  EXPECT(cuEventRecord(event, lanes.comm) == 0);
  during("cuStreamWaitEvent", [&] { EXPECT(cuEventRecord(event, empty) == 0); });
  EXPECT(cuStreamWaitEvent(lanes.compute, event, 0) == 0 && lanes.product_waits(lanes.compute));
}

// Which of two records the driver took last is not known.
void recorded_twice_at_once() {
  const Lanes lanes;
  const cu::Event event = make_event();
  const cu::Stream empty = make_stream();
  lanes.collective(lanes.comm);
  during("cuEventRecord", [&] { EXPECT(cuEventRecord(event, empty) == 0); });
  EXPECT(cuEventRecord(event, lanes.comm) == 0 && cuStreamWaitEvent(lanes.compute, event, 0) == 0);
  EXPECT(lanes.product_waits(lanes.compute));
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

constexpr Case kCases[] = {CASE(host_functions),        CASE(graph_launches),         CASE(collective_under_way),
                           CASE(waited_while_recorded), CASE(recorded_twice_at_once), CASE(reused_while_released),
                           CASE(other_device)};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
