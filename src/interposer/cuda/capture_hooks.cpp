#include "interposer/driver/capture_hooks.hpp"

#include "interposer/core/unusual.hpp"
#include "interposer/cuda/hooked_functions.hpp"
#include "interposer/cuda/interposer.hpp"

namespace elbowroom::interposer::cuda {
namespace {

using CaptureHooks = driver::CaptureHooks<Driver>;

// Kernels may launch such a graph, and nobody tells when.
void tell_of_device_launches(std::uint64_t flags) {
  if ((flags & cu::kInstantiateDeviceLaunch) != 0) { stand_aside(Unusual::device_launch); }
}

}  // namespace
}  // namespace elbowroom::interposer::cuda

using namespace elbowroom::interposer::cuda;

int cuStreamBeginCapture(cu::Stream stream) { return CaptureHooks::begin<&cuStreamBeginCapture>(stream); }
int cuStreamBeginCapture_ptsz(cu::Stream stream) { return CaptureHooks::begin<&cuStreamBeginCapture_ptsz>(stream); }
int cuStreamBeginCapture_v2(cu::Stream stream, int mode) { return CaptureHooks::begin<&cuStreamBeginCapture_v2>(stream, mode); }
int cuStreamBeginCapture_v2_ptsz(cu::Stream stream, int mode) {
  return CaptureHooks::begin<&cuStreamBeginCapture_v2_ptsz>(stream, mode);
}
int cuStreamBeginCaptureToGraph(cu::Stream stream, cu::Graph graph, const cu::GraphNode* dependencies,
                                const cu::GraphEdgeData* edges, std::size_t count, int mode) {
  return CaptureHooks::begin<&cuStreamBeginCaptureToGraph>(stream, graph, dependencies, edges, count, mode);
}
int cuStreamBeginCaptureToGraph_ptsz(cu::Stream stream, cu::Graph graph, const cu::GraphNode* dependencies,
                                     const cu::GraphEdgeData* edges, std::size_t count, int mode) {
  return CaptureHooks::begin<&cuStreamBeginCaptureToGraph_ptsz>(stream, graph, dependencies, edges, count, mode);
}
int cuStreamBeginRecaptureToGraph(cu::Stream stream, int mode, cu::Graph graph, void* callback, void* data) {
  return CaptureHooks::begin<&cuStreamBeginRecaptureToGraph>(stream, mode, graph, callback, data);
}
int cuStreamBeginRecaptureToGraph_ptsz(cu::Stream stream, int mode, cu::Graph graph, void* callback, void* data) {
  return CaptureHooks::begin<&cuStreamBeginRecaptureToGraph_ptsz>(stream, mode, graph, callback, data);
}
int cuStreamBeginCaptureToCig(cu::Stream stream, void* parameters) {
  return CaptureHooks::begin<&cuStreamBeginCaptureToCig>(stream, parameters);
}
int cuStreamBeginCaptureToCig_ptsz(cu::Stream stream, void* parameters) {
  return CaptureHooks::begin<&cuStreamBeginCaptureToCig_ptsz>(stream, parameters);
}
int cuStreamEndCaptureToCig(cu::Stream stream) { return CaptureHooks::end<&cuStreamEndCaptureToCig>(stream); }
int cuStreamEndCaptureToCig_ptsz(cu::Stream stream) { return CaptureHooks::end<&cuStreamEndCaptureToCig_ptsz>(stream); }
int cuStreamEndCapture(cu::Stream stream, cu::Graph* graph) { return CaptureHooks::end<&cuStreamEndCapture>(stream, graph); }
int cuStreamEndCapture_ptsz(cu::Stream stream, cu::Graph* graph) {
  return CaptureHooks::end<&cuStreamEndCapture_ptsz>(stream, graph);
}

int cuGraphInstantiateWithFlags(cu::GraphExec* exec, cu::Graph graph, unsigned long long flags) {
  tell_of_device_launches(flags);
  return call_real<&cuGraphInstantiateWithFlags>(exec, graph, flags);
}
int cuGraphInstantiateWithParams(cu::GraphExec* exec, cu::Graph graph, cu::GraphInstantiateParams* parameters) {
  if (parameters != nullptr) { tell_of_device_launches(parameters->flags); }
  return call_real<&cuGraphInstantiateWithParams>(exec, graph, parameters);
}
int cuGraphInstantiateWithParams_ptsz(cu::GraphExec* exec, cu::Graph graph, cu::GraphInstantiateParams* parameters) {
  if (parameters != nullptr) { tell_of_device_launches(parameters->flags); }
  return call_real<&cuGraphInstantiateWithParams_ptsz>(exec, graph, parameters);
}
int cuGraphLaunch(cu::GraphExec exec, cu::Stream stream) { return CaptureHooks::launch<&cuGraphLaunch>(kLegacy, exec, stream); }
int cuGraphLaunch_ptsz(cu::GraphExec exec, cu::Stream stream) {
  return CaptureHooks::launch<&cuGraphLaunch_ptsz>(kPerThread, exec, stream);
}
