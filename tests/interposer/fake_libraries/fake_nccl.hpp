#pragma once

#include "interposer/nccl/config_abi.hpp"
#include "interposer/nccl/functions.hpp"

/// What the tests see of the stand-in for NCCL beside NCCL's own functions.
struct FakeCommunicator {
  nccl::Config config;  // as NCCL would use it, its defaults filled in
  const void* passed;   // the configuration that the call was given
  int ranks;
};

#pragma GCC visibility push(default)
extern "C" {
/// Of the library from then on; 22809 at first.
void fake_nccl_version(int version);
FakeCommunicator* fake_communicator(nccl::Communicator communicator);
int ncclGetVersion(int* version);
}
#pragma GCC visibility pop
