#pragma once

#include "interposer/hip/hip_abi.hpp"

/// Every function that the library defines under a name of the HIP runtime, declared as there. hook_table.cpp lists them all,
/// and the library exports what it lists. In a `_spt` entry point stream 0 is the calling thread's own default stream.
namespace hip = elbowroom::interposer::hip;

#pragma GCC visibility push(default)
extern "C" {

// A way to a function of the runtime. dlsym is in process/routes.cpp.
int hipGetProcAddress(const char* symbol, void** found, int version, std::uint64_t flags, int* status);

// Launches of a kernel that the program names by its host function; <<<>>> makes them as well.
int hipLaunchKernel(const void* function, hip::Dim3 grid, hip::Dim3 block, void** arguments, std::size_t shared_bytes,
                    hip::Stream stream);
int hipLaunchKernel_spt(const void* function, hip::Dim3 grid, hip::Dim3 block, void** arguments, std::size_t shared_bytes,
                        hip::Stream stream);
int hipExtLaunchKernel(const void* function, hip::Dim3 grid, hip::Dim3 block, void** arguments, std::size_t shared_bytes,
                       hip::Stream stream, hip::Event start, hip::Event stop, int flags);
int hipLaunchCooperativeKernel(const void* function, hip::Dim3 grid, hip::Dim3 block, void** arguments, unsigned shared_bytes,
                               hip::Stream stream);
int hipLaunchCooperativeKernel_spt(const void* function, hip::Dim3 grid, hip::Dim3 block, void** arguments,
                                   std::uint32_t shared_bytes, hip::Stream stream);
int hipLaunchKernelExC(const hip::LaunchConfig* config, const void* function, void** arguments);
int hipLaunchCooperativeKernelMultiDevice(hip::LaunchParams* launches, int count, unsigned flags);
int hipExtLaunchMultiKernelMultiDevice(hip::LaunchParams* launches, int count, unsigned flags);

// Launches of a module's kernel.
int hipModuleLaunchKernel(hip::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                          unsigned block_y, unsigned block_z, unsigned shared_bytes, hip::Stream stream, void** parameters,
                          void** extra);
int hipModuleLaunchCooperativeKernel(hip::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                     unsigned block_y, unsigned block_z, unsigned shared_bytes, hip::Stream stream,
                                     void** parameters);
int hipDrvLaunchKernelEx(const hip::ModuleLaunchConfig* config, hip::Function function, void** parameters, void** extra);
/// Counts work in threads. It is exported with and without C linkage.
int hipExtModuleLaunchKernel(hip::Function function, std::uint32_t work_x, std::uint32_t work_y, std::uint32_t work_z,
                             std::uint32_t block_x, std::uint32_t block_y, std::uint32_t block_z, std::size_t shared_bytes,
                             hip::Stream stream, void** parameters, void** extra, hip::Event start, hip::Event stop,
                             std::uint32_t flags);
int elbowroom_ext_module_launch(
    hip::Function function, std::uint32_t work_x, std::uint32_t work_y, std::uint32_t work_z, std::uint32_t block_x,
    std::uint32_t block_y, std::uint32_t block_z, std::size_t shared_bytes, hip::Stream stream, void** parameters, void** extra,
    hip::Event start, hip::Event stop,
    std::uint32_t flags) asm("_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j");

// Streams.
int hipExtStreamCreateWithCUMask(hip::Stream* stream, std::uint32_t words, const std::uint32_t* mask);
int hipExecutionCtxStreamCreate(hip::Stream* stream, hip::ExecutionContext context, unsigned flags, int priority);
int hipStreamDestroy(hip::Stream stream);
int hipStreamWaitEvent(hip::Stream stream, hip::Event event, unsigned flags);
int hipStreamWaitEvent_spt(hip::Stream stream, hip::Event event, unsigned flags);

// Events.
int hipEventRecord(hip::Event event, hip::Stream stream);
int hipEventRecord_spt(hip::Event event, hip::Stream stream);
int hipEventRecordWithFlags(hip::Event event, hip::Stream stream, unsigned flags);
int hipEventDestroy(hip::Event event);

// What ends the life of a handle.
int hipDeviceReset();
int hipDevicePrimaryCtxReset(hip::Device device);
int hipModuleUnload(hip::Module module);
void __hipUnregisterFatBinary(void** modules);
int hipLibraryUnload(hip::Library library);

// Stream capture.
int hipStreamBeginCapture(hip::Stream stream, int mode);
int hipStreamBeginCapture_spt(hip::Stream stream, int mode);
int hipStreamBeginCaptureToGraph(hip::Stream stream, hip::Graph graph, const hip::GraphNode* dependencies, const void* edges,
                                 std::size_t count, int mode);
int hipStreamEndCapture(hip::Stream stream, hip::Graph* graph);
int hipStreamEndCapture_spt(hip::Stream stream, hip::Graph* graph);

// Graphs.
int hipGraphLaunch(hip::GraphExec exec, hip::Stream stream);
int hipGraphLaunch_spt(hip::GraphExec exec, hip::Stream stream);

}  // extern "C"
#pragma GCC visibility pop
