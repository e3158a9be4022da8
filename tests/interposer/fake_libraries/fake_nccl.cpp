#include "fake_nccl.hpp"

#include <vector>

#include "fake_cuda.hpp"
#include "interposer/cuda/hooked_functions.hpp"

// A stand-in for libnccl.so.2: collectives of one communicator and stream are one launch, made when the outermost group ends. Only
// what the tests call.

namespace {

constexpr unsigned kChannels = 24;

struct Task {
  nccl::Communicator communicator;
  cu::Stream stream;
};

thread_local int depth = 0;
thread_local std::vector<Task> queued;

void launch_queued(bool launches) {
  static const cu::Function kernel = fake_function("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 96, 0);
  while (!queued.empty()) {
    const Task first = queued.front();
    std::erase_if(queued, [&](const Task& task) { return task.communicator == first.communicator && task.stream == first.stream; });
    if (launches) { cuLaunchKernel(kernel, kChannels, 1, 1, 544, 1, 1, 0, first.stream, nullptr, nullptr); }
  }
}

int enqueue(nccl::Communicator communicator, nccl::Stream stream) {
  queued.push_back({communicator, static_cast<cu::Stream>(stream)});
  if (depth == 0) { launch_queued(true); }
  return 0;
}

}  // namespace

int ncclGroupStart() {
  ++depth;
  return 0;
}
int ncclGroupEnd() {
  if (--depth == 0) { launch_queued(true); }
  return 0;
}
int ncclGroupSimulateEnd(void*) {
  if (--depth == 0) { launch_queued(false); }
  return 0;
}
int ncclAllReduce(const void*, void*, std::size_t, nccl::DataType, nccl::Operation, nccl::Communicator communicator,
                  nccl::Stream stream) {
  return enqueue(communicator, stream);
}
int ncclReduceScatter(const void*, void*, std::size_t, nccl::DataType, nccl::Operation, nccl::Communicator communicator,
                      nccl::Stream stream) {
  return enqueue(communicator, stream);
}

static int ranks = 4;
extern "C" __attribute__((visibility("default"))) void fake_set_ranks(int count) { ranks = count; }
extern "C" __attribute__((visibility("default"))) int ncclCommCount(nccl::Communicator communicator, int* count) {
  *count = communicator == nullptr ? ranks : fake_communicator(communicator)->ranks;
  return 0;
}
