#include <gtest/gtest.h>

#include <initializer_list>

#include "interposer/core/kernel_names.hpp"

// Kernels of libraries, as the driver has their names: read in the sources of about 75 repositories in November 2026.

namespace elbowroom::interposer {
namespace {

enum class Kind { kLocal, kCollective, kComputesAsWell, kWaitsForHost };

Kind kind_of(const char* name) {
  if (waits_for_host(name)) { return Kind::kWaitsForHost; }
  if (!is_communication(name)) { return Kind::kLocal; }
  return may_go_first(name) ? Kind::kCollective : Kind::kComputesAsWell;
}

void expect_each(Kind kind, std::initializer_list<const char*> names) {
  for (const char* name : names) { EXPECT_EQ(kind_of(name), kind) << name; }
}

TEST(KernelNamesOfLibraries, WaitForOtherGpus) {
  expect_each(
      Kind::kCollective,
      {
          "_Z12ll_ar_kernelPKjPjiPcixS1_",
          "_Z16pg_gather_kernelP9PGContextjiiPhS1_7OffsetsiS1_mmPj",
          "_Z22pg_gather_small_kernelP9PGContextjiiPhS1_7OffsetsiS1_mPj",
          "_Z23syncneighborhood_kerneliiPml",
          "_Z24pg_all_reduce_cpu_kernelILi1EEvP9PGContextjiiPhS2_mmbPj",
          "_Z29pg_all_reduce_cpu_recv_kernelILi1EEvP9PGContextiPhS2_mmPj",
          "_Z30all_reduce_norm_barrier_kernelPfS_PjS0_j",
          "_ZL10PutDataEndiiPiPmS_",
          "_ZL32WaitSignalsFromLocallyAccessibleiPiPmPKc",
          "_ZL34WaitAndPutDataToRemotelyAccessibleiPiPcS_PKcS_Pmi",
          "_ZN10flash_comm2ep9intranode7kernels28kernel_barrier_all_on_streamIiEEvPPvii",
          "_ZN10flash_comm2ep9intranode7kernels30kernel_compute_dispatch_layoutILi8EEEvPiS4_S4_PS4_S5_",
          "_ZN10flashinfer23trtllm_allgather_fusion39allgather_fusion_kernel_oneshot_lamportILNS0_22AllGatherFusionPatternE0E6__"
          "halfLi8ELb1EEEvNS0_21AllGatherFusionParamsIT0_EESt5arrayIiXT1_EES8_",
          "_ZN10flashinfer27trtllm_reducescatter_fusion40reducescatter_fusion_kernel_twoshot_syncI6__halfLi8EEEvNS0_"
          "25ReduceScatterFusionParamsIT_EE",
          "_ZN12_GLOBAL__N_121all_reduce_mhc_kernelEPK5uint4S2_PKf",
          "_ZN12_GLOBAL__N_123wait_lse_combine_kernelI13__nv_bfloat16EEvPKT_PKfPKjPKlPS2_lllllb",
          "_ZN12_GLOBAL__N_135direct_dcp_q_gather_multimem_kernelEPK5uint4PS0_PjPKj",
          "_ZN12_GLOBAL__N_135fused_norm_rope_pcp_dispatch_kernelI6__halfEEvPKlPKT_",
          "_ZN12_GLOBAL__N_136direct_dcp_kv_gather_multimem_kernelEPK5uint4PKiPS0_PjPKj",
          "_ZN3gmx29fusedPulsesPackXAndSendKernelEP6float3PNS_20FusedGpuHaloExchange16HaloExchangeDataEPmmPjiS0_S0_S0_i",
          "_ZN3hpc9allreduce7kernels14rmsNormLamportI13__nv_bfloat16S3_Li1EEEvPT_PT0_",
          "_ZN3hpc9allreduce7kernels30fused_allreduce_rmsnorm_kernelILi8ELi4096ELi512EEEvPK13__nv_bfloat16S5_",
          "_ZN4quda8Kernel1DINS_17shmem_signal_waitENS_21shmem_signal_wait_argImEELb0EEEvT0_",
          "_ZN4quda8Kernel3DINS_11GhostPackerENS_12PackGhostArgELb1EEEvT0_",
          "_ZN4vllm6low_sm19peer_barrier_kernelILNS0_13DoorbellPhaseE0ELb1EEEvNS0_12KernelParamsE",
          "_ZN7HugeCTR11gpu_barrier18sync_all_gpus_cudaEPPmmmb",
          "_ZN7HugeCTR11gpu_barrier38sync_all_gpus_report_host_and_inc_cudaEPPmS1_S1_mmb",
          "_ZN7HugeCTRL15all_reduce_cudaILi8E6__halfEEvPPviPmS4_S4_PS4_iii",
          "_ZN7HugeCTRL15wait_completionEPmS0_iii",
          "_ZN7HugeCTRL22all_reduce_cuda_singleILi8E6__halfEEvPPviPmPS4_i",
          "_ZN7HugeCTRL9wait_recvEPmS0_ii",
          "_ZN7kittens2py13global_kernelIN18all_gather_barrier6configENS2_7globalsEXadL_ZNS2_6kernelERKS4_EEEEvT0_",
          "_ZN7kittens2py13global_kernelIN18all_reduce_barrier6configENS2_7globalsEXadL_ZNS2_6kernelERKS4_EEEEvT0_",
          "_ZN7kittens2py13global_kernelIN18all_to_all_barrier6configENS2_7globalsEXadL_ZNS2_6kernelERKS4_EEEEvT0_",
          "_ZN7kittens2py13global_kernelIN29matmul_reduce_scatter_barrier6configENS2_7globalsEXadL_ZNS2_6kernelERKS4_EEEEvT0_",
          "_ZN7rtp_llm23allreduce_kernel_1stageI13__nv_bfloat16Li8ELi512ELi0EEEvNS_21AllReduceFusionParamsIT_EENS_"
          "14CommDeviceMetaIXT0_EEEPNS_8CommPtrsE",
          "_ZN7rtp_llm23allreduce_kernel_2stageI13__nv_bfloat16Li8ELi512ELi0EEEvNS_21AllReduceFusionParamsIT_EENS_"
          "14CommDeviceMetaIXT0_EEEPNS_8CommPtrsE",
          "on_device_a2av_kernel",
          "dispatch_main_kernel",
          "notify_dispatch_main_kernel",
          "cached_notify_dispatch_main_kernel",
          "cached_dispatch_main_kernel",
          "combine_main_kernel",
          "cached_notify_combine_main_kernel",
          "p2p_wait_signal",
          "cp_from_recv_buf",
          "exchange_split_offset_2d_intra_node",
          "kernel_build_fused_dispatch_metadata",
          "allgather_kernel",
          "allgather_strided_chunked_kernel",
          "allgather_strided_chunked_pull_fused_kernel",
          "allgather_opt_kernel",
          "barrier_all_kernel",
          "barrier_all_kernel_v2",
          "OneShotAllGatherSdmaParamContiguousKernel_u32",
          "OneShotAllGatherSdmaSubGroupKernel_u32",
          "OneShotBroadcastSdmaSubGroupKernel_u32",
          "SdmaReduceScatterKernel_f32",
          "SdmaOneShotAllreduceKernel_bf16",
          "AllGatherSdmaFromProtectedKernel_f32",
          "InterNodeRingAllGatherKernel_u32",
          "FusedRingLocalGatherKernel_u32",
          "FusedRingRemoteGatherKernel_u32",
          "kernel_cutlass_kernel___main__AllReduceOneShotLamportKernel_object_at___tensorptrf32gmem",
          "kernel_cutlass_kernel___main__AllReduceTmaKernel_object_at___tensorptrf32gmem",
          "kernel_cutlass_kernel___main__SyncNvlDevices_object_at___0",
          "kernel_cutlass_dispatch_kernel_tensorptri8gmem",
          "kernel_cutlass_kernel_tokenspeed_kernelthirdpartycute_dsllatent_moe_tailallreduce_rmsnorm_reduce_scatter_early_"
          "exitAllReduceRMSNormWithReduceScatterEarlyExit_object_at__",
          "_mxfp8_all_to_all_v_kernel",
          "_dp_sampling_swap_barrier_kernel",
          "_dp_sampling_gather_barrier_kernel",
          "nvidia_rsag_reduce_scatter_kernel",
          "nvidia_rsag_all_gather_kernel",
          "nvidia_rsag_all_gather_kernel_inner",
          "amd_all_reduce_kernel",
          "allreduce_1stage_bfloat16_8",
          "EpDispatchIntraNodeKernel_bf16",
          "EpCombineIntraNodeKernel_bf16_p2p",
          "mori_shmem_barrier_all_block",
          "_allreduce_2stage_kernel",
          "allreduce_lamport_rmsnorm_bfloat16_8",
          "reducescatter_bfloat16_8",
          "allgather_p2p_bfloat16",
          "allgather_rmsnorm_bfloat16",
          "broadcast_pull_1stage_kernel",
          "broadcast_multimem_bfloat16",
          "_ZN4vllm25fused_rs_ln_ag_cta_kernelIN3c108BFloat16ELi8EEEvPT_",
          "_ZN4vllm22fused_rs_ag_cta_kernelIN3c108BFloat16ELi8EEEvPT_",
          "amd_allreduce_residual_rmsnorm_kernel",
          "iris_reduce_symmetric_gluon_kernel",
          "_two_shot_quantized_allreduce_kernel",
          "_all_gather_kernel_inner",
          "_argmax_scatter_kernel",
          "moe_reduce_rs_symm_mem_kernel",
          "persistent_all_reduce_spinlock",
          "persistent_all_reduce_ring",
          "persistent_all_gather_ring",
          "persistent_reduce_ring",
          "ag_nvl_kernel",
          "_ZN4c10d14nccl_extension27nccl_wait_for_signal_kernelEPPvim",
          "_reduce_insert_kernel",
          "_gather_norm_kernel",
          "kernel_cutlass_kernel_vllmkimi_k3LamportCopy_object_at__",
          "kernel_cutlass_kernel_vllmkimi_k3DcpValue_object_at__",
          "dispatch_prologue_kernel_0",
          "niin_stream_wait_until_kernel",
          "OneShotAllGatherSdmaKernel_u32",
          "OneShotAll2allSdmaAsyncPutKernel",
          "void kittens::py::global_kernel<all_reduce_barrier::config>()",
      });
}

TEST(KernelNamesOfLibraries, ComputeAsWell) {
  expect_each(
      Kind::kComputesAsWell,
      {
          "_Z13worker_kernel13RuntimeConfig",
          "_Z16kernel_wait_flagiPi",
          "_Z17persistent_kernel13RuntimeConfig",
          "_Z26dispatch_group_gemm_kernel7globals",
          "_ZN3gmxL12reduceKernelILb1ELb0EEEvPK6float3S3_PS1_PKiiPmm",
          "_ZN4quda8Kernel3DINS_14dslash_functorENS_18dslash_functor_argINS_6wilsonENS_9packShmemELi1ELb0ELb1ELNS_"
          "10KernelTypeE4ENS_4WArgEEELb0EEEvT0_",
          "_ZN8flashmoe3moe7forwardILj1EEEvPKvPvt",
          "_helion_fp8_matmul_reduce_scatter_kernel",
          "_helion_matmul_reduce_scatter_kernel",
          "_helion_two_dim_parallel_matmul_kernel",
          "_helion_helion_matmul_w_progress",
          "_helion_helion_matmul_w_progress_fp8",
          "gemm_one_shot_all_reduce_kernel",
          "ag_gemm_kernel",
          "kernel_consumer_gemm_persistent",
          "_ZN9deep_gemm33sm100_fp8_fp4_mega_moe_situ_implILj512EEEvPv",
          "kernel_cutlass_kernel_vllmgemm_rs_arSm100GemmRsArBF16_object_at__",
          "kernel_cutlass_kernel_vllmkimi_k3OprojConsumer_object_at__",
          "reduce_nvlink_kernel",
          "moe_ag_scatter_grouped_gemm_kernel",
          "gather_rs_kernel",
          "kernel_fused_gemm_allreduce",
          "kernel_fused_ag_gemm",
          "kernel_cutlass_kernel___main__Sm100PersistentDenseGemmAllReduceLDMCxSTMCKernel_object_at___TiledMMA",
          "kernel_cutlass_kernel___main__Sm100PersistentDenseGemmAllReduceLamportKernel_object_at___TiledMMA",
          "kernel_cutlass_kernel___main__Sm100PersistentDenseGemmAllReduceLDxSTMCKernel_object_at___TiledMMA",
          "kernel_cutlass_kernel___main__Sm100PersistentBlockScaleDenseGemmAllReduceLDMCxSTMCKernel_object_at___TiledMMA",
          "kernel_cutlass_kernel___main__Sm100PersistentDenseGemmReduceScatterLDMCKernel_object_at___TiledMMA",
          "kernel_cutlass_kernel_flashinfercute_dslgemm_allreduce_two_shotPersistentDenseGemmKernel_object_at___TiledMMA",
          "kernel_cutlass_kernel_flashinfermoe_epkernel_srccutedsl_megamoesrcmoe_nvfp4_swapabmegamoe_kernelSm100MegaMoEKernel_"
          "object_at__",
          "kernel_cutlass_kernel_tensorrt_llm_torchcute_dsl_kernelscutedsl_megamoekernel_srcblackwellinferencemegablock_scaled_"
          "swap_ab_mega_moe_kernelX_object_at__",
          "kernel_cutlass_kernel_flash_commep_overlapkernelsm_contiguous_cutedsl_group_gemmMoeGroupGemmKernelMContig_object_at__",
          "consumer_bf16_a_block_fp8_matmul",
          "dispatch_grouped_gemm_kernel_0",
          "grouped_gemm_combine_kernel_0",
          "multiGpuConjugateGradient",
          "kernel_cutlass_kernel_flashinfermoe_epkernel_srccutedsl_megamoe_object_at__",
      });
}

TEST(KernelNamesOfLibraries, WaitForTheHost) {
  expect_each(Kind::kWaitsForHost, {
                                       "_Z15executor_kernelPV20ucc_ec_rocm_executori",
                                       "_Z15kernel_progressP18docaXferCompletionP9docaNotifS2_S2_Pj",
                                       "_Z20moe_flag_wait_kernelPjjS_",
                                       "_ZN15stream_executor3gpu12_GLOBAL__N_111DelayKernelEPVNS0_17GpuSemaphoreStateES2_",
                                   });
}

// Neighbours of the marks that wait for nobody.
TEST(KernelNamesOfLibraries, LeaveTheirLocalKernelsAlone) {
  expect_each(
      Kind::kLocal,
      {
          "_prepare_megamoe_inputs_kernel",
          "_norm_quant_megamoe_nvfp4_kernel",
          "_deepseek_v4_stage_mega_moe_inputs_kernel",
          "moe_ag_scatter_align_block_size_kernel",
          "_ZN7kittens2py13global_kernelIN9gemm_h1006configENS2_7globalsEEEvT0_",
          "_ZN4quda8Kernel3DINS_14dslash_functorENS_18dslash_functor_argINS_6wilsonELi1ELNS_10KernelTypeE5ENS_4WArgEEEEEvT0_",
          "_ZN3gmxL12reduceKernelILb0ELb0EEEvPK6float3S3_PS1_PKiiPmm",
          "grouped_gemm_kernel",
          "fused_metadata",
      });
}

}  // namespace
}  // namespace elbowroom::interposer
