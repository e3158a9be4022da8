#include <dlfcn.h>

#include <algorithm>
#include <string>

#include "runtime.hpp"

// The launch entry points, and the one that finds entry points.

using namespace fake_hip;

namespace {

struct Shape {
  unsigned grid[3], block[3];
};

Shape shape(hip::Dim3 grid, hip::Dim3 block) { return {{grid.x, grid.y, grid.z}, {block.x, block.y, block.z}}; }

FakeHipCall launching(const char* name, const void* function, const Shape& extents, std::size_t shared, hip::Stream stream,
                      void** parameters, void** extra) {
  FakeHipCall call = named(name);
  call.function = function;
  call.stream = stream;
  std::copy_n(extents.grid, 3, call.grid);
  std::copy_n(extents.block, 3, call.block);
  call.shared = shared;
  call.parameters = parameters;
  call.extra = extra;
  return call;
}

int check(const Function* function, const FakeHipCall& call, bool is_symbol, bool cooperative) {
  if (function == nullptr || function->is_symbol != is_symbol) { return hip::kErrorInvalidDeviceFunction; }
  const std::uint64_t threads = std::uint64_t{call.block[0]} * call.block[1] * call.block[2];
  const std::uint64_t blocks = std::uint64_t{call.grid[0]} * call.grid[1] * call.grid[2];
  if (threads == 0 || blocks == 0 || threads > 1024) { return hip::kErrorInvalidValue; }
  if (static_cast<std::size_t>(function->kernel.static_shared) + call.shared > kSharedPerUnit) {
    return hip::kErrorLaunchOutOfResources;
  }
  const auto at_once = static_cast<std::uint64_t>(residency(*function, static_cast<int>(threads), call.shared)) * kComputeUnits;
  return cooperative && blocks > at_once ? hip::kErrorCooperativeLaunchTooLarge : 0;
}

Operation recording(hip::Event event) {
  auto* known = object<Event>(event);
  Operation operation;
  if (known == nullptr) { return operation; }
  known->latest = std::make_shared<Completion>();
  operation.run = [completion = known->latest](std::uint64_t, std::uint64_t end) { *completion = {true, end}; };
  return operation;
}

int finish(const FakeHipCall& call, bool is_symbol, bool per_thread = false, bool cooperative = false) {
  return make_call(call, [&] {
    Stream* stream = stream_of(call.stream, per_thread);
    if (stream == nullptr) { return hip::kErrorInvalidHandle; }
    const auto* function = object<Function>(call.function);
    const int refused = check(function, call, is_symbol, cooperative);
    if (refused != 0) { return refused; }
    auto* node = new Node;
    node->kernel = {{call.block[0], call.block[1], call.block[2]}, call.extra,      const_cast<void*>(call.function),
                    {call.grid[0], call.grid[1], call.grid[2]},    call.parameters, static_cast<unsigned>(call.shared)};
    const bool captured = stream->capture != nullptr;
    if (call.start_event != nullptr && !captured) { enqueue(*stream, recording(call.start_event)); }
    enqueue(*stream, launch_operation(*function, call, stream->device), node);
    if (call.stop_event != nullptr && !captured) { enqueue(*stream, recording(call.stop_event)); }
    return 0;
  });
}

template <class Config>
void keep_attributes(FakeHipCall& call, const Config& config) {
  call.attribute_count = config.attribute_count;
  std::copy_n(config.attributes, std::min(config.attribute_count, kFakeAttributes), call.attributes);
}

int launch_several(const char* name, const hip::LaunchParams* list, int count) {
  for (int i = 0; i < count; ++i) {
    const hip::LaunchParams& each = list[i];
    const int result = finish(
        launching(name, each.function, shape(each.grid, each.block), each.shared_bytes, each.stream, each.arguments, nullptr),
        true);
    if (result != 0) { return result; }
  }
  return 0;
}

int launch_in_threads(const char* name, hip::Function function, const unsigned (&work)[3], const unsigned (&block)[3],
                      std::size_t shared, hip::Stream stream, void** parameters, void** extra, hip::Event start, hip::Event stop,
                      unsigned flags) {
  Shape extents{};
  for (int i = 0; i < 3; ++i) {
    extents.block[i] = block[i];
    extents.grid[i] = block[i] == 0 ? 0 : work[i] / block[i];
  }
  FakeHipCall call = launching(name, function, extents, shared, stream, parameters, extra);
  call.start_event = start;
  call.stop_event = stop;
  call.flags = flags;
  return finish(call, false);
}

bool nested = false;

using Dlsym = void* (*)(void*, const char*);

// This library's own definition, by the C library's own dlsym: the program's may be interposed.
void* own_symbol(const char* name) {
  static const auto loader = reinterpret_cast<Dlsym>(dlsym(dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), "dlsym"));
  static void* self = dlopen("libamdhip64.so.6", RTLD_LAZY | RTLD_NOLOAD);
  return loader == nullptr || self == nullptr ? nullptr : loader(self, name);
}

}  // namespace

void fake_hip_set_nested(int on) { nested = on != 0; }

