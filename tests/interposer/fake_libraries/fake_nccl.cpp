#include "fake_nccl.hpp"

#include <algorithm>
#include <vector>

#include "fake_cuda.hpp"
#include "interposer/cuda/hooked_functions.hpp"

// A stand-in for libnccl.so.2: each collective is one launch, made when the outermost group ends. Only what the tests call. A
// communicator with a tuner has 24 channels; its group is asked about once, and the blocks of its tasks add up.

namespace {

constexpr int kChannels = 24;
constexpr int kAllReduceFunction = 4;

struct Task {
  nccl::Communicator communicator;
  cu::Stream stream;
  std::size_t bytes;
};

thread_local int depth = 0;
thread_local std::vector<Task> queued;

// One channel less while there are too few bytes: of Ring/Simple, 512 threads and 64 bytes.
int own_channels(std::size_t bytes) {
  int channels = kChannels;
  while (channels > 1 && bytes < static_cast<std::size_t>(channels) * 512 * 64) { --channels; }
  return channels;
}

unsigned blocks_of(const std::vector<Task>& tasks) {
  const nccl::Communicator communicator = tasks.front().communicator;
  if (communicator == nullptr || fake_communicator(communicator)->tuner == nullptr) { return kChannels; }
  std::size_t bytes = 0;
  for (const Task& task : tasks) { bytes += task.bytes; }
  const FakeAnswer answer = fake_ask_tuner(communicator, kAllReduceFunction, bytes, 1);
  const int each = answer.channels == 0 ? own_channels(bytes) : answer.channels;
  return static_cast<unsigned>(std::min(each * static_cast<int>(tasks.size()), kChannels));
}

void launch_queued(bool launches) {
  static const cu::Function kernel = fake_function("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 96, 0);
  while (!queued.empty()) {
    std::vector<Task> same;
    const Task first = queued.front();
    const auto belongs = [&](const Task& task) { return task.communicator == first.communicator && task.stream == first.stream; };
    std::copy_if(queued.begin(), queued.end(), std::back_inserter(same), belongs);
    std::erase_if(queued, belongs);
    const unsigned blocks = blocks_of(same);
    if (!launches) { continue; }
    fake_launched(first.communicator, blocks);
    cuLaunchKernel(kernel, blocks, 1, 1, 544, 1, 1, 0, first.stream, nullptr, nullptr);
  }
}

int enqueue(nccl::Communicator communicator, nccl::Stream stream, std::size_t floats) {
  queued.push_back({communicator, static_cast<cu::Stream>(stream), floats * 4});
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
int ncclAllReduce(const void*, void*, std::size_t count, nccl::DataType, nccl::Operation, nccl::Communicator communicator,
                  nccl::Stream stream) {
  return enqueue(communicator, stream, count);
}
int ncclReduceScatter(const void*, void*, std::size_t count, nccl::DataType, nccl::Operation, nccl::Communicator communicator,
                      nccl::Stream stream) {
  return enqueue(communicator, stream, count);
}

// By copy engines, as NCCL gathers on symmetric memory under its policy for that: no kernel, the stream itself waits for the other
// ranks.
int ncclAllGather(const void*, void*, std::size_t /*count*/, nccl::DataType, nccl::Communicator, nccl::Stream stream) {
  static int operations[2];
  auto* const on = static_cast<cu::Stream>(stream);
  cuStreamBatchMemOp(on, 2, operations, 0);
  cuStreamWaitValue32(on, 1, 2, 0);
  return 0;
}

static int ranks = 4;
extern "C" __attribute__((visibility("default"))) void fake_set_ranks(int count) { ranks = count; }
extern "C" __attribute__((visibility("default"))) int ncclCommCount(nccl::Communicator, int* count) {
  *count = ranks;
  return 0;
}
