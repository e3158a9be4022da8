#include "during.hpp"
#include "hook_cases.hpp"
#include "interposer/nccl/functions.hpp"

// NCCL's collectives by copy engines beside others: their waits are for other ranks, not for the host.

namespace {

constexpr int kFloat = 7;

int gather(cu::Stream stream) { return ncclAllGather(nullptr, nullptr, 1 << 20, kFloat, nullptr, stream); }

void gathers() {
  const Lanes lanes;
  const cu::Stream copies = make_stream();
  EXPECT(gather(copies) == 0 && fake_times_called("cuStreamBatchMemOp") == 1 && fake_times_called("cuStreamWaitValue32") == 1);
  EXPECT(lanes.waits_for(lanes.comm));
}

// A kernel behind one begins when the other ranks have come.
void queues() {
  const Lanes lanes;
  EXPECT(gather(lanes.comm) == 0);
  lanes.collective(lanes.comm);
  EXPECT(!lanes.product_waits(lanes.compute));
  Lanes::settle();
  EXPECT(lanes.waits_for(lanes.comm));
}

// What the program enqueues itself may wait for the host, within a group of NCCL's calls as well.
void own_waits() {
  const Lanes lanes;
  const cu::Stream copies = make_stream();
  EXPECT(ncclGroupStart() == 0 && gather(copies) == 0);
  EXPECT(cuStreamWaitValue32(copies, 1, 2, 0) == 0 && ncclGroupEnd() == 0);
  lanes.collective(lanes.comm);
  EXPECT(!lanes.product_waits(lanes.compute));
}

// What NCCL puts before its own kernels in a capture is none of the program's nodes.
void captured() {
  const Lanes lanes;
  const cu::Event forked = make_event();
  EXPECT(cuStreamBeginCapture_v2(lanes.comm, cu::kCaptureModeRelaxed) == 0 && cuEventRecord(forked, lanes.comm) == 0);
  EXPECT(cuStreamWaitEvent(lanes.compute, forked, 0) == 0);
  EXPECT(ncclReduceScatter(nullptr, nullptr, 1 << 20, kFloat, 0, nullptr, lanes.comm) == 0);
  EXPECT(fake_times_called("cuStreamUpdateCaptureDependencies_v2") == 1 && lanes.product_waits(lanes.compute));
  EXPECT(cuEventRecord(forked, lanes.compute) == 0 && cuStreamWaitEvent(lanes.comm, forked, 0) == 0);
  cu::Graph graph = nullptr;
  EXPECT(cuStreamEndCapture(lanes.comm, &graph) == 0);
}

// Another thread puts a stream behind it while NCCL is about to enqueue it.
void followed_meanwhile() {
  const Lanes lanes;
  EXPECT(lanes.waits_for(lanes.comm));
  const cu::Stream copies = make_stream();
  const cu::Event event = make_event();
  bool waits = true;
  during("cuStreamBatchMemOp", [&] {
    EXPECT(cuEventRecord(event, copies) == 0 && cuStreamWaitEvent(lanes.comm, event, 0) == 0);
    waits = lanes.waits_for(lanes.comm);
  });
  EXPECT(gather(copies) == 0 && !waits);
}

constexpr Case kCases[] = {
    {"captured", captured},
    {"gathers", gathers},
    {"queues", queues},
    {"own_waits", own_waits},
    {"followed_meanwhile", followed_meanwhile},
};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
