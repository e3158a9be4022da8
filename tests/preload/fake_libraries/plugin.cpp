#include "preload/cublas_functions.hpp"
#include "preload/driver_abi.hpp"
#include "preload/nccl_functions.hpp"

// What a framework's extension does: it is linked to NCCL and cuBLAS, and loaded with local visibility, so that neither is in the
// program's global scope.

namespace cu = headroom::preload::cu;

#pragma GCC visibility push(default)
extern "C" {
cublas::Handle fake_cublas_handle(cu::Stream stream);
int cublasSetSmCountTarget(cublas::Handle handle, int target);

int plugin_all_reduce(cu::Stream stream, std::size_t floats) {
  return ncclAllReduce(nullptr, nullptr, floats, 7, 0, nullptr, stream);
}

// Two calls that become one kernel.
int plugin_grouped(cu::Stream stream, std::size_t floats) {
  ncclGroupStart();
  ncclAllReduce(nullptr, nullptr, floats / 2, 7, 0, nullptr, stream);
  ncclAllReduce(nullptr, nullptr, floats / 2, 7, 0, nullptr, stream);
  return ncclGroupEnd();
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
