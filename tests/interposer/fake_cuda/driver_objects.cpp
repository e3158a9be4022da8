#include <algorithm>
#include <array>
#include <atomic>
#include <utility>

#include "objects.hpp"

// The driver's contexts, handles, functions and graphs.

namespace {

constexpr int kDevices = 2;
constexpr int kInvalidValue = 1;

std::array<fake::Context, kDevices>& primary_contexts() {
  static std::array<fake::Context, kDevices> contexts{fake::Context{fake::Kind::kContext, 0, 132},
                                                      fake::Context{fake::Kind::kContext, 1, 132}};
  return contexts;
}

std::atomic<int> primary_references{0};  // of all devices together
std::atomic<unsigned long long> primaries_made{0};

thread_local std::vector<fake::Context*> current_stack;
fake::Stream* reused_stream = nullptr;
void count_priorities(fake::Graph& graph, bool node_priorities) {
  for (fake::Node* node : graph.nodes) {
    node->counted = node_priorities ? node->priority : 0;
    if (node->child != nullptr) { count_priorities(*node->child, node_priorities); }
  }
}

int greatest_priority = -5;

fake::Function* function_of(cu::Function handle) { return fake::object<fake::Function>(handle); }

}  // namespace

namespace fake {
Context* current_context() { return current_stack.empty() ? nullptr : current_stack.back(); }
}  // namespace fake

cu::GreenContext fake_green_context(unsigned sms) {
  return reinterpret_cast<cu::GreenContext>(new fake::Context{fake::Kind::kContext, 0, sms});
}

void fake_reuse_stream(cu::Stream stream) { reused_stream = fake::object<fake::Stream>(stream); }
int fake_counted_priority(cu::GraphNode node) { return fake::object<fake::Node>(node)->counted; }
void fake_set_greatest_priority(int greatest) { greatest_priority = greatest; }

#pragma GCC visibility push(default)
extern "C" {

int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int* version) {
  *version = 13000;
  return 0;
}
int cuDeviceGetCount(int* count) {
  *count = kDevices;
  return 0;
}
int cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return ordinal < kDevices ? 0 : 101;
}
int cuDeviceGetName(char* name, int length, int) {
  fake::reached("cuDeviceGetName");
  std::snprintf(name, static_cast<std::size_t>(length), "Fake Device");
  return 0;
}
int cuDeviceGetPCIBusId(char* text, int length, int device) {
  std::snprintf(text, static_cast<std::size_t>(length), "0000:%02X:00.0", 27 + device);
  return 0;
}
int cuDeviceGetAttribute(int* value, int attribute, int) {
  fake::reached("cuDeviceGetAttribute");
  switch (attribute) {
    case cu::kDeviceMultiprocessorCount:
      *value = 132;
      return 0;
    case cu::kDeviceMaxSharedMemoryPerMultiprocessor:
      *value = 228 * 1024;
      return 0;
    case cu::kDeviceMaxSharedMemoryPerBlockOptin:
      *value = 227 * 1024;
      return 0;
    case cu::kDeviceReservedSharedMemoryPerBlock:
      *value = 1024;
      return 0;
    default:
      return kInvalidValue;
  }
}

