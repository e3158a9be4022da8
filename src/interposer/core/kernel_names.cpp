#include "interposer/core/kernel_names.hpp"

#include <array>
#include <cstring>

namespace elbowroom::interposer {
namespace {

/// Found anywhere in the name: a mangled name carries its namespaces and lengths in front.
constexpr std::array<const char*, 20> kMarks = {
    // NCCL 2.19 and later, before, and its symmetric kernels; RCCL keeps NCCL's names.
    "ncclDevKernel",
    "ncclKernel",
    "ncclSym",
    "ncclDevFunc",
    "mscclKernel",
    "mscclppKernel",
    "rcclKernel",
    // NVSHMEM and what is built on it.
    "nvshmem",
    "rocshmem",
    "deep_ep",
    // All-reduces of inference engines and of PyTorch's symmetric memory.
    "cross_device_reduce",
    "oneShotAllReduce",
    "twoShotAllReduce",
    "lamportAllReduce",
    "one_shot_all_reduce",
    "two_shot_all_reduce",
    "multimem_all_",
    "multimem_one_shot",
    "allreduce_fusion_kernel",
    "userbuffers_fp16_sum",
};

}  // namespace

bool is_communication(const char* kernel_name) {
  if (kernel_name == nullptr) { return false; }
  for (const char* mark : kMarks) {
    if (std::strstr(kernel_name, mark) != nullptr) { return true; }
  }
  return false;
}

std::uint64_t name_hash(const char* kernel_name) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (; *kernel_name != '\0'; ++kernel_name) {
    hash ^= static_cast<unsigned char>(*kernel_name);
    hash *= 0x100000001b3U;
  }
  return hash == 0 ? 1 : hash;
}

}  // namespace elbowroom::interposer
