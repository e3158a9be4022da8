#pragma once

#include <cstddef>

#include "interposer/cuda/cublas_lt_abi.hpp"
#include "interposer/cuda/driver_abi.hpp"

namespace cu = elbowroom::interposer::cuda::cu;

/// The functions of cublasLt that are hooked, as cublasLt.h declares them. Matmul descriptor, stream and the layouts of A and D
/// mean something here.
#pragma GCC visibility push(default)
extern "C" {
int cublasLtMatmul(cublas_lt::Handle handle, cublas_lt::Descriptor descriptor, const void* alpha, const void* a,
                   cublas_lt::Layout layout_a, const void* b, cublas_lt::Layout layout_b, const void* beta, const void* c,
                   cublas_lt::Layout layout_c, void* d, cublas_lt::Layout layout_d, const cublas_lt::Algorithm* algorithm,
                   void* workspace, std::size_t workspace_bytes, cu::Stream stream);
int cublasLtMatmulAlgoGetHeuristic(cublas_lt::Handle handle, cublas_lt::Descriptor descriptor, cublas_lt::Layout layout_a,
                                   cublas_lt::Layout layout_b, cublas_lt::Layout layout_c, cublas_lt::Layout layout_d,
                                   cublas_lt::Preference preference, int requested, cublas_lt::HeuristicResult* results,
                                   int* returned);
}  // extern "C"
#pragma GCC visibility pop
