#include "interposer/core/kernel_names.hpp"

#include <gtest/gtest.h>

namespace elbowroom::interposer {
namespace {

TEST(KernelNames, RecognisesCommunicationOfEveryLibrary) {
  for (const char* name : {
           "ncclDevKernel_AllReduce_Sum_bf16_RING_LL",
           // From 2.31.2 on names say no reduction and no protocol.
           "_Z33ncclDevKernel_AllReduce_bf16_RING24ncclDevKernelArgsStorageILm4096EE",
           "_Z29ncclDevKernel_AllGatherV_RING24ncclDevKernelArgsStorageILm4096EE",
           "_Z40ncclSymkDevKernel_AllGather_LLMC_profile21ncclSymkDevWorkArgs4K",
           "_ZN4meta5comms19ddaAllReduceFlatIpcIfLi8ELb0EEEvPKPT_S2_mPKS2_iNS0_13IpcGpuBarrierES6_",
           "_ZN5comms5pipes15allToAllvKernelEPvPKviNS0_10DeviceSpanINS0_9TransportEEE",
           "comms::pipes::allToAllvKernel(void*, void const*, int)",
           "_ZN10fbgemm_gpu14reduce_scatterILi8ELb0EEEviiiSt5arrayIPiLm8EE",
           "void fbgemm_gpu::reduce_scatter<8, false>(int, int, int)",
           "_helion_one_shot_allreduce_bias_rmsnorm_kernel",
           "two_shot_allreduce_kernel",
           "_Z40ncclDevKernel_AllReduce_Sum_f16_RING_LL24ncclDevKernelArgsStorageILm4096EE",
           "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)",
           "ncclSymkDevKernel_AllReduce_Sum_LDMC_bf16",
           "ncclSymDevKernel_AllGather_LL",
           "ncclDevKernel_SendRecv",
           "nvshmemi_transfer_rma_kernel",
           "_ZN7deep_ep9intranode8dispatchILi8ELi768EEEvP4int4",
           "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 4>(vllm::RankData*)",
           "one_shot_all_reduce_kernel",
           "_Z18allreduce_LL_1nodeIfEvPN7mscclpp25MemoryChannelDeviceHandleEPT_",
           "void mscclpp::collective::allreduceNvls<float>(...)",
           "_ZN8mooncake17enqueueTaskKernelEimlimPvPNS_4TaskEm",
           "void uccl::internode_ll::dispatch<true, 7168>(...)",
           "multimem_all_reduce_kernel",
           "kuserbuffers_pushrecv(int, int, int*, int*, int, unsigned long)",
           "kuserbuffers_pushsendrecv_multiatomic(int)",
           "userbuffers_fp16_sum_inplace_gpu_rr_rs_oop<8>",
           "c10d::symmetric_memory::barrier_kernel(unsigned int**, int, int, int, unsigned long)",
           "_ZN4c10d16symmetric_memoryL18wait_signal_kernelEPPjiiiim",
           "c10d::symmetric_memory::put_signal_kernel",
           "void tensorrt_llm::kernels::mnnvl::twoshot_allreduce_kernel<8, __nv_bfloat16>(...)",
           "void flashinfer::trtllm_mnnvl_allreduce::oneshotAllreduceFusionKernel<8>(...)",
           "void flashinfer::trtllm_mnnvl_allreduce::twoshotAllreduceKernel<4, __nv_bfloat16, true>(...)",
           "void stream_executor::gpu::AllReduceKernelImpl<float, (xla::ReductionKind)0>(...)",
           "void tensorrt_llm::kernels::moe_comm::moeAllToAllKernel<...>",
           "void tensorrt_llm::kernels::moe_a2a::moeA2ADispatchKernel<...>",
           "void quickreduce::allreduce_prototype_twoshot<...>",
           "void pplx::dispatchKernel",
           "a2a_combine_recv_kernel",
           "matmul_all_reduce_multimem_kernel",
           "_Z36barrier_on_stream_kernel_threadgroupIL13threadgroup_t1EEvii",
           "void hybrid_ep::dispatch_kernel<...>",
           "void mori::moe::EpDispatchIntraNodeKernel<float, false>(mori::moe::EpDispatchCombineArgs<float>)",
           "_ZN5aiter33reduce_scatter_cross_device_storeIDF16bLi8EEEvPNS_8RankDataENS_11RankSignalsEPNS_6SignalEii",
           "void tensorrt_llm::kernels::moe_prepare::allToAllMetadataDevice<...>",
           "tensorrt_llm::kernels::multiGpuBarrierKernel(tensorrt_llm::kernels::AllReduceParams)",
           "void c10d::intra_node_comm::hybridCubeMeshAllReduceKernel<true>(...)",
           "void (anonymous namespace)::all_reduce_one_shot_push_kernel<__half, 4u, true>((anonymous "
           "namespace)::AllReducePushData, ...)",
           "_Z14my_alltoall_kP12ncclWindow_vS0_m11ncclDevComm",
           "NvshmemSendSignals(int, unsigned long*, int*, int*, unsigned long)",
           "_ZN9turbomind4comm22Allreduce_Simple_PullI6__halfEEvPT_",
           "void turbomind::comm::Broadcast_NVLS_V2<__nv_bfloat16>(...)",
           "void ggml_cuda_ar_kernel<float, __half>(...)",
           "_Z20pg_all_reduce_kernelP9PGContextj",
           "pg_barrier_kernel(PGContext*, unsigned int)",
           "void push_pull_halos_1d_kernel<int4, true>(...)",
           "_ZN9deep_gemm27sm100_fp8_fp4_mega_moe_implILj512ELj7168EEEvPvPi",
           "void tensorrt_llm::kernels::helixAllToAllKernel<true>(...)",
           "_multimem_reduce_scatter_kernel",
           "multimem_fused_rs_res_rms_ag_kernel",
           "_Z30wait_until_on_stream_and_resetPmmm",
           "_ZN9bytedance4flux23CudaIpcBarrierAllKernelENS0_21CudaIpcBarrierAllArgsE",
           "bytedance::flux::set_ready_kernel(int*)",
           "_Z22pg_broadcast_ll_kernelP9PGContextPhm",
           "void magi_attn_comm::grpcoll::intranode::group_cast_kernel<...>",
           "void flashinfer::mixed_comm::fused_allreduce<...>(flashinfer::mixed_comm::MixedCommArgs<4, 2, __half>)",
           "void cutlass::device_kernel<cutlass::gemm::kernel::GemmARUniversal<...>>(...)",
           "barrier_all_ipc_kernel_v2",
           "nccl_ep_jit_ht_dispatch_kernel",
           "_ZN7nixl_ep10ep_kernels8dispatchILb1ELi7168EEEvPvS2_",
           "_ZN4mori10collective26OneShotAllGatherSdmaKernelIfEEviiPT_",
           "OneShotAll2allSdmaAsyncPutKernel_u32",
           "_ZN12tensorrt_llm7kernels34lowPrecisionTwoShotAllReduceKernelI6__half13__nv_fp8_e4m3Li4EEEvNS0_"
           "27LowPrecisionAllReduceParamsE",
           "_ZN4vllm12tensorrt_llm33minimax_reduce_rms_kernel_lamportI6__halfLi4EEEvNS0_22MiniMaxReduceRMSParamsE",
           "_ZN7cutlass13device_kernelINS_11distributed6kernel28DistributedGemmKernelWrapperINS_"
           "4gemm6kernel13GemmUniversalEEEEEvNT_6ParamsE",
           "_ZN7cutlass11distributed6kernel19full_barrier_kernelILi8EjLi8EjEEvNS_5ArrayIPT0_XT_EEE",
           "_device_barrier_kernel",
           "_ZN12tensorrt_llm7kernels16reduce_fusionL39one_shot_prenorm_all_reduce_norm_kernelI6__halfLi8ELb0ELb0EEEvNS0_"
           "15AllReduceParamsE",
           "_Z19nhwc_batch_norm_fwdI5uint4Li512ELi16ELi10ELi10ELi4ELi1ELi1ELb0ELb0ELi2EEv22NhwcBatchNormFwdParams",
           "void nhwc_batch_norm_bwd_relu<...>(NhwcBatchNormBwdParams)",
           "barrier_all_intra_node_non_atomic_block",
           "kernel_consumer_gemm_persistent",
           "_forward_push_2d_ll_kernel",
           "_forward_push_2d_ll_multimem_kernel",
           "_forward_push_3d_kernel",
           "_forward_push_numa_2d_ll_multinode_kernel",
           "_forward_pull_kernel",
           "all_to_all_kernel",
           "all_to_all_v_2d_inter_node_kernel",
           "all_gather_push_2d_kernel",
           "kernel_all2all_push_intra_node_nvl",
           "kernel_all2all_pull_intra_node_nvl",
           "allreduce_one_shot_tma_push_intra_node_kernel",
           "allreduce_two_shot_multimem_st_intra_node_kernel",
           "allreduce_double_tree_intra_node_kernel",
           "reduce_scatter_ring_push_1d_intra_node_kernel",
           "reduce_topk_reduce_scatter_a2a_intra_node_kernel",
           "_copy_and_reset_and_barrier_all_kernel",
           "reset_signal_and_barrier_all_kernel",
           "kernel_get_ag_splits_and_recv_offset_intra_node",
           "_Z36ctranKernelAllReduceHierarchicalRingI6__halfL9commRedOp0EEvPiP20CtranAlgoDeviceStateN5ctran9allreduce10KernelArgsE",
           "_Z22allreduce_kernel_vec32I11NvlsFp32OpsEvP24ucc_tl_cuda_nvls_controlS2_jmmPvmj",
           "void stream_executor::gpu::MultiGpuBarrierKernelImpl<(stream_executor::gpu::PlatformType)0>(...)",
           "_Z18ubx_kernel_barrieriiPiS_P17ncclWindow_vidmem",
           "_Z23ubx_kernel_allgather_mciiiPiS_P5uint4S1_",
           "_Z24flagcxLsaAllReduceKernelI13__nv_bfloat16Li16EEv12flagcxDevMemmPvm13flagcxRedOp_t13flagcxDevComm",
           "_Z32ubx_kernel_alltoall_lamport_polliiP5uint4S0_",
           "_ZN10flashinfer4comm8pcie_ipc25push_oneshot_param_kernelI13__nv_bfloat16Li4ELb1EEEvNS1_20PushOneshotParamDataIT_EE",
           "_ZN10flashinfer4comm8pcie_ipc26ipc_rsag_push_param_kernelI13__nv_bfloat16Li4ELb1EEEvNS1_20PushOneshotParamDataIT_EE",
           "_ZN10flashinfer4comm8pcie_ipc31ipc_rsag_ring_push_param_kernelI13__nv_bfloat16Li4ELb1EEEvNS1_20PushOneshotParamDataIT_"
           "EE",
           "_ZN12_GLOBAL__N_118wait_prefix_kernelEN10flashinfer9sm90_push10PushLayoutEPKiPiPlS5_S5_S5_S5_S5_S5_ii",
           "_ZN12_GLOBAL__N_119wait_combine_kernelEN10flashinfer9sm90_push10PushLayoutEPKi",
           "_ZN12_GLOBAL__N_127parallel_qknorm_across_headINS_11KernelTraitI13__nv_bfloat16Lj4ELl6144ELl1024ELb1EEEEEvNS_"
           "20ParallelQKNormParamsEN6device11distributed14PushControllerE",
           "_ZN12tensorrt_llm3_v17kernels11kimi_k3_moe12_GLOBAL__N_123kimi_k3_moe_tail_kernelILi8ELb0EEEvNS2_"
           "19KimiK3MoeTailParamsE",
           "_ZN12tensorrt_llm3_v17kernels11kimi_k3_moe12_GLOBAL__N_128kimi_k3_stripe_ag_add_kernelILi8ELb0EEEvNS2_"
           "20KimiK3StripeAgParamsE",
           "_ZN12tensorrt_llm7kernels24twoshot_allreduce_kernelILi8E13__nv_bfloat16EEvPT0_S4_PS4_S4_iiiiPjb",
           "_ZN4mori10collective22OneShotAllReduceKernelI13__nv_bfloat16EEviiNS_11application13SymmMemObjPtrES4_S4_",
           "_ZN4mori10collective23SdmaReduceScatterKernelI13__nv_bfloat16EEviiPKT_NS_11application13SymmMemObjPtrES7_PNS0_"
           "14CrossPeBarrierEm",
           "_ZN4mori5shmem12_static_init15_barrier_kernelEv",
           "_ZN5aiter13ar_ll_gfx1250I13__nv_bfloat16Li8EEEvPKPT_S3_PKS2_miPj",
           "_ZN5aiter35allreduce_rmsnorm_prototype_twoshotINS_16AllReduceTwoshotE13__nv_bfloat16EEvPKT0_S5_PS3_S6_",
           "_ZN5comms5prims15allToAllvKernelEPvPKviNS0_10DeviceSpanINS0_9TransportEEENS4_INS0_9ChunkInfoEEES8_NS0_11AbortDeviceE",
           "_ZN5comms5prims7link_ep7kernels12_GLOBAL__N_125intranode_dispatch_kernelILi8ELi768EEEvP4int4PfPi",
           "_ordered_reduce_scatter_v_kernel",
           "_fused_metadata_kernel",
           "_fp8_blockscale_2shot_kernel",
           "barrier_triton_kernel",
           "kernel_dispatch_token",
           "dispatch_kernel_v2",
           "combine_kernel_v2",
           "kernel_pre_attn_qkv_pack_a2a",
           "_ZN9intranode7barrierEv",
           "void comms::prims::send_recv_kernel<4>(comms::prims::Transport*)",
       }) {
    EXPECT_TRUE(is_communication(name)) << name;
  }
}

constexpr const char* kAsyncInput =
    "_ZN7cutlass13device_kernelINS_4gemm6kernel13GemmUniversalIN4cute5tupleIJiiiiEEEvvNS1_29PersistentAsyncInputSchedulerI"
    "NS1_38KernelTmaWarpSpecializedCooperativeEEEEEEEvNT_6ParamsE";

TEST(KernelNames, WhatComputesAsWellMayNotGoFirst) {
  for (const char* name :
       {"_ZN9deep_gemm28sm100_fp8_fp4_mega_moe_implE", "_ZN12tensorrt_llm7kernels16GemmARUniversalE",
        "_ZN7cutlass11distributed6kernel28DistributedGemmKernelWrapperE", "all_reduce_weights",
        "kernel_consumer_gemm_non_persistent", "kernel_consumer_m_parallel_scatter_group_gemm", "kernel_all_to_all_gemm_consumer",
        "_matmul_kernel_tma_persistent_w_progress", "gemm_reduce_scatter_kernel", kAsyncInput, "wait_signal_matmul_triton_kernel",
        "consumer_all_reduce_kernel", "consumer_all_reduce_load_store_kernel", "reduce_topk_allreduce_kernel",
        "mega_kernel_moe_grouped_gemm_combine_token", "_xformers_seqpar_matmul_kernel"}) {
    EXPECT_FALSE(may_go_first(name)) << name;
  }
  EXPECT_TRUE(may_go_first("ncclDevKernel_AllReduce_Sum_bf16_RING_LL") && may_go_first("one_shot_all_reduce_kernel"));
  EXPECT_FALSE(may_go_first(nullptr));
}

TEST(KernelNames, ProductsThatWaitForCopiesCommunicate) {
  for (const char* name :
       {"kernel_consumer_gemm_non_persistent", "kernel_consumer_m_parallel_scatter_group_gemm", "kernel_all_to_all_gemm_consumer",
        "_matmul_kernel_tma_persistent_w_progress", "gemm_reduce_scatter_kernel", kAsyncInput, "wait_signal_matmul_triton_kernel",
        "consumer_all_reduce_kernel", "consumer_all_reduce_load_store_kernel", "reduce_topk_allreduce_kernel",
        "mega_kernel_moe_grouped_gemm_combine_token", "_xformers_seqpar_matmul_kernel"}) {
    EXPECT_TRUE(is_communication(name)) << name;
  }
}

TEST(KernelNames, RecognisesWhatSpinsUntilTheHostStores) {
  EXPECT_TRUE(waits_for_host("_ZN4c10d4cuda6detail14kernel_barrierEPim"));
  EXPECT_TRUE(
      waits_for_host("_ZN12tensorrt_llm7kernels29moeWaitSignalForGpuStageKernelEPNS0_31MoeLoadBalanceSingleLayerSignalEPi"));
  EXPECT_TRUE(waits_for_host("_Z9asyncLoadPVKb"));
  EXPECT_TRUE(waits_for_host("_ZN2Al8internal4cuda16spin_wait_kernelEiPVi"));
  EXPECT_TRUE(waits_for_host("_Z22flagcxCollectiveKernelPv"));
  EXPECT_TRUE(waits_for_host("_Z11wait_kernelPV28ucc_ec_cuda_executor_state_t"));
  EXPECT_TRUE(waits_for_host("_ZN63_GLOBAL__N__2f9ab_18_cuda_wait_value_cu16wait_flag_kernelEPKii"));
  for (const char* name : {static_cast<const char*>(nullptr), "", "kernel_barrier", "ncclDevKernel_SendRecv"}) {
    EXPECT_FALSE(waits_for_host(name));
  }
}

TEST(KernelNames, LeavesComputeAlone) {
  for (const char* name : {"nvjet_sm90_tst_192x192_64x3_2x1_v_bz_coopA_TNN", "triton_poi_fused_gelu_0", "reduce_kernel", "",
                           "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor>", "all_reduce_weights",
                           "moeA2ASanitizeExpertIds", "permute_for_all_to_all", "forward_push_kernel", "multi_tensor_push_forward",
                           "void nhwc_batch_norm_fwd_inference<...>(NhwcBatchNormFwdInferenceParams)"}) {
    EXPECT_FALSE(is_communication(name)) << name;
  }
  EXPECT_FALSE(is_communication(nullptr));
}

TEST(KernelNames, HashTellsNamesApart) {
  EXPECT_NE(name_hash("a"), name_hash("b"));
  EXPECT_EQ(name_hash("gemm"), name_hash("gemm"));
  // FNV-1a of no bytes is its offset basis.
  EXPECT_EQ(name_hash(""), 0xcbf29ce484222325U);
}

}  // namespace
}  // namespace elbowroom::interposer
