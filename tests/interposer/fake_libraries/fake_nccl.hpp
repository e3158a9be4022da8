#pragma once

#include "interposer/nccl/config_abi.hpp"
#include "interposer/nccl/functions.hpp"

/// What the tests see of the stand-in for NCCL beside NCCL's own functions.
struct FakeCommunicator {
  nccl::Config config;  // as NCCL would use it, its defaults filled in
  const void* passed;   // the configuration that the call was given
  int ranks;
  void* tuner;  // the plugin's context
  unsigned long long id = 0;
  unsigned long long launched = 0;  // kernels of it
};

#pragma GCC visibility push(default)
extern "C" {
/// Of the library from then on; 22809 at first.
void fake_nccl_version(int version);
FakeCommunicator* fake_communicator(nccl::Communicator communicator);
int ncclGetVersion(int* version);
/// Looks for a tuner plugin as NCCL does, from that version of the interface down. The version found, 0 for none.
int fake_nccl_load_tuner(int newest);
/// A communicator with a context of the plugin's, of that id (version 5 and later).
nccl::Communicator fake_tuned_communicator(unsigned long long id, int ranks, int nodes);
void fake_end_tuned(nccl::Communicator communicator);
/// What the plugin answers for one collective: its channels where it said so, and the algorithm that its table makes the cheapest.
struct FakeAnswer {
  int result, channels, algorithm;
};
FakeAnswer fake_ask_tuner(nccl::Communicator communicator, int function, std::size_t bytes, int pipelined);
/// From now on, in this process and those that it forks: ranks of one communicator that launch the kernel of one number with
/// different blocks are told by a line and end by abort.
void fake_nccl_watch();
/// For the watch: a kernel of the communicator with so many blocks.
void fake_launched(nccl::Communicator communicator, unsigned blocks);
/// The chunk size after the plugin, of 1000 before it.
std::size_t fake_chunk_size(nccl::Communicator communicator);
}
#pragma GCC visibility pop
