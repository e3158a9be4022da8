#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>

#include "objects.hpp"

// The driver's contexts, handles and functions.

namespace {

constexpr int kDevices = 2;
constexpr int kInvalidValue = 1;

std::array<fake::Context, kDevices>& primary_contexts() {
  static std::array<fake::Context, kDevices> contexts{fake::Context{fake::Kind::kContext, 0, 132},
                                                      fake::Context{fake::Kind::kContext, 1, 132}};
  return contexts;
}

std::atomic<int> primary_references{0};  // of all devices together

thread_local std::vector<fake::Context*> current_stack;
int greatest_priority = -5;

fake::Function* function_of(cu::Function handle) { return fake::object<fake::Function>(handle); }

}  // namespace

namespace fake {
Context* current_context() { return current_stack.empty() ? nullptr : current_stack.back(); }
}  // namespace fake

cu::GreenContext fake_green_context(unsigned sms) {
  return reinterpret_cast<cu::GreenContext>(new fake::Context{fake::Kind::kContext, 0, sms});
}

void fake_set_greatest_priority(int greatest) { greatest_priority = greatest; }

#pragma GCC visibility push(default)
extern "C" {

int cuInit(unsigned) { return 0; }
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
  ++primary_references;
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
int cuCtxGetStreamPriorityRange(int* least, int* greatest) {
  fake::reached("cuCtxGetStreamPriorityRange");
  *least = 0;
  *greatest = greatest_priority;
  return 0;
}
int cuCtxSynchronize() { return fake::enter(fake::named("cuCtxSynchronize")); }
int cuMemFree_v2(cu::DevicePointer) { return fake::enter(fake::named("cuMemFree_v2")); }

int cuStreamCreateWithPriority(cu::Stream* stream, unsigned flags, int) {
  fake::reached("cuStreamCreateWithPriority");
  if (fake::current_context() == nullptr) { return 201; }
  auto* made = new fake::Stream;
  made->context = fake::current_context();
  made->flags = flags;
  *stream = reinterpret_cast<cu::Stream>(made);
  return 0;
}
int cuStreamCreate(cu::Stream* stream, unsigned flags) {
  fake::reached("cuStreamCreate");
  const int result = cuStreamCreateWithPriority(stream, flags, 0);
  if (result == 0) { fake::object<fake::Stream>(*stream)->of_interposer = true; }  // programs name a priority
  return result;
}
int cuStreamGetCtx(cu::Stream stream, cu::Context* context) {
  fake::reached("cuStreamGetCtx");
  auto* known = fake::object<fake::Stream>(stream);
  *context = reinterpret_cast<cu::Context>(known == nullptr ? fake::current_context() : known->context);
  return 0;
}
int cuEventCreate(cu::Event* event, unsigned flags) {
  fake::reached("cuEventCreate");
  auto* made = new fake::Event;
  Dl_info caller{};
  const bool known = dladdr(__builtin_return_address(0), &caller) != 0 && caller.dli_fname != nullptr;
  made->of_interposer = known && std::strstr(caller.dli_fname, "libelbowroom_interposer") != nullptr;
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
