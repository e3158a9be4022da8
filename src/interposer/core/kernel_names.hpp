#pragma once

#include <cstdint>

namespace elbowroom::interposer {

/// Whether a kernel of this name (plain or mangled) communicates between GPUs: NCCL, RCCL, NVSHMEM, DeepEP and the one-shot and
/// two-shot all-reduces of PyTorch, vLLM, TensorRT-LLM and FlashInfer. Such a kernel is never padded or gated, whatever its
/// library.
bool is_communication(const char* kernel_name);

/// FNV-1a over the whole name, never zero: names of C++ kernels are longer than what is kept of them.
std::uint64_t name_hash(const char* kernel_name);

}  // namespace elbowroom::interposer
