#include "backend_cuda/compiled_kernels.hpp"
#include "backend_cuda/kernel_prologue.cuh"

namespace elbowroom::cuda {
namespace {

#include "backend_gpu/kernels/elementwise_kernels.inc"
//
#include "backend_gpu/kernels/data_kernels.inc"

ELBOWROOM_OPERAND_KERNELS(e4m3, E4m3)

#define ELBOWROOM_COMPILED(kernel) \
  CompiledKernel { #kernel, reinterpret_cast<const void*>(&kernel), Threads(256) }

}  // namespace

const std::vector<CompiledKernel>& elementwise_kernels() {
  static const std::vector<CompiledKernel> kernels{
      ELBOWROOM_COMPILED(elementwise_gelu_f32),  ELBOWROOM_COMPILED(elementwise_relu_f32),
      ELBOWROOM_COMPILED(elementwise_copy_f32),  ELBOWROOM_COMPILED(elementwise_gelu_bf16),
      ELBOWROOM_COMPILED(elementwise_relu_bf16), ELBOWROOM_COMPILED(elementwise_copy_bf16),
      ELBOWROOM_COMPILED(elementwise_gelu_f16),  ELBOWROOM_COMPILED(elementwise_relu_f16),
      ELBOWROOM_COMPILED(elementwise_copy_f16),
  };
  return kernels;
}

const std::vector<CompiledKernel>& data_kernels() {
  static const std::vector<CompiledKernel> kernels{
      ELBOWROOM_COMPILED(fill_uniform_f32),        ELBOWROOM_COMPILED(fill_uniform_bf16),
      ELBOWROOM_COMPILED(fill_collective_f32),     ELBOWROOM_COMPILED(fill_collective_bf16),
      ELBOWROOM_COMPILED(check_collective_f32),    ELBOWROOM_COMPILED(check_collective_bf16),
      ELBOWROOM_COMPILED(check_elementwise_f32),   ELBOWROOM_COMPILED(check_elementwise_bf16),
      ELBOWROOM_COMPILED(matrix_times_vector_f32), ELBOWROOM_COMPILED(matrix_times_vector_bf16),
      ELBOWROOM_COMPILED(compare_rows_f32),        ELBOWROOM_COMPILED(compare_rows_bf16),
      ELBOWROOM_COMPILED(fill_uniform_f16),        ELBOWROOM_COMPILED(fill_uniform_e4m3),
      ELBOWROOM_COMPILED(matrix_times_vector_f16), ELBOWROOM_COMPILED(matrix_times_vector_e4m3),
      ELBOWROOM_COMPILED(check_elementwise_f16),   ELBOWROOM_COMPILED(compare_rows_f16),
  };
  return kernels;
}

}  // namespace elbowroom::cuda
