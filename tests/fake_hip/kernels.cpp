#include <algorithm>
#include <cstring>
#include <map>
#include <string_view>

#include "runtime.hpp"

// Modules, functions and what they need, and the kernels that the fake knows by itself.

namespace fake_hip {
namespace {

constexpr std::size_t kArgumentRoom = 16;

using Kernels = std::map<std::string, FakeKernel, std::less<>>;

// A launch's arguments, kept until it runs.
struct Arguments {
  std::vector<std::array<char, kArgumentRoom>> values;
  std::vector<void*> pointers;
  std::vector<char> buffer;
};

std::shared_ptr<Arguments> copied(const FakeKernel& kernel, void** parameters, void** extra) {
  auto arguments = std::make_shared<Arguments>();
  if (parameters != nullptr) {
    arguments->values.resize(kernel.argument_count);
    for (std::size_t i = 0; i < kernel.argument_count; ++i) {
      const std::size_t bytes = kernel.argument_sizes == nullptr ? 8 : kernel.argument_sizes[i];
      std::memcpy(arguments->values[i].data(), parameters[i], std::min(bytes, kArgumentRoom));
    }
    for (auto& value : arguments->values) { arguments->pointers.push_back(value.data()); }
  } else if (extra != nullptr && kernel.run != nullptr) {
    // {1, buffer, 2, &bytes, 3}
    const std::size_t bytes = *static_cast<const std::size_t*>(extra[3]);
    arguments->buffer.assign(static_cast<const char*>(extra[1]), static_cast<const char*>(extra[1]) + bytes);
  }
  return arguments;
}

struct Interval {
  std::uint64_t begin, end;
};

constexpr std::uint64_t kNanosecondsPerTick = 10;  // the constant clock of CDNA

std::uint64_t spin_nanoseconds(const FakeLaunch& launch) {
  std::uint64_t ticks = 0;
  std::memcpy(&ticks, launch.arguments[0], sizeof ticks);
  const std::uint64_t at_once = launch.dynamic_shared > kSharedPerUnit / 2 ? 1 : 8;
  const std::uint64_t rounds = (launch.grid[0] + kComputeUnits * at_once - 1) / (kComputeUnits * at_once);
  return ticks * kNanosecondsPerTick * rounds;
}

void spin(const FakeLaunch& launch) {
  Interval* out = nullptr;
  std::memcpy(&out, launch.arguments[1], sizeof out);
  out->begin = std::min(out->begin, launch.begin_ns / kNanosecondsPerTick);
  out->end = std::max(out->end, launch.end_ns / kNanosecondsPerTick);
}

bool word_is_there(const FakeLaunch& launch) {
  const std::uint32_t* word = nullptr;
  std::uint32_t value = 0;
  std::memcpy(&word, launch.arguments[0], sizeof word);
  std::memcpy(&value, launch.arguments[1], sizeof value);
  return __atomic_load_n(word, __ATOMIC_ACQUIRE) >= value;
}

constexpr std::size_t kAwaitWordSizes[] = {8, 4};

FakeKernel spin_kernel() {
  FakeKernel kernel;
  kernel.name = "spin";
  kernel.argument_count = 2;
  kernel.run = &spin;
  kernel.nanoseconds = &spin_nanoseconds;
  return kernel;
}

FakeKernel await_word_kernel() {
  FakeKernel kernel;
  kernel.name = "await_word";
  kernel.argument_count = 2;
  kernel.argument_sizes = kAwaitWordSizes;
  kernel.can_run = &word_is_there;
  return kernel;
}

// With the runtime's mutex held.
Kernels& known_kernels() {
  static auto* made = new Kernels{{"spin", spin_kernel()}, {"await_word", await_word_kernel()}};
  return *made;
}

}  // namespace

std::uint64_t default_nanoseconds(const FakeLaunch& launch) {
  const std::uint64_t blocks = std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
  return 2000 + 20 * ((blocks + kComputeUnits - 1) / kComputeUnits);
}

// 512 registers of each of 4 SIMDs in pieces of 8, at most 8 waves a SIMD, shared memory in pieces of 512 bytes.
int residency(const Function& function, int threads, std::size_t dynamic_shared) {
  if (threads <= 0 || threads > function.kernel.max_threads) { return 0; }
  const int registers = std::max(8, (function.kernel.registers + 7) / 8 * 8);
  const int waves = 4 * std::min(8, 512 / registers);
  const int by_waves = waves / ((threads + 63) / 64);
  const std::size_t shared = (static_cast<std::size_t>(function.kernel.static_shared) + dynamic_shared + 511) / 512 * 512;
  const int by_shared = shared == 0 ? by_waves : static_cast<int>(kSharedPerUnit / shared);
  return std::min(by_waves, by_shared);
}

Function* make_function(const FakeKernel& kernel) {
  auto* made = keep(new Function);
  made->name = kernel.name;
  made->kernel = kernel;
  return made;
}

Function* function_named(const std::string& name) {
  const auto found = known_kernels().find(name);
  return found == known_kernels().end() ? nullptr : make_function(found->second);
}

Operation launch_operation(const Function& function, const FakeHipCall& call, int device) {
  const std::shared_ptr<Arguments> arguments = copied(function.kernel, call.parameters, call.extra);
  FakeLaunch launch{};
  launch.kernel = function.name.c_str();
  launch.device = device;
  std::copy_n(call.grid, 3, launch.grid);
  std::copy_n(call.block, 3, launch.block);
  launch.dynamic_shared = call.shared;
  launch.arguments = arguments->pointers.empty() ? nullptr : arguments->pointers.data();
  launch.argument_buffer = arguments->buffer.empty() ? nullptr : arguments->buffer.data();
  launch.argument_bytes = arguments->buffer.size();
  Operation operation;
  operation.is_kernel = true;
  const FakeKernel kernel = function.kernel;
  operation.nanoseconds = [=] { return (kernel.nanoseconds != nullptr ? kernel.nanoseconds : &default_nanoseconds)(launch); };
  if (kernel.can_run != nullptr) {
    operation.can_run = [=] { return kernel.can_run(launch); };
  }
  operation.run = [kernel, launch, arguments](std::uint64_t begin, std::uint64_t end) {
    FakeLaunch timed = launch;
    timed.begin_ns = begin;
    timed.end_ns = end;
    if (kernel.run != nullptr) { kernel.run(timed); }
  };
  return operation;
}

}  // namespace fake_hip

