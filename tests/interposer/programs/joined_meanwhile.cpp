#include "during.hpp"
#include "late_lanes.hpp"

// A thread launches on a blocking stream, which is behind the legacy default stream once the driver has the launch. Another thread
// acts on that stream before. What it finds over there says nothing of the legacy stream.

namespace {

/// A stream, the default one if it is not given, holds a collective whose peers are late.
struct LateDefault : LateLanes {
  cu::Stream blocking = make_blocking_stream();
  cu::Stream holds_late;

  explicit LateDefault(cu::Stream (*holding)() = [] { return cu::Stream{}; }) : holds_late(holding()) {
    Lanes::settle();
    lanes.collective(holds_late);
    EXPECT(lanes.product_waits(lanes.compute));
  }
  [[nodiscard]] int launch(cu::Stream stream) const { return launch_on(stream, lanes.gemm); }
  /// Whether a product waits for a collective behind the late one.
  [[nodiscard]] bool waits_behind_late() const { return lanes.waits_for(holds_late); }
};

// The same calls by one thread, one after the other.
void synchronised_after() {
  const LateDefault late;
  EXPECT(late.launch(late.blocking) == 0 && cuStreamSynchronize(late.blocking) == 0 && late.waits_behind_late());
}

template <class Action>
void launch_during(Action action) {
  const LateDefault late;
  during("cuLaunchKernel", [&] { action(late); });
  EXPECT(late.launch(late.blocking) == 0 && !late.waits_behind_late());
}
void synchronised_while_joined() {
  launch_during([](const LateDefault& late) { EXPECT(cuStreamSynchronize(late.blocking) == 0); });
}
void queried_while_joined() {
  launch_during([](const LateDefault& late) { EXPECT(cuStreamQuery(late.blocking) == 0); });
}
void recorded_while_joined() {
  launch_during([](const LateDefault& late) {
    EXPECT(cuEventRecord(late.event, late.blocking) == 0 && cuEventSynchronize(late.event) == 0);
  });
}
void joined_while_recorded() {
  const LateDefault late;
  during("cuEventRecord", [&] { EXPECT(late.launch(late.blocking) == 0); });
  EXPECT(cuEventRecord(late.event, late.blocking) == 0 && cuEventSynchronize(late.event) == 0);
  EXPECT(!late.waits_behind_late());
}

void graph_while_joined() {
  const LateDefault late;
  const cu::GraphExec exec = graph_of([&](cu::Stream stream) { EXPECT(late.launch(stream) == 0); });
  during("cuGraphLaunch", [&] { EXPECT(cuStreamSynchronize(late.blocking) == 0); });
  EXPECT(cuGraphLaunch(exec, late.blocking) == 0 && !late.waits_behind_late());
}

// Until the driver has the wait for the host, the stream is behind nothing.
void host_while_joined() {
  const LateDefault late;
  during("cuLaunchHostFunc", [&] { EXPECT(cuStreamSynchronize(late.blocking) == 0); });
  EXPECT(cuLaunchHostFunc(late.blocking, [](void* /*data*/) {}, nullptr) == 0);
  EXPECT(cuStreamSynchronize(late.blocking) == 0 && !late.waits_behind_late());
}

// The default stream is behind a blocking one, and so will others be.
void default_while_joined() {
  const LateDefault late(&make_blocking_stream);
  during("cuLaunchKernel", [&] { EXPECT(late.launch(late.blocking) == 0 && cuStreamSynchronize(late.blocking) == 0); });
  EXPECT(late.launch(nullptr) == 0 && !late.waits_behind_late());
}

// The launch is refused, so that its stream is behind nothing.
void refused_while_joined() {
  const LateDefault late;
  fake_set_failure([](const FakeCall* call) { return std::strcmp(call->name, "cuLaunchKernel") == 0 ? 1 : 0; });
  EXPECT(late.launch(late.blocking) != 0);
  fake_set_failure(nullptr);
  EXPECT(cuStreamSynchronize(late.blocking) == 0 && !late.waits_behind_late());
}

/// A blocking stream waits for a collective whose peers are late, by an event. What it launches next is behind that collective, and
/// the default stream is behind this launch.
struct WaitsForLate : LateDefault {
  WaitsForLate() : LateDefault(&make_stream) {
    EXPECT(launch(blocking) == 0 && launch(nullptr) == 0);
    EXPECT(cuEventRecord(event, holds_late) == 0 && cuStreamWaitEvent(blocking, event, 0) == 0);
  }
};
template <class Action>
void publish_during(Action action) {
  const WaitsForLate late;
  during("cuLaunchKernel", [&] { action(late); });
  EXPECT(late.launch(late.blocking) == 0 && !late.waits_behind_late());
}
void default_synchronised() {
  publish_during([](const LateDefault&) { EXPECT(cuStreamSynchronize(nullptr) == 0); });
}
void default_recorded() {
  publish_during([](const LateDefault&) {
    const cu::Event over = make_event();
    EXPECT(cuEventRecord(over, nullptr) == 0 && cuEventQuery(over) == 0);
  });
}
void default_launched() {
  publish_during([](const LateDefault& late) {
    const cu::Stream other = make_blocking_stream();
    EXPECT(late.launch(nullptr) == 0 && late.launch(other) == 0 && cuStreamSynchronize(other) == 0);
  });
}
void default_synchronised_after() {
  const WaitsForLate late;
  EXPECT(late.launch(late.blocking) == 0 && cuStreamSynchronize(nullptr) == 0 && late.waits_behind_late());
}
// Another thread makes the stream wait for the late collective while the launch is under way. The launch may have come before.
void default_launched_after_wait() {
  const LateDefault late(&make_stream);
  const cu::Stream other = make_blocking_stream();
  EXPECT(cuEventRecord(late.event, late.holds_late) == 0 && late.launch(late.blocking) == 0 && late.launch(nullptr) == 0);
  late.lanes.collective(nullptr);  // so that the launch joins something
  during("cuLaunchKernel", [&] { EXPECT(cuStreamWaitEvent(late.blocking, late.event, 0) == 0); });
  EXPECT(late.launch(late.blocking) == 0 && cuMemsetD8Async(8, 0, 8, nullptr) == 0);
  EXPECT(late.launch(other) == 0 && cuStreamSynchronize(other) == 0 && !late.waits_behind_late());
}
// The launch takes the short way: it is written down, and the driver does not have it yet.
void default_synchronised_short() {
  const LateDefault late(&make_stream);
  EXPECT(cuEventRecord(late.event, late.holds_late) == 0);
  for (int i = 0; i < 4; ++i) { EXPECT(late.launch(late.blocking) == 0); }
  EXPECT(cuStreamWaitEvent(late.blocking, late.event, 0) == 0);
  during("cuLaunchKernel", [&] { EXPECT(cuStreamSynchronize(nullptr) == 0); });
  EXPECT(late.launch(late.blocking) == 0 && !late.waits_behind_late());
}

constexpr Case kCases[] = {
    {"synchronised_after", synchronised_after},
    {"synchronised_while_joined", synchronised_while_joined},
    {"queried_while_joined", queried_while_joined},
    {"recorded_while_joined", recorded_while_joined},
    {"joined_while_recorded", joined_while_recorded},
    {"graph_while_joined", graph_while_joined},
    {"host_while_joined", host_while_joined},
    {"default_while_joined", default_while_joined},
    {"refused_while_joined", refused_while_joined},
    {"default_synchronised", default_synchronised},
    {"default_recorded", default_recorded},
    {"default_launched", default_launched},
    {"default_synchronised_after", default_synchronised_after},
    {"default_synchronised_short", default_synchronised_short},
    {"default_launched_after_wait", default_launched_after_wait},
};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
