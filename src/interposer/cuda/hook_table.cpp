#include "interposer/cuda/hook_table.hpp"

#include <array>

#include "interposer/cuda/cublas_functions.hpp"
#include "interposer/cuda/hooked_functions.hpp"
#include "interposer/driver/hook_rows.hpp"
#include "interposer/nccl/functions.hpp"

namespace elbowroom::interposer::cuda {
using namespace process;
using interposer::driver::hook;
namespace {

template <auto Ours>
constexpr Hook driver(const char* symbol, const char* base, int since) {
  return hook<Ours>(symbol, base, since, DefaultStream::kNone, HookedLibrary::kDriver);
}

template <auto Ours>
constexpr Hook legacy(const char* symbol, const char* base, int since) {
  return hook<Ours>(symbol, base, since, DefaultStream::kLegacy, HookedLibrary::kDriver);
}

template <auto Ours>
constexpr Hook per_thread(const char* symbol, const char* base, int since) {
  return hook<Ours>(symbol, base, since, DefaultStream::kPerThread, HookedLibrary::kDriver);
}

template <auto Ours>
constexpr Hook library(const char* symbol, HookedLibrary owner) {
  return hook<Ours>(symbol, "", 0, DefaultStream::kNone, owner);
}

// Of the versions of one base name the newest stands first.
constexpr std::array kHooks{
    driver<&cuGetProcAddress_v2>("cuGetProcAddress_v2", "cuGetProcAddress", 12000),
    driver<&cuGetProcAddress>("cuGetProcAddress", "cuGetProcAddress", 11030),

    legacy<&cuLaunchKernel>("cuLaunchKernel", "cuLaunchKernel", 4000),
    per_thread<&cuLaunchKernel_ptsz>("cuLaunchKernel_ptsz", "cuLaunchKernel", 7000),
    legacy<&cuLaunchKernelEx>("cuLaunchKernelEx", "cuLaunchKernelEx", 11060),
    per_thread<&cuLaunchKernelEx_ptsz>("cuLaunchKernelEx_ptsz", "cuLaunchKernelEx", 11060),
    legacy<&cuLaunchCooperativeKernel>("cuLaunchCooperativeKernel", "cuLaunchCooperativeKernel", 9000),
    per_thread<&cuLaunchCooperativeKernel_ptsz>("cuLaunchCooperativeKernel_ptsz", "cuLaunchCooperativeKernel", 9000),

    driver<&cuGreenCtxStreamCreate>("cuGreenCtxStreamCreate", "cuGreenCtxStreamCreate", 12050),
    driver<&cuStreamDestroy_v2>("cuStreamDestroy_v2", "cuStreamDestroy", 4000),
    driver<&cuStreamDestroy>("cuStreamDestroy", "cuStreamDestroy", 2000),
    legacy<&cuStreamWaitEvent>("cuStreamWaitEvent", "cuStreamWaitEvent", 3020),
    per_thread<&cuStreamWaitEvent_ptsz>("cuStreamWaitEvent_ptsz", "cuStreamWaitEvent", 7000),

    legacy<&cuEventRecord>("cuEventRecord", "cuEventRecord", 2000),
    per_thread<&cuEventRecord_ptsz>("cuEventRecord_ptsz", "cuEventRecord", 7000),
    legacy<&cuEventRecordWithFlags>("cuEventRecordWithFlags", "cuEventRecordWithFlags", 11010),
    per_thread<&cuEventRecordWithFlags_ptsz>("cuEventRecordWithFlags_ptsz", "cuEventRecordWithFlags", 11010),
    driver<&cuIpcGetEventHandle>("cuIpcGetEventHandle", "cuIpcGetEventHandle", 4010),
    driver<&cuCtxRecordEvent>("cuCtxRecordEvent", "cuCtxRecordEvent", 12050),
    driver<&cuCtxWaitEvent>("cuCtxWaitEvent", "cuCtxWaitEvent", 12050),
    driver<&cuGreenCtxRecordEvent>("cuGreenCtxRecordEvent", "cuGreenCtxRecordEvent", 12040),
    driver<&cuGreenCtxWaitEvent>("cuGreenCtxWaitEvent", "cuGreenCtxWaitEvent", 12040),
    driver<&cuIpcOpenEventHandle>("cuIpcOpenEventHandle", "cuIpcOpenEventHandle", 4010),
    driver<&cuEventDestroy_v2>("cuEventDestroy_v2", "cuEventDestroy", 4000),
    driver<&cuEventDestroy>("cuEventDestroy", "cuEventDestroy", 2000),

    legacy<&cuLaunchHostFunc_v2>("cuLaunchHostFunc_v2", "cuLaunchHostFunc", 13020),
    per_thread<&cuLaunchHostFunc_v2_ptsz>("cuLaunchHostFunc_v2_ptsz", "cuLaunchHostFunc", 13020),
    legacy<&cuLaunchHostFunc>("cuLaunchHostFunc", "cuLaunchHostFunc", 10000),
    per_thread<&cuLaunchHostFunc_ptsz>("cuLaunchHostFunc_ptsz", "cuLaunchHostFunc", 10000),
    legacy<&cuStreamAddCallback>("cuStreamAddCallback", "cuStreamAddCallback", 5000),
    per_thread<&cuStreamAddCallback_ptsz>("cuStreamAddCallback_ptsz", "cuStreamAddCallback", 7000),
    legacy<&cuStreamWaitValue32_v2>("cuStreamWaitValue32_v2", "cuStreamWaitValue32", 11070),
    per_thread<&cuStreamWaitValue32_v2_ptsz>("cuStreamWaitValue32_v2_ptsz", "cuStreamWaitValue32", 11070),
    legacy<&cuStreamWaitValue32>("cuStreamWaitValue32", "cuStreamWaitValue32", 8000),
    per_thread<&cuStreamWaitValue32_ptsz>("cuStreamWaitValue32_ptsz", "cuStreamWaitValue32", 8000),
    legacy<&cuStreamWaitValue64_v2>("cuStreamWaitValue64_v2", "cuStreamWaitValue64", 11070),
    per_thread<&cuStreamWaitValue64_v2_ptsz>("cuStreamWaitValue64_v2_ptsz", "cuStreamWaitValue64", 11070),
    legacy<&cuStreamWaitValue64>("cuStreamWaitValue64", "cuStreamWaitValue64", 9000),
    per_thread<&cuStreamWaitValue64_ptsz>("cuStreamWaitValue64_ptsz", "cuStreamWaitValue64", 9000),
    legacy<&cuStreamBatchMemOp_v2>("cuStreamBatchMemOp_v2", "cuStreamBatchMemOp", 11070),
    per_thread<&cuStreamBatchMemOp_v2_ptsz>("cuStreamBatchMemOp_v2_ptsz", "cuStreamBatchMemOp", 11070),
    legacy<&cuStreamBatchMemOp>("cuStreamBatchMemOp", "cuStreamBatchMemOp", 8000),
    per_thread<&cuStreamBatchMemOp_ptsz>("cuStreamBatchMemOp_ptsz", "cuStreamBatchMemOp", 8000),
    legacy<&cuWaitExternalSemaphoresAsync>("cuWaitExternalSemaphoresAsync", "cuWaitExternalSemaphoresAsync", 10000),
    per_thread<&cuWaitExternalSemaphoresAsync_ptsz>("cuWaitExternalSemaphoresAsync_ptsz", "cuWaitExternalSemaphoresAsync", 10000),

    driver<&cuLaunchCooperativeKernelMultiDevice>("cuLaunchCooperativeKernelMultiDevice", "cuLaunchCooperativeKernelMultiDevice",
                                                  9000),
    driver<&cuEventCreateFromEGLSync>("cuEventCreateFromEGLSync", "cuEventCreateFromEGLSync", 9000),

    driver<&cuCtxDestroy_v2>("cuCtxDestroy_v2", "cuCtxDestroy", 4000),
    driver<&cuCtxDestroy>("cuCtxDestroy", "cuCtxDestroy", 2000),
    driver<&cuDevicePrimaryCtxReset_v2>("cuDevicePrimaryCtxReset_v2", "cuDevicePrimaryCtxReset", 11000),
    driver<&cuDevicePrimaryCtxReset>("cuDevicePrimaryCtxReset", "cuDevicePrimaryCtxReset", 7000),
    driver<&cuDevicePrimaryCtxRelease_v2>("cuDevicePrimaryCtxRelease_v2", "cuDevicePrimaryCtxRelease", 11000),
    driver<&cuDevicePrimaryCtxRelease>("cuDevicePrimaryCtxRelease", "cuDevicePrimaryCtxRelease", 7000),
    driver<&cuModuleUnload>("cuModuleUnload", "cuModuleUnload", 2000),
    driver<&cuLibraryUnload>("cuLibraryUnload", "cuLibraryUnload", 12000),

    legacy<&cuStreamBeginCapture_v2>("cuStreamBeginCapture_v2", "cuStreamBeginCapture", 10010),
    per_thread<&cuStreamBeginCapture_v2_ptsz>("cuStreamBeginCapture_v2_ptsz", "cuStreamBeginCapture", 10010),
    legacy<&cuStreamBeginCapture>("cuStreamBeginCapture", "cuStreamBeginCapture", 10000),
    per_thread<&cuStreamBeginCapture_ptsz>("cuStreamBeginCapture_ptsz", "cuStreamBeginCapture", 10000),
    legacy<&cuStreamBeginCaptureToGraph>("cuStreamBeginCaptureToGraph", "cuStreamBeginCaptureToGraph", 12030),
    per_thread<&cuStreamBeginCaptureToGraph_ptsz>("cuStreamBeginCaptureToGraph_ptsz", "cuStreamBeginCaptureToGraph", 12030),
    legacy<&cuStreamBeginRecaptureToGraph>("cuStreamBeginRecaptureToGraph", "cuStreamBeginRecaptureToGraph", 13000),
    per_thread<&cuStreamBeginRecaptureToGraph_ptsz>("cuStreamBeginRecaptureToGraph_ptsz", "cuStreamBeginRecaptureToGraph", 13000),
    legacy<&cuStreamBeginCaptureToCig>("cuStreamBeginCaptureToCig", "cuStreamBeginCaptureToCig", 13000),
    per_thread<&cuStreamBeginCaptureToCig_ptsz>("cuStreamBeginCaptureToCig_ptsz", "cuStreamBeginCaptureToCig", 13000),
    legacy<&cuStreamEndCaptureToCig>("cuStreamEndCaptureToCig", "cuStreamEndCaptureToCig", 13000),
    per_thread<&cuStreamEndCaptureToCig_ptsz>("cuStreamEndCaptureToCig_ptsz", "cuStreamEndCaptureToCig", 13000),
    legacy<&cuStreamEndCapture>("cuStreamEndCapture", "cuStreamEndCapture", 10000),
    per_thread<&cuStreamEndCapture_ptsz>("cuStreamEndCapture_ptsz", "cuStreamEndCapture", 10000),

    driver<&cuGraphInstantiateWithFlags>("cuGraphInstantiateWithFlags", "cuGraphInstantiateWithFlags", 11040),
    driver<&cuGraphInstantiateWithFlags>("cuGraphInstantiateWithFlags", "cuGraphInstantiate", 12000),  // by its older name
    legacy<&cuGraphInstantiateWithParams>("cuGraphInstantiateWithParams", "cuGraphInstantiateWithParams", 12000),
    per_thread<&cuGraphInstantiateWithParams_ptsz>("cuGraphInstantiateWithParams_ptsz", "cuGraphInstantiateWithParams", 12000),
    legacy<&cuGraphLaunch>("cuGraphLaunch", "cuGraphLaunch", 10000),
    per_thread<&cuGraphLaunch_ptsz>("cuGraphLaunch_ptsz", "cuGraphLaunch", 10000),

    library<&ncclGroupStart>("ncclGroupStart", HookedLibrary::kNccl),
    library<&ncclGroupEnd>("ncclGroupEnd", HookedLibrary::kNccl),
    library<&ncclGroupSimulateEnd>("ncclGroupSimulateEnd", HookedLibrary::kNccl),
    library<&ncclAllReduce>("ncclAllReduce", HookedLibrary::kNccl),
    library<&ncclReduce>("ncclReduce", HookedLibrary::kNccl),
    library<&ncclBcast>("ncclBcast", HookedLibrary::kNccl),
    library<&ncclBroadcast>("ncclBroadcast", HookedLibrary::kNccl),
    library<&ncclReduceScatter>("ncclReduceScatter", HookedLibrary::kNccl),
    library<&ncclAllGather>("ncclAllGather", HookedLibrary::kNccl),
    library<&ncclAlltoAll>("ncclAlltoAll", HookedLibrary::kNccl),
    library<&ncclGather>("ncclGather", HookedLibrary::kNccl),
    library<&ncclScatter>("ncclScatter", HookedLibrary::kNccl),
    library<&ncclSend>("ncclSend", HookedLibrary::kNccl),
    library<&ncclRecv>("ncclRecv", HookedLibrary::kNccl),
    library<&ncclCommInitRank>("ncclCommInitRank", HookedLibrary::kNccl),
    library<&ncclCommInitRankConfig>("ncclCommInitRankConfig", HookedLibrary::kNccl),
    library<&ncclCommInitRankScalable>("ncclCommInitRankScalable", HookedLibrary::kNccl),
    library<&ncclCommInitAll>("ncclCommInitAll", HookedLibrary::kNccl),
    library<&ncclCommSplit>("ncclCommSplit", HookedLibrary::kNccl),
    library<&ncclCommShrink>("ncclCommShrink", HookedLibrary::kNccl),
    library<&ncclCommGrow>("ncclCommGrow", HookedLibrary::kNccl),

    library<&cublasGemmEx>("cublasGemmEx", HookedLibrary::kCublas),
    library<&cublasGemmStridedBatchedEx>("cublasGemmStridedBatchedEx", HookedLibrary::kCublas),
    library<&cublasSgemm_v2>("cublasSgemm_v2", HookedLibrary::kCublas),
    library<&cublasSgemmStridedBatched>("cublasSgemmStridedBatched", HookedLibrary::kCublas),
};

bool begins_like_hooked(const char* name) { return (name[0] == 'c' && name[1] == 'u') || (name[0] == 'n' && name[1] == 'c'); }

constexpr HookTable kTable{kHooks, {"libcuda.so", "libnccl.so", "libcublas.so"}, &begins_like_hooked};

}  // namespace

const HookTable& hook_table() { return kTable; }

}  // namespace elbowroom::interposer::cuda