int cuDevicePrimaryCtxRetain(cu::Context* context, int device) {
  *context = reinterpret_cast<cu::Context>(&primary_contexts()[static_cast<std::size_t>(device)]);
  if (primary_references++ == 0) { ++primaries_made; }
  fake::reached("cuDevicePrimaryCtxRetain");
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  --primary_references;
  fake::reached("cuDevicePrimaryCtxRelease_v2");
  return 0;
}
int cuDevicePrimaryCtxGetState(int, unsigned* flags, int* active) {
  *flags = 0;
  *active = primary_references > 0 ? 1 : 0;
  return 0;
}
int cuCtxGetId(cu::Context context, unsigned long long* id) {
  const bool primary = std::any_of(primary_contexts().begin(), primary_contexts().end(),
                                   [&](fake::Context& each) { return reinterpret_cast<cu::Context>(&each) == context; });
  *id = primary ? primaries_made.load() : reinterpret_cast<std::uintptr_t>(context);
  return 0;
}
int cuCtxCreate_v2(cu::Context* context, unsigned, int device) {
  auto* made = new fake::Context;
  made->device = device;
  current_stack.push_back(made);
  *context = reinterpret_cast<cu::Context>(made);
  return 0;
}
int cuCtxDestroy_v2(cu::Context context) {
  std::erase(current_stack, fake::object<fake::Context>(context));
  return fake::enter(fake::named("cuCtxDestroy_v2"));
}
int cuCtxSetCurrent(cu::Context context) {
  if (!current_stack.empty()) { current_stack.pop_back(); }
  if (context != nullptr) { current_stack.push_back(fake::object<fake::Context>(context)); }
  return 0;
}
int cuCtxPushCurrent_v2(cu::Context context) {
  fake::reached("cuCtxPushCurrent_v2");
  current_stack.push_back(fake::object<fake::Context>(context));
  return 0;
}
int cuCtxPopCurrent_v2(cu::Context* context) {
  fake::reached("cuCtxPopCurrent_v2");
  if (current_stack.empty()) { return 201; }
  *context = reinterpret_cast<cu::Context>(current_stack.back());
  current_stack.pop_back();
  return 0;
}
int cuCtxGetCurrent(cu::Context* context) {
  fake::reached("cuCtxGetCurrent");
  *context = reinterpret_cast<cu::Context>(fake::current_context());
  return 0;
}
int cuCtxGetDevice(int* device) {
  fake::reached("cuCtxGetDevice");
  if (fake::current_context() == nullptr) { return 201; }
  *device = fake::current_context()->device;
  return 0;
}
int cuCtxGetDevResource(cu::Context context, cu::DeviceResource* resource, int type) {
  fake::reached("cuCtxGetDevResource");
  resource->type = type;
  resource->sm_count = fake::object<fake::Context>(context)->sms;
  return type == cu::kDeviceResourceSm ? 0 : kInvalidValue;
}
int cuCtxFromGreenCtx(cu::Context* context, cu::GreenContext green) {
  *context = reinterpret_cast<cu::Context>(green);
  return 0;
}
int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  fake::reached("cuCtxGetStreamPriorityRange");
  *least = 0;
  *greatest = greatest_priority;
  return 0;
}
int cuCtxSynchronize() { return fake::enter(fake::named("cuCtxSynchronize")); }
int cuMemFree_v2(cu::DevicePointer) { return fake::enter(fake::named("cuMemFree_v2")); }

int cuStreamCreateWithPriority(cu::Stream* stream, unsigned flags, int priority) {
  fake::reached("cuStreamCreateWithPriority");
  if (fake::current_context() == nullptr) { return 201; }
  auto* made = std::exchange(reused_stream, nullptr);
  if (made == nullptr) { made = new fake::Stream; }
  made->context = fake::current_context();
  made->flags = flags;
  made->priority = priority;
  *stream = reinterpret_cast<cu::Stream>(made);
  return 0;
}
int cuStreamCreate(cu::Stream* stream, unsigned flags) {
  fake::reached("cuStreamCreate");
  return cuStreamCreateWithPriority(stream, flags, 0);
}
int cuStreamGetCtx(cu::Stream stream, cu::Context* context) {
  fake::reached("cuStreamGetCtx");
  auto* known = fake::object<fake::Stream>(stream);
  *context = reinterpret_cast<cu::Context>(known == nullptr ? fake::current_context() : known->context);
  return 0;
}
// Of a stream that is being captured: breaks the capture in every mode, as seen with driver 580.
int cuStreamGetFlags(cu::Stream stream, unsigned* flags) {
  fake::reached("cuStreamGetFlags");
  if (fake::Capture* capture = fake::capture_of(stream)) {
    capture->invalidated = true;
    return fake::kCaptureUnsupported;
  }
  auto* known = fake::object<fake::Stream>(stream);
  *flags = known == nullptr ? 0 : known->flags;
  return 0;
}
int cuEventCreate(cu::Event* event, unsigned flags) {
  fake::reached("cuEventCreate");
  auto* made = new fake::Event;
  made->flags = flags;
  *event = reinterpret_cast<cu::Event>(made);
  return 0;
}
int cuIpcOpenEventHandle(cu::Event* event, cu::IpcEventHandle) {
  fake::reached("cuIpcOpenEventHandle");
  return cuEventCreate(event, cu::kEventDisableTiming);
}
int cuEventDestroy_v2(cu::Event event) {
  fake::reached("cuEventDestroy_v2");
  return fake::object<fake::Event>(event) == nullptr ? cu::kErrorInvalidHandle : 0;
}

