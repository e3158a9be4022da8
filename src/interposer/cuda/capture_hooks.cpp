#include "interposer/driver/capture_hooks.hpp"

#include "interposer/core/unusual.hpp"
#include "interposer/cuda/hooked_functions.hpp"
#include "interposer/cuda/interposer.hpp"

namespace elbowroom::interposer::cuda {
namespace {

using CaptureHooks = driver::CaptureHooks<Driver>;

// Kernels may launch such a graph, and an update may give it a collective. What follows on the streams of these kernels stands
// behind it, and nobody tells when.
void tell_of_device_launches(std::uint64_t flags) {
  if ((flags & cu::kInstantiateDeviceLaunch) != 0) { stand_aside(Unusual::device_launch); }
}

}  // namespace
}  // namespace elbowroom::interposer::cuda

using namespace elbowroom::interposer::cuda;

int cuStreamBeginCapture(cu::Stream stream) { return CaptureHooks::begin<&cuStreamBeginCapture>(kLegacy, stream); }
int cuStreamBeginCapture_ptsz(cu::Stream stream) { return CaptureHooks::begin<&cuStreamBeginCapture_ptsz>(kPerThread, stream); }
int cuStreamBeginCapture_v2(cu::Stream stream, int mode) {
  return CaptureHooks::begin<&cuStreamBeginCapture_v2>(kLegacy, stream, mode);
}
int cuStreamBeginCapture_v2_ptsz(cu::Stream stream, int mode) {
  return CaptureHooks::begin<&cuStreamBeginCapture_v2_ptsz>(kPerThread, stream, mode);
}
int cuStreamBeginCaptureToGraph(cu::Stream stream, cu::Graph graph, const cu::GraphNode* dependencies,
                                const cu::GraphEdgeData* edges, std::size_t count, int mode) {
  return CaptureHooks::begin<&cuStreamBeginCaptureToGraph>(kLegacy, stream, graph, dependencies, edges, count, mode);
}
int cuStreamBeginCaptureToGraph_ptsz(cu::Stream stream, cu::Graph graph, const cu::GraphNode* dependencies,
                                     const cu::GraphEdgeData* edges, std::size_t count, int mode) {
  return CaptureHooks::begin<&cuStreamBeginCaptureToGraph_ptsz>(kPerThread, stream, graph, dependencies, edges, count, mode);
}
int cuStreamBeginRecaptureToGraph(cu::Stream stream, int mode, cu::Graph graph, void* callback, void* data) {
  return CaptureHooks::begin<&cuStreamBeginRecaptureToGraph>(kLegacy, stream, mode, graph, callback, data);
}
int cuStreamBeginRecaptureToGraph_ptsz(cu::Stream stream, int mode, cu::Graph graph, void* callback, void* data) {
  return CaptureHooks::begin<&cuStreamBeginRecaptureToGraph_ptsz>(kPerThread, stream, mode, graph, callback, data);
}
int cuStreamBeginCaptureToCig(cu::Stream stream, void* parameters) {
  return CaptureHooks::begin<&cuStreamBeginCaptureToCig>(kLegacy, stream, parameters);
}
int cuStreamBeginCaptureToCig_ptsz(cu::Stream stream, void* parameters) {
  return CaptureHooks::begin<&cuStreamBeginCaptureToCig_ptsz>(kPerThread, stream, parameters);
}
int cuStreamEndCaptureToCig(cu::Stream stream) { return CaptureHooks::end<&cuStreamEndCaptureToCig>(kLegacy, stream); }
int cuStreamEndCaptureToCig_ptsz(cu::Stream stream) { return CaptureHooks::end<&cuStreamEndCaptureToCig_ptsz>(kPerThread, stream); }
int cuStreamEndCapture(cu::Stream stream, cu::Graph* graph) {
  return CaptureHooks::end<&cuStreamEndCapture>(kLegacy, stream, graph);
}
int cuStreamEndCapture_ptsz(cu::Stream stream, cu::Graph* graph) {
  return CaptureHooks::end<&cuStreamEndCapture_ptsz>(kPerThread, stream, graph);
}

