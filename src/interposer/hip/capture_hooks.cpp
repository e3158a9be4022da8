#include "interposer/driver/capture_hooks.hpp"

#include "interposer/hip/hooked_functions.hpp"
#include "interposer/hip/interposer.hpp"
#include "interposer/process/routes.hpp"

// Stream capture, graphs, and the function that finds functions.

namespace elbowroom::interposer::hip {
namespace {

using CaptureHooks = driver::CaptureHooks<Driver>;

}  // namespace
}  // namespace elbowroom::interposer::hip

using namespace elbowroom::interposer::hip;

int hipStreamBeginCapture(hip::Stream stream, int mode) {
  return CaptureHooks::begin<&hipStreamBeginCapture>(kLegacy, stream, mode);
}
int hipStreamBeginCapture_spt(hip::Stream stream, int mode) {
  return CaptureHooks::begin<&hipStreamBeginCapture_spt>(kPerThread, stream, mode);
}
int hipStreamBeginCaptureToGraph(hip::Stream stream, hip::Graph graph, const hip::GraphNode* dependencies, const void* edges,
                                 std::size_t count, int mode) {
  return CaptureHooks::begin<&hipStreamBeginCaptureToGraph>(kLegacy, stream, graph, dependencies, edges, count, mode);
}
int hipStreamEndCapture(hip::Stream stream, hip::Graph* graph) {
  return CaptureHooks::end<&hipStreamEndCapture>(kLegacy, stream, graph);
}
int hipStreamEndCapture_spt(hip::Stream stream, hip::Graph* graph) {
  return CaptureHooks::end<&hipStreamEndCapture_spt>(kPerThread, stream, graph);
}

int hipGraphInstantiate(hip::GraphExec* exec, hip::Graph graph, hip::GraphNode* error_node, char* log, std::size_t log_bytes) {
  return CaptureHooks::instantiate_with_log<&hipGraphInstantiate>(exec, graph, error_node, log, log_bytes);
}
int hipGraphInstantiateWithFlags(hip::GraphExec* exec, hip::Graph graph, unsigned long long flags) {
  return CaptureHooks::instantiate_with_flags<&hipGraphInstantiateWithFlags>(exec, graph, flags);
}
int hipGraphInstantiateWithParams(hip::GraphExec* exec, hip::Graph graph, hip::GraphInstantiateParams* parameters) {
  return CaptureHooks::instantiate_with_params<&hipGraphInstantiateWithParams>(exec, graph, parameters);
}

int hipGraphLaunch(hip::GraphExec exec, hip::Stream stream) { return CaptureHooks::launch<&hipGraphLaunch>(kLegacy, exec, stream); }
int hipGraphLaunch_spt(hip::GraphExec exec, hip::Stream stream) {
  return CaptureHooks::launch<&hipGraphLaunch_spt>(kPerThread, exec, stream);
}

int hipGraphExecDestroy(hip::GraphExec exec) { return CaptureHooks::destroy<&hipGraphExecDestroy>(exec); }

int hipGetProcAddress(const char* symbol, void** found, int version, std::uint64_t flags, int* status) {
  const int result = call_real<&::hipGetProcAddress>(symbol, found, version, flags, status);
  // By what the runtime exports: which of its forms came with which version is not known here.
  if (result == hip::kSuccess) { substitute_found(symbol, found, version, flags, nullptr); }
  return result;
}
