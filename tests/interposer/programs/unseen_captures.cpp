#include "hook_cases.hpp"
#include "interposer/nccl/functions.hpp"
#include "late_lanes.hpp"
#include "objects.hpp"
#include "two_streams.hpp"

// What the program orders inside a capture that began past the hooks happens when the graph runs, and not now.

namespace {

constexpr int kFloat = 7;

/// A stream that waits for the host, and another that does not.
struct Waiting {
  Lanes lanes;
  cu::Stream waiting = make_stream();
  cu::Stream other = make_stream();
  cu::Event event = make_event();

  Waiting() {
    EXPECT(lanes.waits_for(lanes.comm));  // nothing is followed before the first collective
    EXPECT(cuLaunchHostFunc(waiting, nullptr, nullptr) == 0);
  }
  /// Whether the host action counts as over. It is over afterwards.
  bool is_over() const { return lanes.waits_for(lanes.comm); }
};

void begin_unseen(cu::Stream stream) { fake::begin_capture(stream, cu::kCaptureModeThreadLocal); }
void end(cu::Stream stream) {
  cu::Graph graph = nullptr;
  EXPECT(cuStreamEndCapture(stream, &graph) == 0 && graph != nullptr);
}

// A priority or a pad that is being tried would stay in the graph.
void launches() {
  const TwoStreams two;
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0);
  begin_unseen(two.compute);
  EXPECT(launch_on(two.compute, two.gemm) == 0 && is_call(fake_call_count() - 1, "cuLaunchKernel"));
  EXPECT(fake_call(fake_call_count() - 1)->shared == 0);
  end(two.compute);
  begin_unseen(two.comm);
  EXPECT(launch_on(two.comm, two.all_reduce, 24) == 0 && is_call(fake_call_count() - 1, "cuLaunchKernel"));
  end(two.comm);
}

// What was captured when a stream was last heard of is launched now, and a wait for the host counts.
void ends() {
  const Waiting two;
  EXPECT(cuStreamBeginCapture_v2(two.lanes.comm, cu::kCaptureModeRelaxed) == 0 && cuEventRecord(two.event, two.lanes.comm) == 0);
  EXPECT(cuStreamWaitEvent(two.lanes.compute, two.event, 0) == 0);
  bool broken = false;
  EXPECT(fake::end_capture(two.lanes.comm, broken) != nullptr && !broken);
  two.lanes.collective(two.lanes.comm);
  EXPECT(is_call(fake_call_count() - 1, "cuLaunchKernel") && !two.lanes.product_waits(two.lanes.compute));
}

// Two streams were in one capture when they were last heard of, and are in one each. A wait would bind the two.
void two_at_once() {
  const Lanes lanes;
  const cu::Event forked = make_event();
  EXPECT(cuStreamBeginCapture_v2(lanes.comm, cu::kCaptureModeRelaxed) == 0 && cuEventRecord(forked, lanes.comm) == 0);
  EXPECT(cuStreamWaitEvent(lanes.compute, forked, 0) == 0);
  lanes.collective(lanes.comm);
  EXPECT(lanes.product_waits(lanes.compute));
  bool broken = false;
  EXPECT(fake::end_capture(lanes.comm, broken) != nullptr && !broken);
  for (const cu::Stream stream : {lanes.comm, lanes.compute}) { begin_unseen(stream); }
  lanes.collective(lanes.comm);
  EXPECT(is_call(fake_call_count() - 1, "cuLaunchKernel") && !lanes.product_waits(lanes.compute));
  EXPECT(fake::capture_of(lanes.comm) != fake::capture_of(lanes.compute));
}

// The other stream joins the capture, and stands behind nothing of what it held before.
void records() {
  const Waiting two;
  begin_unseen(two.waiting);
  EXPECT(cuEventRecord(two.event, two.waiting) == 0 && cuStreamWaitEvent(two.other, two.event, 0) == 0);
  end(two.waiting);
  EXPECT(cuStreamSynchronize(two.other) == 0 && !two.is_over());
}

// The other stream is behind no collective that stands before the capture.
void records_behind_late() {
  const Lanes lanes;
  const cu::Stream late = make_stream();
  const cu::Event event = make_event();
  lanes.collective(late);
  EXPECT(lanes.product_waits(lanes.compute));
  begin_unseen(late);
  EXPECT(cuEventRecord(event, late) == 0 && cuStreamWaitEvent(lanes.compute, event, 0) == 0);
  end(late);
  EXPECT(!lanes.waits_for(late));
}

// The event is still what it was recorded as before.
template <class Record>
void recorded_later(Record record) {
  const Waiting two;
  EXPECT(cuEventRecord(two.event, two.other) == 0);
  begin_unseen(two.waiting);
  EXPECT(record(two.event, two.waiting, cu::kEventExternal) == 0);
  EXPECT(cuEventSynchronize(two.event) == 0 && !two.is_over());
  end(two.waiting);
  two.lanes.collective(two.other);
  EXPECT(cuEventRecord(two.event, two.other) == 0);
  begin_unseen(two.waiting);
  EXPECT(record(two.event, two.waiting, cu::kEventExternal) == 0);
  end(two.waiting);
  EXPECT(cuStreamWaitEvent(two.lanes.compute, two.event, 0) == 0 && !two.lanes.product_waits(two.lanes.compute));
}
void external_records() {
  recorded_later(&cuEventRecordWithFlags);
  recorded_later(&cuEventRecordWithFlags_ptsz);
}

void external_waits() {
  const Waiting two;
  EXPECT(cuEventRecord(two.event, two.waiting) == 0);
  begin_unseen(two.other);
  EXPECT(cuStreamWaitEvent(two.other, two.event, cu::kEventExternal) == 0);
  end(two.other);
  EXPECT(cuStreamSynchronize(two.other) == 0 && !two.is_over());
}

// A blocking stream is captured unseen. What it launches is not behind what the default stream holds, and asking it says nothing.
void launches_behind_default() {
  for (const char* what : {"kernel", "collective", "graph", "by copies"}) {
    const Lanes lanes;
    const cu::Stream blocking = make_blocking_stream();
    const cu::GraphExec exec = graph_of([&](cu::Stream stream) { EXPECT(launch_on(stream, lanes.gemm) == 0); });
    EXPECT(lanes.waits_for(lanes.comm));
    Lanes::settle();
    lanes.collective(nullptr);
    EXPECT(lanes.product_waits(lanes.compute));
    begin_unseen(blocking);
    if (what[0] == 'c') { lanes.collective(blocking); }
    if (what[0] == 'k') { EXPECT(launch_on(blocking, lanes.gemm) == 0); }
    if (what[0] == 'b') { EXPECT(ncclAllGather(nullptr, nullptr, 1 << 20, kFloat, nullptr, blocking) == 0); }
    if (what[0] == 'g') { EXPECT(cuGraphLaunch(exec, blocking) == 0); }
    end(blocking);
    EXPECT(cuStreamSynchronize(blocking) == 0 && !lanes.waits_for(nullptr));
    Lanes::settle();
    EXPECT(lanes.waits_for(nullptr));
  }
}

constexpr Case kCases[] = {
    {"launches", launches},
    {"launches_behind_default", launches_behind_default},
    {"ends", ends},
    {"two_at_once", two_at_once},
    {"records", records},
    {"records_behind_late", records_behind_late},
    {"external_records", external_records},
    {"external_waits", external_waits},
};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
