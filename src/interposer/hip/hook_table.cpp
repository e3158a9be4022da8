#include "interposer/hip/hook_table.hpp"

#include <array>

#include "interposer/driver/hook_rows.hpp"
#include "interposer/hip/hooked_functions.hpp"
#include "interposer/nccl/functions.hpp"

namespace elbowroom::interposer::hip {
using namespace process;
namespace {

// Which of its forms came with which version of the runtime is not known here.
template <auto Ours>
constexpr Hook hook(const char* symbol, const char* base, DefaultStream stream, HookedLibrary owner = HookedLibrary::kDriver) {
  return driver::hook<Ours>(symbol, base, 0, stream, owner);
}

template <auto Ours>
constexpr Hook runtime(const char* symbol) {
  return hook<Ours>(symbol, symbol, DefaultStream::kNone);
}

template <auto Ours>
constexpr Hook legacy(const char* symbol) {
  return hook<Ours>(symbol, symbol, DefaultStream::kLegacy);
}

// hipGetProcAddress finds it by `base` where the program asks for per-thread forms.
template <auto Ours>
constexpr Hook per_thread(const char* symbol, const char* base) {
  return hook<Ours>(symbol, base, DefaultStream::kPerThread);
}

// Exported without C linkage.
template <auto Ours>
constexpr Hook unnamed(const char* symbol) {
  return hook<Ours>(symbol, "", DefaultStream::kLegacy);
}

template <auto Ours>
constexpr Hook library(const char* symbol) {
  return hook<Ours>(symbol, "", DefaultStream::kNone, HookedLibrary::kNccl);
}

constexpr std::array kHooks{
    runtime<&hipGetProcAddress>("hipGetProcAddress"),
    legacy<&hipLaunchKernel>("hipLaunchKernel"),
    per_thread<&hipLaunchKernel_spt>("hipLaunchKernel_spt", "hipLaunchKernel"),
    legacy<&hipExtLaunchKernel>("hipExtLaunchKernel"),
    legacy<&hipLaunchCooperativeKernel>("hipLaunchCooperativeKernel"),
    per_thread<&hipLaunchCooperativeKernel_spt>("hipLaunchCooperativeKernel_spt", "hipLaunchCooperativeKernel"),
    legacy<&hipLaunchKernelExC>("hipLaunchKernelExC"),
    runtime<&hipLaunchCooperativeKernelMultiDevice>("hipLaunchCooperativeKernelMultiDevice"),
    runtime<&hipExtLaunchMultiKernelMultiDevice>("hipExtLaunchMultiKernelMultiDevice"),
    legacy<&hipModuleLaunchKernel>("hipModuleLaunchKernel"),
    legacy<&hipModuleLaunchCooperativeKernel>("hipModuleLaunchCooperativeKernel"),
    legacy<&hipDrvLaunchKernelEx>("hipDrvLaunchKernelEx"),
    legacy<&hipExtModuleLaunchKernel>("hipExtModuleLaunchKernel"),
    unnamed<&elbowroom_ext_module_launch>(
        "_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j"),
    runtime<&hipExtStreamCreateWithCUMask>("hipExtStreamCreateWithCUMask"),
    runtime<&hipExecutionCtxStreamCreate>("hipExecutionCtxStreamCreate"),
    runtime<&hipStreamDestroy>("hipStreamDestroy"),
    legacy<&hipStreamWaitEvent>("hipStreamWaitEvent"),
    per_thread<&hipStreamWaitEvent_spt>("hipStreamWaitEvent_spt", "hipStreamWaitEvent"),
    legacy<&hipEventRecord>("hipEventRecord"),
    per_thread<&hipEventRecord_spt>("hipEventRecord_spt", "hipEventRecord"),
    legacy<&hipEventRecordWithFlags>("hipEventRecordWithFlags"),
    runtime<&hipEventDestroy>("hipEventDestroy"),
    runtime<&hipDeviceReset>("hipDeviceReset"),
    runtime<&hipDevicePrimaryCtxReset>("hipDevicePrimaryCtxReset"),
    runtime<&hipModuleUnload>("hipModuleUnload"),
    runtime<&__hipUnregisterFatBinary>("__hipUnregisterFatBinary"),
    runtime<&hipLibraryUnload>("hipLibraryUnload"),
    legacy<&hipStreamBeginCapture>("hipStreamBeginCapture"),
    per_thread<&hipStreamBeginCapture_spt>("hipStreamBeginCapture_spt", "hipStreamBeginCapture"),
    legacy<&hipStreamBeginCaptureToGraph>("hipStreamBeginCaptureToGraph"),
    legacy<&hipStreamEndCapture>("hipStreamEndCapture"),
    per_thread<&hipStreamEndCapture_spt>("hipStreamEndCapture_spt", "hipStreamEndCapture"),
    legacy<&hipGraphLaunch>("hipGraphLaunch"),
    per_thread<&hipGraphLaunch_spt>("hipGraphLaunch_spt", "hipGraphLaunch"),

    library<&ncclGroupStart>("ncclGroupStart"),
    library<&ncclGroupEnd>("ncclGroupEnd"),
    library<&ncclAllReduce>("ncclAllReduce"),
    library<&ncclReduce>("ncclReduce"),
    library<&ncclBcast>("ncclBcast"),
    library<&ncclBroadcast>("ncclBroadcast"),
    library<&ncclReduceScatter>("ncclReduceScatter"),
    library<&ncclAllGather>("ncclAllGather"),
    library<&ncclGather>("ncclGather"),
    library<&ncclScatter>("ncclScatter"),
    library<&ncclSend>("ncclSend"),
    library<&ncclRecv>("ncclRecv"),
};

bool begins_like_hooked(const char* name) {
  return (name[0] == 'h' && name[1] == 'i') || (name[0] == 'n' && name[1] == 'c') || (name[0] == '_' && name[1] == 'Z');
}

constexpr HookTable kTable{kHooks, {"libamdhip64.so", "librccl.so", ""}, &begins_like_hooked};

}  // namespace

const HookTable& hook_table() { return kTable; }

}  // namespace elbowroom::interposer::hip
