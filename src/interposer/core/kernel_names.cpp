#include "interposer/core/kernel_names.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace elbowroom::interposer {
namespace {

/// Found anywhere in the name: a mangled name carries its namespaces and lengths in front. Each with the library whose kernels have
/// it, and where that one defines them.
struct Mark {
  const char* text;
  const char* source;
};
constexpr Mark kMarks[] = {
    {"ncclDevKernel", "NCCL from 2.19 on, RCCL: src/device"},
    {"ncclKernel", "NCCL before 2.19: src/collectives/device"},
    {"ncclSym", "NCCL: src/device/symmetric"},
    {"ncclDevFunc", "NCCL, RCCL: src/device"},
    {"mscclKernel", "RCCL with MSCCL: src/device/msccl_kernel_impl.h"},
    {"mscclpp", "MSCCL++, and who gives its kernels channels of it: RCCL, SGLang's mscclpp_allreduce.cuh"},
    {"rcclKernel", "RCCL"},
    {"ncclDevComm", "NCCL from 2.28 on: a parameter of every kernel that a program writes for its device interface"},
    {"nccl_ep", "NCCL: contrib/nccl_ep, whose generated kernels have a name without parameters, nccl_ep_jit_ht_dispatch_kernel"},
    {"nvshmem", "NVSHMEM"},
    {"Nvshmem", "PETSc: src/vec/is/sf, whose kernels send and await signals by NVSHMEM"},
    {"_on_stream_kernel", "NVSHMEM: barriers and collectives on a stream, barrier_on_stream_kernel_threadgroup"},
    {"rocshmem", "rocSHMEM"},
    {"deep_ep", "DeepEP: csrc/kernels, namespace deep_ep"},
    {"hybrid_ep", "DeepEP: branch hybrid-ep, namespace hybrid_ep"},
    {"nixl_ep", "NIXL: examples/device/ep, namespace nixl_ep"},
    {"EpDispatchCombineArgs", "MORI: a parameter of its dispatch and combine"},
    {"SdmaKernel", "MORI: namespace mori::collective, OneShotAllGatherSdmaKernel"},
    {"SdmaAsync", "the same in two halves, OneShotAll2allSdmaAsyncPutKernel"},
    {"uccl", "UCCL: ep, namespace uccl"},
    {"mooncake", "Mooncake: its dispatch and combine, and its process group, whose kernels wait for threads of the host"},
    {"cross_device_reduce", "vLLM, SGLang, aiter: custom_all_reduce.cuh"},
    {"RankSignals", "the same and what aiter made of it: a parameter, as of reduce_scatter_cross_device_store"},
    {"all_reduce_one_shot", "SGLang: all_reduce_one_shot_kernel, all_reduce_one_shot_push_kernel"},
    {"all_reduce_two_shot", "SGLang: the same for two steps"},
    {"turbomind4comm", "LMDeploy: namespace turbomind::comm, mangled"},
    {"turbomind::comm", "the same, as a profiler has it"},
    {"ggml_cuda_ar_", "llama.cpp: ggml-cuda/allreduce.cu"},
    {"pg_all_reduce_kernel", "ExLlamaV3: its process group within one program"},
    {"pg_barrier_kernel", "the same"},
    {"push_pull_halos", "Apex: contrib/csrc/peer_memory"},
    {"NhwcBatchNormFwdParams", "Apex: contrib/csrc/groupbn, a parameter of nhwc_batch_norm_fwd, which waits for its peers"},
    {"NhwcBatchNormBwdParams", "the same, of nhwc_batch_norm_bwd and nhwc_batch_norm_bwd_relu"},
    {"quickreduce", "vLLM, SGLang, aiter on ROCm: csrc/quickreduce, namespace quickreduce"},
    {"allreduce_prototype_twoshot", "the same kernel, whatever its namespace: csrc/quickreduce/quick_reduce.h"},
    {"oneShotAllReduce", "TensorRT-LLM: kernels/customAllReduceKernels.cu"},
    {"one_shot_prenorm_all_reduce", "TensorRT-LLM: kernels/customAllReduceKernels.cu, one_shot_prenorm_all_reduce_norm_kernel"},
    {"twoShotAllReduce", "TensorRT-LLM: kernels/customAllReduceKernels.cu"},
    {"lamportAllReduce", "TensorRT-LLM: kernels/customAllReduceKernels.cu"},
    {"lowPrecisionTwoShot", "TensorRT-LLM: communicationKernels/customLowPrecisionAllReduceKernels.cu"},
    {"MiniMaxReduceRMSParams", "TensorRT-LLM, vLLM: a parameter of minimax_reduce_rms_kernel_lamport and its kin"},
    {"oneshotAllreduce", "FlashInfer, TensorRT-LLM: trtllm_mnnvl_allreduce.cuh, oneshotAllreduceFusionKernel"},
    {"twoshotAllreduce", "FlashInfer, TensorRT-LLM: trtllm_mnnvl_allreduce.cuh, twoshotAllreduceKernel"},
    {"mnnvl", "TensorRT-LLM, FlashInfer: namespaces of all-reduces over several nodes' NVLink"},
    {"allreduce_fusion_kernel", "FlashInfer, TensorRT-LLM: trtllm_allreduce_fusion.cuh"},
    {"moeA2ADispatchKernel", "TensorRT-LLM, FlashInfer: communicationKernels/moeAlltoAllKernels.cu"},
    {"moeA2ACombineKernel", "TensorRT-LLM, FlashInfer: communicationKernels/moeAlltoAllKernels.cu"},
    {"moeAllToAllKernel", "TensorRT-LLM: namespace moe_comm"},
    {"allToAllMetadataDevice", "TensorRT-LLM: namespace moe_prepare"},
    {"multiGpuBarrierKernel", "TensorRT-LLM: kernels/customAllReduceKernels.cu"},
    {"a2a_dispatch_", "pplx-kernels, pplx-garden: a2a_dispatch_send_kernel, a2a_dispatch_recv_kernel"},
    {"a2a_combine_", "pplx-kernels, pplx-garden: a2a_combine_send_kernel, a2a_combine_recv_kernel"},
    {"pplx", "pplx-kernels: namespace pplx"},
    {"symmetric_memory", "PyTorch: torch/csrc/distributed/c10d, namespace c10d::symmetric_memory"},
    {"hybridCubeMeshAllReduce", "PyTorch 2.3 to 2.5: intra_node_comm.cu"},
    {"wait_signal_kernel", "PyTorch: symmetric memory, CUDASymmetricMemory.cu"},
    {"put_signal_kernel", "PyTorch: symmetric memory, CUDASymmetricMemory.cu"},
    {"one_shot_all_reduce", "PyTorch: symmetric memory, CUDASymmetricMemoryOps.cu; XLA"},
    {"two_shot_all_reduce", "PyTorch: symmetric memory, CUDASymmetricMemoryOps.cu"},
    {"multimem_all_", "PyTorch: symmetric memory, CUDASymmetricMemoryOps.cu"},
    {"multimem_one_shot", "PyTorch: symmetric memory, multimem_one_shot_all_reduce_kernel"},
    {"MultiGpuBarrierKernel", "XLA: stream_executor::gpu, multi_gpu_barrier_kernel.cu.h"},
    {"AllReduceKernelImpl", "XLA: stream_executor::gpu, all_reduce_kernel_lib.cu.h"},
    {"userbuffers_", "TransformerEngine: userbuffers.cu, userbuffers_fp16_sum_* and kuserbuffers_*"},
    {"wait_until_on_stream", "TransformerEngine: nvshmem_api, wait_until_on_stream_and_reset"},
    {"helixAllToAll", "TensorRT-LLM, FlashInfer: helixAllToAllKernel"},
    {"multimem_reduce_scatter", "Megatron-Core: its Triton kernels over symmetric memory"},
    {"multimem_fused_rs", "forks of Megatron-Core: a reduce-scatter, norm and gather in one kernel"},
    {"CudaIpcBarrier", "Flux: CudaIpcBarrierAllKernel"},
    {"pg_broadcast", "ExLlamaV3: pg_broadcast_kernel, pg_broadcast_ll_kernel"},
    {"magi_attn_comm", "MagiAttention: namespace magi_attn_comm::grpcoll"},
    {"MixedCommArgs", "FlashInfer: a parameter of the kernels of mixed_comm"},
    {"full_barrier_kernel", "the same: a barrier before these products"},
    {"barrier_all_ipc", "Triton-distributed, Primus-Turbo: barrier_all_ipc_kernel"},
    {"barrier_all_intra_node", "Triton-distributed: kernels/nvidia/common_ops.py, barrier_all_intra_node_atomic_cas_block"},
    {"kernel_consumer_gemm_persistent", "Triton-distributed: allgather_gemm.py, a product that waits for what other GPUs copy"},
    {"forward_push_2d", "Triton-distributed: kernels/nvidia/low_latency_allgather.py, as _forward_push_2d_ll_kernel"},
    {"forward_push_3d", "the same, over several nodes"},
    {"forward_push_numa_2d", "the same, of two halves of a node"},
    {"_forward_pull_kernel", "the same, which reads what its peers have"},
    {"all_to_all_kernel", "Triton-distributed: low_latency_all_to_all.py, which waits for its peers' signals; Iris"},
    {"all_to_all_v_2d", "Triton-distributed: all_to_all_vdev_2d_offset.py"},
    {"all_gather_push_2d", "Triton-distributed: sp_ag_attention_inter_node.py"},
    {"kernel_all2all_pu", "Triton-distributed: sp_ulysess_*.py, kernel_all2all_push_intra_node_nvl and its pull"},
    {"allreduce_one_shot", "Triton-distributed: allreduce.py"},
    {"allreduce_two_shot", "the same for two steps"},
    {"allreduce_double_tree", "the same over two trees"},
    {"reduce_scatter_ring_push", "Triton-distributed: reduce_scatter.py"},
    {"reduce_topk_reduce_scatter", "Triton-distributed: moe_reduce_rs.py, over a ring or all to all"},
    {"and_barrier_all_kernel", "Triton-distributed: copies and resets with a barrier of all ranks behind"},
    {"kernel_get_ag_splits_and_recv_offset", "Triton-distributed: ep_a2a.py, which gathers what experts get"},
    {"device_barrier_kernel", "Iris: _device_barrier_kernel"},
    {"CtranAlgoDeviceState", "NCCLX: a parameter of its ctran kernels, as of ctranKernelAllReduceHierarchicalRing"},
    {"IpcGpuBarrier", "torchcomms: comms/common/algorithms, RCCL from 2.30 on: a parameter of ddaAllReduceFlatIpc and its kin"},
    {"5comms5pipes", "torchcomms: namespace comms::pipes, mangled, as of allToAllvKernel"},
    {"comms::pipes", "the same, as a profiler has it"},
    {"5comms5prims", "torchcomms since 2026: namespace comms::prims, which comms::pipes became, mangled"},
    {"comms::prims", "the same, as a profiler has it"},
    {"fbgemm_gpu14reduce_scatter", "FBGEMM: experimental/gen_ai/src/comm/car.cu, mangled"},
    {"fbgemm_gpu::reduce_scatter", "the same, as a profiler has it"},
    {"one_shot_allreduce", "Helion: examples/distributed; Iris and aiter spell it so as well"},
    {"two_shot_allreduce", "the same for two steps"},
    {"ordered_reduce_scatter", "Megatron-Core: inference/moe/batch_invariant.py, _ordered_reduce_scatter_v_kernel"},
    {"_fused_metadata_kernel", "Megatron-Core: inference/moe/metadata.py, which waits for the counts of its peers"},
    {"ubx_kernel_", "NCCL: contrib/nccl_ubx, as ubx_kernel_barrier"},
    {"pcie_ipc", "FlashInfer: comm/pcie_ipc_all_reduce.cuh, namespace flashinfer::comm::pcie_ipc"},
    {"PushLayout", "FlashInfer: moe_ep, a parameter of wait_prefix_kernel and wait_combine_kernel"},
    {"fp8_blockscale_2shot", "FlashInfer: comm/quantized_allreduce.py"},
    {"barrier_triton_kernel", "FlashInfer: comm/all_gather_matmul"},
    {"kimi_k3_moe", "TensorRT-LLM: communicationKernels/kimiK3MoeTailFusion.cu, namespace kimi_k3_moe"},
    {"twoshot_allreduce", "TensorRT-LLM: lowlatTwoShotAllreduceKernels.cu; its namesake in mnnvl"},
    {"PushController",
     "SGLang: jit_kernel/csrc/distributed, a parameter of kernels whose peers push, as of parallel_qknorm_across_head"},
    {"kernel_dispatch_token", "Triton-distributed: ep_a2a.py"},
    {"dispatch_kernel_v2", "Triton-distributed: low_latency_all_to_all_v2.py"},
    {"combine_kernel_v2", "the same"},
    {"attn_qkv_pack_a2a", "Triton-distributed: ulysses_sp_dispatch.py"},
    {"flagcxDevComm", "FlagCX: a parameter of kernels of its device interface, as of flagcxLsaAllReduceKernel"},
    {"9intranode7barrier", "UCCL: ep/src/ep_runtime.cu, intranode::barrier, whose namespace is not uccl; DeepEP, mangled"},
    {"SymmMemObjPtr", "MORI: a parameter of its collectives, as of OneShotAllReduceKernel"},
    {"4mori5shmem", "MORI: shmem.hpp, barriers of all ranks, mangled"},
    {"ar_ll_gfx", "aiter: custom_all_reduce_gfx1250.cuh, ar_ll_gfx1250"},
    {"allreduce_rmsnorm_prototype", "aiter: quick_all_reduce.cuh, with a norm behind"},
    {"ucc_tl_cuda_nvls", "UCC: components/tl/cuda/kernels, a parameter of its collectives by multicast"},
};

/// Of those that compute as well.
constexpr Mark kFused[] = {
    {"all_reduce_multimem", "a product and its all-reduce in one kernel"},
    {"mega_moe_impl", "DeepGEMM: dispatch, products and combine in one kernel over symmetric memory"},
    {"kernel_consumer_gemm_non_persistent", "Triton-distributed: allgather_gemm.py, a product that waits for what other GPUs copy"},
    {"kernel_consumer_m_parallel_scatter_group_gemm", "Triton-distributed: allgather_group_gemm.py, which does so too"},
    {"kernel_all_to_all_gemm_consumer", "Triton-distributed: all_to_all_single_gemm.py, which does so too"},
    {"PersistentAsyncInputScheduler",
     "PyTorch: c10d/cuda/AsyncMM.cu, a product that waits for what copies store behind its launch"},
    {"matmul_kernel_tma_persistent_w_progress",
     "kraken: fused/all_gather_matmul.py, a product that waits for copies of peers' shards"},
    {"gemm_reduce_scatter_kernel", "kraken: fused/gemm_reduce_scatter_fused.py, a product and its reduce-scatter"},
    {"bytedance4flux", "Flux: namespace bytedance::flux, mangled"},
    {"bytedance::flux", "the same, as a profiler has it"},
    {"DistributedGemmKernelWrapper", "CUTLASS: experimental/distributed, products whose blocks wait for what other GPUs copy"},
    {"consumer_all_reduce", "Triton-distributed: gemm_allreduce.py, which waits for the product beside it and for its peers"},
    {"consumer_ring_all_reduce", "the same over a ring"},
    {"reduce_topk_allreduce", "Triton-distributed: moe_reduce_ar.py, which does so too"},
    {"mega_kernel_moe_grouped_gemm_combine", "Triton-distributed: ep_all2all_fused.py, products and the combine in one kernel"},
    {"wait_signal_matmul", "FlashInfer: comm/all_gather_matmul, a product that waits for what its peers store"},
    {"seqpar_matmul", "xFormers, older releases: sequence_parallel_fused_kernels.py, which does so too"},
    {"CollectiveAllReduce", "TensorRT-LLM: the epilogue of a product that adds up over ranks"},
    {"GemmARUniversal", "TensorRT-LLM: a product and its all-reduce in one kernel"},
};

/// Of kernels that spin until the host stores something.
constexpr Mark kHostWaits[] = {
    {"ucc_ec_cuda_executor", "UCC: components/ec/cuda, a parameter of kernels that run until the host ends them"},
    {"wait_flag_kernel", "SGLang: jit_kernel/csrc/cuda_wait_value.cuh"},
    {"moeWaitSignalForGpuStage", "TensorRT-LLM: kernels/moeLoadBalance, which waits for the host's weights of experts"},
    {"flagcxCollectiveKernel", "FlagCX: a kernel that reduces until the host ends it"},
    {"asyncLoadPVKb", "FlagCX: adaptor/kernels, launched by deviceAsyncLoad"},
    {"c10d4cuda6detail14kernel_barrier", "PyTorch from 2.9 on: Work.block_current_stream, c10d/cuda/StreamBlock.cu"},
};

template <std::size_t size>
bool has_mark(const Mark (&marks)[size], const char* kernel_name) {
  return std::any_of(std::begin(marks), std::end(marks),
                     [&](const Mark& mark) { return std::strstr(kernel_name, mark.text) != nullptr; });
}

}  // namespace

bool is_communication(const char* kernel_name) {
  return kernel_name != nullptr && (has_mark(kMarks, kernel_name) || has_mark(kFused, kernel_name));
}

bool may_go_first(const char* kernel_name) { return is_communication(kernel_name) && !has_mark(kFused, kernel_name); }

bool waits_for_host(const char* kernel_name) { return kernel_name != nullptr && has_mark(kHostWaits, kernel_name); }

std::uint64_t name_hash(const char* kernel_name) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (; *kernel_name != '\0'; ++kernel_name) {
    hash ^= static_cast<unsigned char>(*kernel_name);
    hash *= 0x100000001b3U;
  }
  return hash == 0 ? 1 : hash;
}

}  // namespace elbowroom::interposer