int cuGraphInstantiate(cu::GraphExec* exec, cu::Graph graph, cu::GraphNode* error_node, char* log, std::size_t log_bytes) {
  return CaptureHooks::instantiate_with_log<&cuGraphInstantiate>(exec, graph, error_node, log, log_bytes);
}
int cuGraphInstantiate_v2(cu::GraphExec* exec, cu::Graph graph, cu::GraphNode* error_node, char* log, std::size_t log_bytes) {
  return CaptureHooks::instantiate_with_log<&cuGraphInstantiate_v2>(exec, graph, error_node, log, log_bytes);
}
int cuGraphInstantiateWithFlags(cu::GraphExec* exec, cu::Graph graph, unsigned long long flags) {
  tell_of_device_launches(flags);
  return CaptureHooks::instantiate_with_flags<&cuGraphInstantiateWithFlags>(exec, graph, flags);
}
int cuGraphInstantiateWithParams(cu::GraphExec* exec, cu::Graph graph, cu::GraphInstantiateParams* parameters) {
  if (parameters != nullptr) { tell_of_device_launches(parameters->flags); }
  return CaptureHooks::instantiate_with_params<&cuGraphInstantiateWithParams>(exec, graph, parameters);
}
int cuGraphInstantiateWithParams_ptsz(cu::GraphExec* exec, cu::Graph graph, cu::GraphInstantiateParams* parameters) {
  if (parameters != nullptr) { tell_of_device_launches(parameters->flags); }
  return CaptureHooks::instantiate_with_params<&cuGraphInstantiateWithParams_ptsz>(exec, graph, parameters);
}

int cuGraphExecUpdate(cu::GraphExec exec, cu::Graph graph, cu::GraphNode* error_node, int* update_result) {
  return CaptureHooks::update<&cuGraphExecUpdate>(exec, graph, error_node, update_result);
}
int cuGraphExecUpdate_v2(cu::GraphExec exec, cu::Graph graph, void* update_result) {
  return CaptureHooks::update<&cuGraphExecUpdate_v2>(exec, graph, update_result);
}

int cuGraphExecChildGraphNodeSetParams(cu::GraphExec exec, cu::GraphNode node, cu::Graph child) {
  return CaptureHooks::update_child<&cuGraphExecChildGraphNodeSetParams>(exec, node, child, child);
}
int cuGraphExecKernelNodeSetParams(cu::GraphExec exec, cu::GraphNode node, const cu::KernelNodeParamsV1* parameters) {
  if (parameters == nullptr) { return call_real<&cuGraphExecKernelNodeSetParams>(exec, node, parameters); }
  return CaptureHooks::update_kernel<&cuGraphExecKernelNodeSetParams>(exec, node, {*parameters, nullptr, nullptr}, parameters);
}
int cuGraphExecKernelNodeSetParams_v2(cu::GraphExec exec, cu::GraphNode node, const cu::KernelNodeParamsV2* parameters) {
  if (parameters == nullptr) { return call_real<&cuGraphExecKernelNodeSetParams_v2>(exec, node, parameters); }
  return CaptureHooks::update_kernel<&cuGraphExecKernelNodeSetParams_v2>(exec, node, *parameters, parameters);
}
int cuGraphExecNodeSetParams(cu::GraphExec exec, cu::GraphNode node, cu::GraphNodeParams* parameters) {
  if (parameters != nullptr && parameters->type == cu::kGraphNodeKernel) {
    return CaptureHooks::update_kernel<&cuGraphExecNodeSetParams>(exec, node, parameters->kernel, parameters);
  }
  if (parameters == nullptr || parameters->type != cu::kGraphNodeChild) {
    return call_real<&cuGraphExecNodeSetParams>(exec, node, parameters);
  }
  return CaptureHooks::update_child<&cuGraphExecNodeSetParams>(exec, node, parameters->child, parameters);
}

int cuGraphUpload(cu::GraphExec exec, cu::Stream stream) { return CaptureHooks::upload<&cuGraphUpload>(kLegacy, exec, stream); }
int cuGraphUpload_ptsz(cu::GraphExec exec, cu::Stream stream) {
  return CaptureHooks::upload<&cuGraphUpload_ptsz>(kPerThread, exec, stream);
}

int cuGraphLaunch(cu::GraphExec exec, cu::Stream stream) { return CaptureHooks::launch<&cuGraphLaunch>(kLegacy, exec, stream); }
int cuGraphLaunch_ptsz(cu::GraphExec exec, cu::Stream stream) {
  return CaptureHooks::launch<&cuGraphLaunch_ptsz>(kPerThread, exec, stream);
}

int cuGraphExecDestroy(cu::GraphExec exec) { return CaptureHooks::destroy<&cuGraphExecDestroy>(exec); }
