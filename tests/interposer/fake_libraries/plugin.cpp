#include "interposer/cuda/cublas_functions.hpp"
#include "interposer/cuda/driver_abi.hpp"
#include "interposer/nccl/functions.hpp"

// What a framework's extension does: it is linked to NCCL and cuBLAS, and loaded with local visibility, so that none is
// in the program's global scope.

namespace cu = elbowroom::interposer::cuda::cu;

#pragma GCC visibility push(default)
extern "C" {
cublas::Handle fake_cublas_handle(cu::Stream stream);
int cublasSetSmCountTarget(cublas::Handle handle, int target);

int plugin_all_reduce_of(cu::Stream stream, std::size_t count, int type) {
  return ncclAllReduce(nullptr, nullptr, count, type, 0, nullptr, stream);
}

int plugin_all_reduce(cu::Stream stream, std::size_t floats) { return plugin_all_reduce_of(stream, floats, 7); }

// In a communicator of one rank.
void fake_set_ranks(int count);
int plugin_lone_all_reduce(cu::Stream stream) {
  fake_set_ranks(1);
  const int result = plugin_all_reduce(stream, 1024);
  fake_set_ranks(4);
  return result;
}

// Two calls that become one kernel.
int plugin_grouped(cu::Stream stream, std::size_t floats) {
  ncclGroupStart();
  ncclAllReduce(nullptr, nullptr, floats / 2, 7, 0, nullptr, stream);
  ncclAllReduce(nullptr, nullptr, floats / 2, 7, 0, nullptr, stream);
  return ncclGroupEnd();
}

int plugin_open_group(cu::Stream stream) {
  ncclGroupStart();
  return plugin_all_reduce(stream, 1024);
}

// Each of the four ranks takes a quarter.
int plugin_reduce_scatter(cu::Stream stream, std::size_t floats) {
  return ncclReduceScatter(nullptr, nullptr, floats / 4, 7, 0, nullptr, stream);
}

int plugin_gemm(cu::Stream stream, int own_target) {
  const cublas::Handle handle = fake_cublas_handle(stream);
  if (own_target != 0) { cublasSetSmCountTarget(handle, own_target); }
  return cublasGemmEx(handle, 0, 0, 8, 8, 8, nullptr, nullptr, 0, 8, nullptr, 0, 8, nullptr, nullptr, 0, 8, 0, 0);
}
}
#pragma GCC visibility pop