int cuFuncGetAttribute(int* value, int attribute, cu::Function function) {
  fake::reached("cuFuncGetAttribute");
  fake::Function* known = function_of(function);
  if (known == nullptr) { return cu::kErrorInvalidHandle; }
  known->loaded = true;
  switch (attribute) {
    case cu::kFuncMaxThreadsPerBlock:
      *value = 1024;
      return 0;
    case cu::kFuncSharedSizeBytes:
      *value = known->static_shared;
      return 0;
    case cu::kFuncNumRegs:
      *value = known->registers;
      return 0;
    case cu::kFuncMaxDynamicSharedSizeBytes:
      *value = known->max_dynamic;
      return 0;
    default:
      return kInvalidValue;
  }
}
int cuFuncSetAttribute(cu::Function function, int attribute, int value) {
  fake::reached("cuFuncSetAttribute");
  fake::Function* known = function_of(function);
  if (known == nullptr) { return cu::kErrorInvalidHandle; }
  if (attribute == cu::kFuncMaxDynamicSharedSizeBytes) { known->max_dynamic = value; }
  return 0;
}
int cuFuncIsLoaded(int* state, cu::Function function) {
  fake::reached("cuFuncIsLoaded");
  const fake::Function* known = function_of(function);
  if (known == nullptr) { return cu::kErrorInvalidHandle; }
  *state = known->loaded ? cu::kFunctionLoaded : 0;
  return 0;
}
int cuFuncGetName(const char** name, cu::Function function) {
  fake::reached("cuFuncGetName");
  const fake::Function* known = function_of(function);
  if (known == nullptr) { return cu::kErrorInvalidHandle; }
  *name = known->name.c_str();
  return 0;
}
int cuKernelGetFunction(cu::Function* function, cu::Kernel kernel) {
  fake::reached("cuKernelGetFunction");
  const auto* known = fake::object<fake::Kernel>(kernel);
  if (known == nullptr) { return cu::kErrorInvalidHandle; }
  *function = reinterpret_cast<cu::Function>(known->function);
  return 0;
}
int cuModuleUnload(cu::Module) { return fake::enter(fake::named("cuModuleUnload")); }

// Shared memory alone limits, at 1 KiB reserved for each block, as do 2,048 threads and 65,536 registers of an SM.
int cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, cu::Function function, int threads, std::size_t dynamic_shared) {
  fake::reached("cuOccupancyMaxActiveBlocksPerMultiprocessor");
  const fake::Function* known = function_of(function);
  if (known == nullptr || threads <= 0) { return cu::kErrorInvalidHandle; }
  const int by_threads = 2048 / threads;
  const int by_registers = 65536 / std::max(1, known->registers * threads);
  const int by_shared = 228 * 1024 / (known->static_shared + static_cast<int>(dynamic_shared) + 1024);
  *blocks = std::min({32, by_threads, by_registers, by_shared});
  return 0;
}