#pragma GCC visibility push(default)
extern "C" {

int hipLaunchKernel(const void* function, hip::Dim3 grid, hip::Dim3 block, void** arguments, std::size_t shared,
                    hip::Stream stream) {
  return finish(launching("hipLaunchKernel", function, shape(grid, block), shared, stream, arguments, nullptr), true);
}
int hipLaunchKernel_spt(const void* function, hip::Dim3 grid, hip::Dim3 block, void** arguments, std::size_t shared,
                        hip::Stream stream) {
  return finish(launching("hipLaunchKernel_spt", function, shape(grid, block), shared, stream, arguments, nullptr), true, true);
}
int hipExtLaunchKernel(const void* function, hip::Dim3 grid, hip::Dim3 block, void** arguments, std::size_t shared,
                       hip::Stream stream, hip::Event start, hip::Event stop, int flags) {
  FakeHipCall call = launching("hipExtLaunchKernel", function, shape(grid, block), shared, stream, arguments, nullptr);
  call.start_event = start;
  call.stop_event = stop;
  call.flags = static_cast<unsigned>(flags);
  return finish(call, true);
}
int hipLaunchCooperativeKernel(const void* function, hip::Dim3 grid, hip::Dim3 block, void** arguments, unsigned shared,
                               hip::Stream stream) {
  return finish(launching("hipLaunchCooperativeKernel", function, shape(grid, block), shared, stream, arguments, nullptr), true,
                false, true);
}
int hipLaunchCooperativeKernel_spt(const void* function, hip::Dim3 grid, hip::Dim3 block, void** arguments, std::uint32_t shared,
                                   hip::Stream stream) {
  return finish(launching("hipLaunchCooperativeKernel_spt", function, shape(grid, block), shared, stream, arguments, nullptr), true,
                true, true);
}
int hipModuleLaunchKernel(hip::Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, hip::Stream stream, void** parameters, void** extra) {
  return finish(launching("hipModuleLaunchKernel", function, {{gx, gy, gz}, {bx, by, bz}}, shared, stream, parameters, extra),
                false);
}
int hipModuleLaunchCooperativeKernel(hip::Function function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                                     unsigned bz, unsigned shared, hip::Stream stream, void** parameters) {
  return finish(
      launching("hipModuleLaunchCooperativeKernel", function, {{gx, gy, gz}, {bx, by, bz}}, shared, stream, parameters, nullptr),
      false, false, true);
}
int hipExtModuleLaunchKernel(hip::Function function, std::uint32_t wx, std::uint32_t wy, std::uint32_t wz, std::uint32_t bx,
                             std::uint32_t by, std::uint32_t bz, std::size_t shared, hip::Stream stream, void** parameters,
                             void** extra, hip::Event start, hip::Event stop, std::uint32_t flags) {
  return launch_in_threads("hipExtModuleLaunchKernel", function, {wx, wy, wz}, {bx, by, bz}, shared, stream, parameters, extra,
                           start, stop, flags);
}
int hipLaunchCooperativeKernelMultiDevice(hip::LaunchParams* list, int count, unsigned) {
  return launch_several("hipLaunchCooperativeKernelMultiDevice", list, count);
}
int hipExtLaunchMultiKernelMultiDevice(hip::LaunchParams* list, int count, unsigned) {
  return launch_several("hipExtLaunchMultiKernelMultiDevice", list, count);
}
int hipLaunchKernelExC(const hip::LaunchConfig* config, const void* function, void** arguments) {
  if (config == nullptr) { return leave(hip::kErrorInvalidValue); }
  FakeHipCall call = launching("hipLaunchKernelExC", function, shape(config->grid, config->block), config->shared_bytes,
                               config->stream, arguments, nullptr);
  keep_attributes(call, *config);
  return finish(call, true);
}
int hipDrvLaunchKernelEx(const hip::ModuleLaunchConfig* config, hip::Function function, void** parameters, void** extra) {
  if (config == nullptr) { return leave(hip::kErrorInvalidValue); }
  const Shape extents{{config->grid_x, config->grid_y, config->grid_z}, {config->block_x, config->block_y, config->block_z}};
  FakeHipCall call = launching("hipDrvLaunchKernelEx", function, extents, config->shared_bytes, config->stream, parameters, extra);
  keep_attributes(call, *config);
  return finish(call, false);
}

int hipGetProcAddress(const char* symbol, void** found, int, std::uint64_t flags, int* status) {
  return question("hipGetProcAddress", [&] {
    if (symbol == nullptr || found == nullptr) { return hip::kErrorInvalidValue; }
    *found = (flags & 2U) != 0 ? own_symbol((std::string(symbol) + "_spt").c_str()) : nullptr;
    if (*found == nullptr) { *found = *symbol == '\0' ? nullptr : own_symbol(symbol); }
    if (status != nullptr) { *status = *found == nullptr ? 1 : 0; }
    return *found == nullptr ? hip::kErrorInvalidValue : 0;
  });
}

}  // extern "C"

// The header of ROCm declares this one without C linkage.
int exported_ext_module_launch(
    hip::Function function, std::uint32_t wx, std::uint32_t wy, std::uint32_t wz, std::uint32_t bx, std::uint32_t by,
    std::uint32_t bz, std::size_t shared, hip::Stream stream, void** parameters, void** extra, hip::Event start, hip::Event stop,
    std::uint32_t flags) asm("_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j");
int exported_ext_module_launch(hip::Function function, std::uint32_t wx, std::uint32_t wy, std::uint32_t wz, std::uint32_t bx,
                               std::uint32_t by, std::uint32_t bz, std::size_t shared, hip::Stream stream, void** parameters,
                               void** extra, hip::Event start, hip::Event stop, std::uint32_t flags) {
  if (nested) {
    const auto other = reinterpret_cast<decltype(&hipExtModuleLaunchKernel)>(dlsym(RTLD_DEFAULT, "hipExtModuleLaunchKernel"));
    return other(function, wx, wy, wz, bx, by, bz, shared, stream, parameters, extra, start, stop, flags);
  }
  return launch_in_threads("_Z24hipExtModuleLaunchKernelP18ihipModuleSymbol_tjjjjjjmP12ihipStream_tPPvS4_P11ihipEvent_tS6_j",
                           function, {wx, wy, wz}, {bx, by, bz}, shared, stream, parameters, extra, start, stop, flags);
}
#pragma GCC visibility pop
