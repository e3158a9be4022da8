#pragma once

#include "interposer/cuda/driver_abi.hpp"

/// Every function that the library defines under a name of another library, declared as there. hook_table.cpp lists them all,
/// and the library exports what it lists. In a `_ptsz` or `_ptds` entry point stream 0 is the calling thread's own default stream.
namespace cu = elbowroom::interposer::cuda::cu;

#pragma GCC visibility push(default)
extern "C" {

// Ways to a driver function. dlsym itself is in process/routes.cpp.
int cuGetProcAddress(const char* symbol, void** found, int version, std::uint64_t flags);
int cuGetProcAddress_v2(const char* symbol, void** found, int version, std::uint64_t flags, int* status);

// Launches.
int cuLaunchKernel(cu::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x, unsigned block_y,
                   unsigned block_z, unsigned shared_bytes, cu::Stream stream, void** parameters, void** extra);
int cuLaunchKernel_ptsz(cu::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                        unsigned block_y, unsigned block_z, unsigned shared_bytes, cu::Stream stream, void** parameters,
                        void** extra);
int cuLaunchKernelEx(const cu::LaunchConfig* config, cu::Function function, void** parameters, void** extra);
int cuLaunchKernelEx_ptsz(const cu::LaunchConfig* config, cu::Function function, void** parameters, void** extra);
int cuLaunchCooperativeKernel(cu::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                              unsigned block_y, unsigned block_z, unsigned shared_bytes, cu::Stream stream, void** parameters);
int cuLaunchCooperativeKernel_ptsz(cu::Function function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                                   unsigned block_y, unsigned block_z, unsigned shared_bytes, cu::Stream stream, void** parameters);

// Streams.
int cuGreenCtxStreamCreate(cu::Stream* stream, cu::GreenContext context, unsigned flags, int priority);
int cuStreamDestroy(cu::Stream stream);
int cuStreamDestroy_v2(cu::Stream stream);
int cuStreamWaitEvent(cu::Stream stream, cu::Event event, unsigned flags);
int cuStreamWaitEvent_ptsz(cu::Stream stream, cu::Event event, unsigned flags);

// Events.
int cuEventRecord(cu::Event event, cu::Stream stream);
int cuEventRecord_ptsz(cu::Event event, cu::Stream stream);
int cuEventRecordWithFlags(cu::Event event, cu::Stream stream, unsigned flags);
int cuEventRecordWithFlags_ptsz(cu::Event event, cu::Stream stream, unsigned flags);
int cuIpcGetEventHandle(cu::IpcEventHandle* handle, cu::Event event);
int cuCtxRecordEvent(cu::Context context, cu::Event event);
int cuCtxWaitEvent(cu::Context context, cu::Event event);
int cuGreenCtxRecordEvent(cu::GreenContext context, cu::Event event);
int cuGreenCtxWaitEvent(cu::GreenContext context, cu::Event event);
int cuIpcOpenEventHandle(cu::Event* event, cu::IpcEventHandle handle);
int cuEventDestroy(cu::Event event);
int cuEventDestroy_v2(cu::Event event);

// What a stream waits for that no stream does.
int cuLaunchHostFunc(cu::Stream stream, void (*function)(void*), void* data);
int cuLaunchHostFunc_ptsz(cu::Stream stream, void (*function)(void*), void* data);
int cuLaunchHostFunc_v2(cu::Stream stream, void (*function)(void*), void* data, unsigned mode);
int cuLaunchHostFunc_v2_ptsz(cu::Stream stream, void (*function)(void*), void* data, unsigned mode);
int cuStreamAddCallback(cu::Stream stream, void (*callback)(cu::Stream, int, void*), void* data, unsigned flags);
int cuStreamAddCallback_ptsz(cu::Stream stream, void (*callback)(cu::Stream, int, void*), void* data, unsigned flags);
int cuStreamWaitValue32(cu::Stream stream, cu::DevicePointer address, std::uint32_t value, unsigned flags);
int cuStreamWaitValue32_ptsz(cu::Stream stream, cu::DevicePointer address, std::uint32_t value, unsigned flags);
int cuStreamWaitValue32_v2(cu::Stream stream, cu::DevicePointer address, std::uint32_t value, unsigned flags);
int cuStreamWaitValue32_v2_ptsz(cu::Stream stream, cu::DevicePointer address, std::uint32_t value, unsigned flags);
int cuStreamWaitValue64(cu::Stream stream, cu::DevicePointer address, std::uint64_t value, unsigned flags);
int cuStreamWaitValue64_ptsz(cu::Stream stream, cu::DevicePointer address, std::uint64_t value, unsigned flags);
int cuStreamWaitValue64_v2(cu::Stream stream, cu::DevicePointer address, std::uint64_t value, unsigned flags);
int cuStreamWaitValue64_v2_ptsz(cu::Stream stream, cu::DevicePointer address, std::uint64_t value, unsigned flags);
int cuStreamBatchMemOp(cu::Stream stream, unsigned count, void* operations, unsigned flags);
int cuStreamBatchMemOp_ptsz(cu::Stream stream, unsigned count, void* operations, unsigned flags);
int cuStreamBatchMemOp_v2(cu::Stream stream, unsigned count, void* operations, unsigned flags);
int cuStreamBatchMemOp_v2_ptsz(cu::Stream stream, unsigned count, void* operations, unsigned flags);
int cuWaitExternalSemaphoresAsync(const void* semaphores, const void* parameters, unsigned count, cu::Stream stream);
int cuWaitExternalSemaphoresAsync_ptsz(const void* semaphores, const void* parameters, unsigned count, cu::Stream stream);

// What ends the interposer's acts.
int cuLaunchCooperativeKernelMultiDevice(void* launches, unsigned devices, unsigned flags);
int cuEventCreateFromEGLSync(cu::Event* event, void* sync, unsigned flags);

// What ends the life of a handle.
int cuCtxDestroy(cu::Context context);
int cuCtxDestroy_v2(cu::Context context);
int cuDevicePrimaryCtxReset(cu::Device device);
int cuDevicePrimaryCtxReset_v2(cu::Device device);
int cuDevicePrimaryCtxRelease(cu::Device device);
int cuDevicePrimaryCtxRelease_v2(cu::Device device);
int cuModuleUnload(cu::Module module);
int cuLibraryUnload(cu::Library library);

// Stream capture.
int cuStreamBeginCapture(cu::Stream stream);
int cuStreamBeginCapture_ptsz(cu::Stream stream);
int cuStreamBeginCapture_v2(cu::Stream stream, int mode);
int cuStreamBeginCapture_v2_ptsz(cu::Stream stream, int mode);
int cuStreamBeginCaptureToGraph(cu::Stream stream, cu::Graph graph, const cu::GraphNode* dependencies,
                                const cu::GraphEdgeData* edges, std::size_t count, int mode);
int cuStreamBeginCaptureToGraph_ptsz(cu::Stream stream, cu::Graph graph, const cu::GraphNode* dependencies,
                                     const cu::GraphEdgeData* edges, std::size_t count, int mode);
int cuStreamBeginRecaptureToGraph(cu::Stream stream, int mode, cu::Graph graph, void* callback, void* data);
int cuStreamBeginRecaptureToGraph_ptsz(cu::Stream stream, int mode, cu::Graph graph, void* callback, void* data);
int cuStreamBeginCaptureToCig(cu::Stream stream, void* parameters);
int cuStreamBeginCaptureToCig_ptsz(cu::Stream stream, void* parameters);
int cuStreamEndCaptureToCig(cu::Stream stream);
int cuStreamEndCaptureToCig_ptsz(cu::Stream stream);
int cuStreamEndCapture(cu::Stream stream, cu::Graph* graph);
int cuStreamEndCapture_ptsz(cu::Stream stream, cu::Graph* graph);

// Graphs.
int cuGraphInstantiateWithFlags(cu::GraphExec* exec, cu::Graph graph, unsigned long long flags);
int cuGraphInstantiateWithParams(cu::GraphExec* exec, cu::Graph graph, cu::GraphInstantiateParams* parameters);
int cuGraphInstantiateWithParams_ptsz(cu::GraphExec* exec, cu::Graph graph, cu::GraphInstantiateParams* parameters);
int cuGraphLaunch(cu::GraphExec exec, cu::Stream stream);
int cuGraphLaunch_ptsz(cu::GraphExec exec, cu::Stream stream);

}  // extern "C"
#pragma GCC visibility pop
