#pragma once

#include "interposer/nccl/functions.hpp"

/// What the tests see of the stand-in for NCCL beside NCCL's own functions.
struct FakeCommunicator {
  int ranks;
};

#pragma GCC visibility push(default)
extern "C" {
FakeCommunicator* fake_communicator(nccl::Communicator communicator);
int ncclGetVersion(int* version);
}
#pragma GCC visibility pop
