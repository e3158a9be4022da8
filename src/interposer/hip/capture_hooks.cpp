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

int hipStreamBeginCapture(hip::Stream stream, int mode) { return CaptureHooks::begin<&hipStreamBeginCapture>(stream, mode); }
int hipStreamBeginCapture_spt(hip::Stream stream, int mode) {
  return CaptureHooks::begin<&hipStreamBeginCapture_spt>(stream, mode);
}
int hipStreamBeginCaptureToGraph(hip::Stream stream, hip::Graph graph, const hip::GraphNode* dependencies, const void* edges,
                                 std::size_t count, int mode) {
  return CaptureHooks::begin<&hipStreamBeginCaptureToGraph>(stream, graph, dependencies, edges, count, mode);
}
int hipStreamEndCapture(hip::Stream stream, hip::Graph* graph) { return CaptureHooks::end<&hipStreamEndCapture>(stream, graph); }
int hipStreamEndCapture_spt(hip::Stream stream, hip::Graph* graph) {
  return CaptureHooks::end<&hipStreamEndCapture_spt>(stream, graph);
}

int hipGraphLaunch(hip::GraphExec exec, hip::Stream stream) { return CaptureHooks::launch<&hipGraphLaunch>(kLegacy, exec, stream); }
int hipGraphLaunch_spt(hip::GraphExec exec, hip::Stream stream) {
  return CaptureHooks::launch<&hipGraphLaunch_spt>(kPerThread, exec, stream);
}

int hipGetProcAddress(const char* symbol, void** found, int version, std::uint64_t flags, int* status) {
  const int result = call_real<&::hipGetProcAddress>(symbol, found, version, flags, status);
  // By what the runtime exports: which of its forms came with which version is not known here.
  if (result == hip::kSuccess) { substitute_found(symbol, found, version, flags, nullptr); }
  return result;
}