using namespace fake_hip;

namespace {

Function* plain(hip::Function handle) {
  auto* function = object<Function>(handle);
  return function != nullptr && !function->is_symbol ? function : nullptr;
}

Function* symbol(const void* handle) {
  auto* function = object<Function>(handle);
  return function != nullptr && function->is_symbol ? function : nullptr;
}

FakeKernel kernel_without_module(const char* name, int registers, int static_shared) {
  const auto found = known_kernels().find(name);
  FakeKernel kernel = found == known_kernels().end() ? FakeKernel{} : found->second;
  kernel.name = name;
  kernel.registers = registers;
  kernel.static_shared = static_shared;
  return kernel;
}

int occupancy(const char* name, int* blocks, const Function* function, int threads, std::size_t dynamic_shared) {
  return question(name, [&] {
    if (function == nullptr || threads <= 0) { return hip::kErrorInvalidDeviceFunction; }
    *blocks = residency(*function, threads, dynamic_shared);
    return 0;
  });
}

bool is_image(const void* image) {
  return image != nullptr && *static_cast<const char*>(image) != '\0' &&
         std::strncmp(static_cast<const char*>(image), "broken", 6) != 0;
}

}  // namespace

void fake_hip_register_kernel(const FakeKernel* kernel) {
  const std::lock_guard lock(runtime_mutex());
  FakeKernel& entry = known_kernels()[kernel->name];
  const bool probe = entry.run == &spin || entry.can_run == &word_is_there;
  if (!probe) { entry = *kernel; }
}

hip::Function fake_hip_function(const char* name, int registers, int static_shared) {
  const std::lock_guard lock(runtime_mutex());
  return reinterpret_cast<hip::Function>(make_function(kernel_without_module(name, registers, static_shared)));
}

const void* fake_hip_symbol(const char* name, int registers, int static_shared) {
  const std::lock_guard lock(runtime_mutex());
  Function* made = make_function(kernel_without_module(name, registers, static_shared));
  made->is_symbol = true;
  return made;
}

void fake_hip_reuse_symbol(const void* host_function, const char* name) {
  const std::lock_guard lock(runtime_mutex());
  symbol(host_function)->name = name;
}

