#include "fake_nccl.hpp"

// Communicators of NCCL 2.28.9, which know how many ranks they have.

namespace {

int make(nccl::Communicator* made, int ranks) {
  *made = reinterpret_cast<nccl::Communicator>(new FakeCommunicator{ranks});
  return 0;
}

int make_child(nccl::Communicator parent, nccl::Communicator* made) { return make(made, fake_communicator(parent)->ranks); }

}  // namespace

FakeCommunicator* fake_communicator(nccl::Communicator communicator) { return reinterpret_cast<FakeCommunicator*>(communicator); }

int ncclGetVersion(int* version) {
  *version = 22809;
  return 0;
}
int ncclCommInitRank(nccl::Communicator* made, int ranks, nccl::UniqueId, int) { return make(made, ranks); }
int ncclCommInitRankConfig(nccl::Communicator* made, int ranks, nccl::UniqueId, int, nccl::Config*) { return make(made, ranks); }
int ncclCommInitRankScalable(nccl::Communicator* made, int ranks, int, int, nccl::UniqueId*, nccl::Config*) {
  return make(made, ranks);
}
int ncclCommInitAll(nccl::Communicator* made, int devices, const int*) {
  for (int i = 0; i < devices; ++i) { make(made + i, devices); }
  return 0;
}
int ncclCommSplit(nccl::Communicator parent, int, int, nccl::Communicator* made, nccl::Config*) { return make_child(parent, made); }
int ncclCommGrow(nccl::Communicator parent, int, const nccl::UniqueId*, int, nccl::Communicator* made, nccl::Config*) {
  return make_child(parent, made);
}
int ncclCommShrink(nccl::Communicator parent, int*, int, nccl::Communicator* made, nccl::Config*, int) {
  return make_child(parent, made);
}