int cuGraphCreate(cu::Graph* graph, unsigned) {
  *graph = reinterpret_cast<cu::Graph>(new fake::Graph);
  return 0;
}
int cuGraphAddKernelNode_v2(cu::GraphNode* node, cu::Graph graph, const cu::GraphNode* dependencies, std::size_t count,
                            const cu::KernelNodeParamsV2* parameters) {
  auto* made = new fake::Node;
  made->kernel = *parameters;
  auto* known = fake::object<fake::Graph>(graph);
  for (std::size_t i = 0; i < count; ++i) { known->edges.emplace_back(fake::object<fake::Node>(dependencies[i]), made); }
  known->nodes.push_back(made);
  *node = reinterpret_cast<cu::GraphNode>(made);
  return 0;
}
int cuGraphAddChildGraphNode(cu::GraphNode* node, cu::Graph graph, const cu::GraphNode*, std::size_t, cu::Graph child) {
  auto* made = new fake::Node;
  made->type = cu::kGraphNodeChild;
  made->child = fake::object<fake::Graph>(child);
  fake::object<fake::Graph>(graph)->nodes.push_back(made);
  *node = reinterpret_cast<cu::GraphNode>(made);
  return 0;
}
int cuGraphAddHostNode(cu::GraphNode* node, cu::Graph graph, const cu::GraphNode*, std::size_t, const void*) {
  auto* made = new fake::Node;
  made->type = cu::kGraphNodeHost;
  fake::object<fake::Graph>(graph)->nodes.push_back(made);
  *node = reinterpret_cast<cu::GraphNode>(made);
  return 0;
}
int cuGraphGetNodes(cu::Graph graph, cu::GraphNode* nodes, std::size_t* count) {
  const auto* known = fake::object<fake::Graph>(graph);
  if (known == nullptr) { return kInvalidValue; }
  if (nodes != nullptr) {
    for (std::size_t i = 0; i < *count; ++i) { nodes[i] = reinterpret_cast<cu::GraphNode>(known->nodes[i]); }
  }
  *count = known->nodes.size();
  return 0;
}
int cuGraphGetEdges(cu::Graph graph, cu::GraphNode* from, cu::GraphNode* to, std::size_t* count) {
  const auto& edges = fake::object<fake::Graph>(graph)->edges;
  for (std::size_t i = 0; from != nullptr && i < *count; ++i) {
    from[i] = reinterpret_cast<cu::GraphNode>(edges[i].first);
    to[i] = reinterpret_cast<cu::GraphNode>(edges[i].second);
  }
  *count = edges.size();
  return 0;
}
int cuGraphNodeGetType(cu::GraphNode node, int* type) {
  *type = fake::object<fake::Node>(node)->type;
  return 0;
}
int cuGraphChildGraphNodeGetGraph(cu::GraphNode node, cu::Graph* graph) {
  *graph = reinterpret_cast<cu::Graph>(fake::object<fake::Node>(node)->child);
  return 0;
}
// Of a node that got no kernel it says nothing.
int cuGraphKernelNodeGetParams_v2(cu::GraphNode node, cu::KernelNodeParamsV2* parameters) {
  *parameters = fake::object<fake::Node>(node)->kernel;
  return parameters->v1.function == nullptr && parameters->kernel == nullptr ? kInvalidValue : 0;
}
int cuGraphKernelNodeSetAttribute(cu::GraphNode node, int attribute, const cu::LaunchAttributeValue* value) {
  if (attribute != cu::kLaunchPriority) { return kInvalidValue; }
  fake::object<fake::Node>(node)->priority = value->priority;
  return 0;
}
int cuGraphKernelNodeGetAttribute(cu::GraphNode node, int attribute, cu::LaunchAttributeValue* value) {
  if (attribute != cu::kLaunchPriority) { return kInvalidValue; }
  value->priority = fake::object<fake::Node>(node)->priority;
  return 0;
}
int cuGraphInstantiateWithFlags(cu::GraphExec* exec, cu::Graph graph, unsigned long long flags) {
  FakeCall call = fake::named("cuGraphInstantiateWithFlags");
  call.flags = flags;
  const int injected = fake::enter(call);
  if (injected != 0) { return injected; }
  auto* made = new fake::Exec;
  made->graph = fake::object<fake::Graph>(graph);
  made->node_priorities = (flags & cu::kInstantiateUseNodePriority) != 0;
  count_priorities(*made->graph, made->node_priorities);
  *exec = reinterpret_cast<cu::GraphExec>(made);
  return 0;
}
int cuGraphInstantiate_v2(cu::GraphExec* exec, cu::Graph graph, cu::GraphNode*, char*, std::size_t) {
  fake::reached("cuGraphInstantiate_v2");
  return cuGraphInstantiateWithFlags(exec, graph, 0);
}
int cuGraphInstantiateWithParams(cu::GraphExec* exec, cu::Graph graph, cu::GraphInstantiateParams* parameters) {
  fake::reached("cuGraphInstantiateWithParams");
  return cuGraphInstantiateWithFlags(exec, graph, parameters->flags);
}
// Of what the driver checks: the number of nodes, and their priorities where they count.
int cuGraphExecUpdate_v2(cu::GraphExec exec, cu::Graph graph, void*) {
  const int injected = fake::enter(fake::named("cuGraphExecUpdate_v2"));
  if (injected != 0) { return injected; }
  auto* known = fake::object<fake::Exec>(exec);
  auto* updated = fake::object<fake::Graph>(graph);
  bool same = known->graph->nodes.size() == updated->nodes.size();
  for (std::size_t i = 0; same && known->node_priorities && i < updated->nodes.size(); ++i) {
    same = known->graph->nodes[i]->counted == updated->nodes[i]->priority;
  }
  if (!same) { return 910; }  // CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE
  known->graph = updated;
  count_priorities(*updated, known->node_priorities);
  return 0;
}
int cuGraphLaunch(cu::GraphExec exec, cu::Stream stream) {
  FakeCall call = fake::named("cuGraphLaunch");
  call.exec = exec;
  call.stream = stream;
  return fake::enter(call);
}
int cuGraphExecDestroy(cu::GraphExec) {
  fake::reached("cuGraphExecDestroy");
  return 0;
}

int cuGetProcAddress_v2(const char* symbol, void** found, int version, unsigned long long flags, int* status) {
  fake::reached("cuGetProcAddress_v2");
  bool too_old = false;
  void* address = symbol == nullptr ? nullptr : fake::find_proc(symbol, version, flags, too_old);
  if (found != nullptr) { *found = address; }
  if (status != nullptr) { *status = address != nullptr ? 0 : too_old ? 2 : 1; }
  return address != nullptr ? 0 : 500;
}
int cuGetProcAddress(const char* symbol, void** found, int version, unsigned long long flags) {
  fake::reached("cuGetProcAddress");
  return cuGetProcAddress_v2(symbol, found, version, flags, nullptr);
}

}  // extern "C"
#pragma GCC visibility pop