#pragma GCC visibility push(default)
extern "C" {
void __hipUnregisterFatBinary(void**) {
  question("__hipUnregisterFatBinary", [] { return 0; });
}

int hipModuleLoadData(hip::Module* module, const void* image) {
  return question("hipModuleLoadData", [&] {
    if (!is_image(image)) { return hip::kErrorInvalidImage; }
    *module = reinterpret_cast<hip::Module>(keep(new Module));
    return 0;
  });
}
int hipModuleLoadDataEx(hip::Module* module, const void* image, unsigned, int*, void**) { return hipModuleLoadData(module, image); }
int hipModuleUnload(hip::Module module) {
  return make_call(named("hipModuleUnload"), [&] {
    delete object<Module>(module);
    return 0;
  });
}
int hipLibraryUnload(hip::Library) {
  return make_call(named("hipLibraryUnload"), [] { return 0; });
}
int hipModuleGetFunction(hip::Function* function, hip::Module module, const char* name) {
  return question("hipModuleGetFunction", [&] {
    auto* known_module = object<Module>(module);
    if (known_module == nullptr) { return hip::kErrorInvalidHandle; }
    Function* made = function_named(name);
    if (made == nullptr) { return hip::kErrorNotFound; }
    known_module->functions.emplace_back(made);
    *function = reinterpret_cast<hip::Function>(made);
    return 0;
  });
}
int hipGetFuncBySymbol(hip::Function* function, const void* host_function) {
  return question("hipGetFuncBySymbol", [&] {
    const Function* known_symbol = symbol(host_function);
    if (known_symbol == nullptr) { return hip::kErrorInvalidDeviceFunction; }
    *function = reinterpret_cast<hip::Function>(make_function(known_symbol->kernel));
    return 0;
  });
}
int hipFuncGetAttribute(int* value, int attribute, hip::Function handle) {
  return question("hipFuncGetAttribute", [&] {
    const Function* function = plain(handle);
    if (function == nullptr) { return hip::kErrorInvalidDeviceFunction; }
    switch (attribute) {
      case hip::kFuncMaxThreadsPerBlock:
        *value = function->kernel.max_threads;
        return 0;
      case hip::kFuncSharedSizeBytes:
        *value = function->kernel.static_shared;
        return 0;
      case hip::kFuncNumRegs:
        *value = function->kernel.registers;
        return 0;
      case hip::kFuncMaxDynamicSharedSizeBytes:
        *value = static_cast<int>(kSharedPerUnit) - function->kernel.static_shared;
        return 0;
      default:
        return hip::kErrorInvalidValue;
    }
  });
}
int hipFuncGetAttributes(hip::FuncAttributes* attributes, const void* host_function) {
  return question("hipFuncGetAttributes", [&] {
    const Function* function = symbol(host_function);
    if (function == nullptr) { return hip::kErrorInvalidDeviceFunction; }
    *attributes = {};
    attributes->max_threads_per_block = function->kernel.max_threads;
    attributes->registers = function->kernel.registers;
    attributes->shared_bytes = static_cast<std::size_t>(function->kernel.static_shared);
    attributes->max_dynamic_shared_bytes = static_cast<int>(kSharedPerUnit) - function->kernel.static_shared;
    return 0;
  });
}
int hipFuncSetAttribute(const void*, int, int) {
  return question("hipFuncSetAttribute", [] { return 0; });
}
const char* hipKernelNameRef(hip::Function handle) {
  const Function* function = plain(handle);
  return function == nullptr ? nullptr : function->name.c_str();
}
const char* hipKernelNameRefByPtr(const void* host_function, hip::Stream) {
  const Function* function = symbol(host_function);
  return function == nullptr ? nullptr : function->name.c_str();
}
int hipOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void* host_function, int threads, std::size_t dynamic_shared) {
  return occupancy("hipOccupancyMaxActiveBlocksPerMultiprocessor", blocks, symbol(host_function), threads, dynamic_shared);
}
int hipModuleOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, hip::Function handle, int threads, std::size_t dynamic_shared) {
  return occupancy("hipModuleOccupancyMaxActiveBlocksPerMultiprocessor", blocks, plain(handle), threads, dynamic_shared);
}

}  // extern "C"
#pragma GCC visibility pop
