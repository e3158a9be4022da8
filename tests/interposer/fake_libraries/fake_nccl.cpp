#include <vector>

#include "fake_cuda.hpp"
#include "interposer/cuda/hooked_functions.hpp"
#include "interposer/nccl/functions.hpp"

// A stand-in for libnccl.so.2: each collective is one launch, made when the outermost group ends. Only what the tests call.

namespace {

thread_local int depth = 0;
thread_local std::vector<cu::Stream> queued;

void launch_queued() {
  static const cu::Function kernel = fake_function("ncclDevKernel_AllReduce_Sum_f32_RING_LL", 96, 0);
  for (const cu::Stream stream : queued) { cuLaunchKernel(kernel, 24, 1, 1, 544, 1, 1, 0, stream, nullptr, nullptr); }
  queued.clear();
}

int enqueue(cu::Stream stream) {
  bool known = false;
  for (const cu::Stream other : queued) { known = known || other == stream; }
  if (!known) { queued.push_back(stream); }
  if (depth == 0) { launch_queued(); }
  return 0;
}

}  // namespace

int ncclGroupStart() {
  ++depth;
  return 0;
}
int ncclGroupEnd() {
  if (--depth == 0) { launch_queued(); }
  return 0;
}
int ncclAllReduce(const void*, void*, std::size_t, nccl::DataType, nccl::Operation, nccl::Communicator, nccl::Stream stream) {
  return enqueue(static_cast<cu::Stream>(stream));
}
int ncclReduceScatter(const void*, void*, std::size_t, nccl::DataType, nccl::Operation, nccl::Communicator, nccl::Stream stream) {
  return enqueue(static_cast<cu::Stream>(stream));
}

extern "C" __attribute__((visibility("default"))) int ncclCommCount(nccl::Communicator, int* count) {
  *count = 4;
  return 0;
}
