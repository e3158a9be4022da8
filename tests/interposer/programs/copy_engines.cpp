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
  lanes.collective(lanes.comm);
  EXPECT(!lanes.product_waits(lanes.compute));
  lanes.settle();
  EXPECT(lanes.waits_for(lanes.comm));
}

// A kernel behind one begins when the other ranks have come.
void queues() {
  const Lanes lanes;
  EXPECT(gather(lanes.comm) == 0);
  lanes.collective(lanes.comm);
  EXPECT(!lanes.product_waits(lanes.compute));
  lanes.settle();
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

constexpr Case kCases[] = {
    {"gathers", gathers},
    {"queues", queues},
    {"own_waits", own_waits},
};

}  // namespace

int main(int argc, char** argv) { return run_case(kCases, argc, argv); }
