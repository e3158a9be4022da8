#include "fake_cublas_lt.hpp"
#include "interposer/cuda/cublas_functions.hpp"
#include "interposer/cuda/driver_abi.hpp"
#include "interposer/nccl/functions.hpp"

// What a framework's extension does: it is linked to NCCL, cuBLAS and cublasLt, and loaded with local visibility, so that none is
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

// A square product.
int plugin_gemm_of(cu::Stream stream, cublas::Type type, int size) {
  const cublas::Handle handle = fake_cublas_handle(stream);
  return cublasGemmEx(handle, 0, 0, size, size, size, nullptr, nullptr, type, size, nullptr, type, size, nullptr, nullptr, type,
                      size, 0, 0);
}

int plugin_batched_gemm(cu::Stream stream) {
  const cublas::Handle handle = fake_cublas_handle(stream);
  return cublasGemmStridedBatchedEx(handle, 0, 0, 8, 8, 8, nullptr, nullptr, 0, 8, 64, nullptr, 0, 8, 64, nullptr, nullptr, 0, 8,
                                    64, 2, 0, 0);
}

int plugin_lt_choose(cublas_lt::Descriptor descriptor, cublas_lt::Layout a, cublas_lt::Layout d, int requested,
                     cublas_lt::HeuristicResult* results, int* returned) {
  return cublasLtMatmulAlgoGetHeuristic(nullptr, descriptor, a, nullptr, nullptr, d, nullptr, requested, results, returned);
}

int plugin_lt_matmul(cublas_lt::Descriptor descriptor, cublas_lt::Layout a, cublas_lt::Layout d,
                     const cublas_lt::Algorithm* algorithm, cu::Stream stream) {
  return cublasLtMatmul(nullptr, descriptor, nullptr, nullptr, a, nullptr, nullptr, nullptr, nullptr, nullptr, nullptr, d,
                        algorithm, nullptr, 0, stream);
}
}
#pragma GCC visibility pop
