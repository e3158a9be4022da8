#include "interposer/cuda/interposer.hpp"

#include <pthread.h>

#include <cstdlib>
#include <new>

#include "interposer/nccl/report.hpp"

namespace elbowroom::interposer::cuda {
namespace {

constexpr std::uint64_t kHandleBits = (std::uint64_t{1} << 48U) - 1;

cu::Context context_of_tagged(StreamId stream) {
  return reinterpret_cast<cu::Context>(static_cast<std::uintptr_t>(stream & kHandleBits & ~std::uint64_t{7}));
}

StreamInfo describe_stream(void* self, StreamId stream) {
  auto& state = *static_cast<Interposer*>(self);
  StreamInfo info;
  cu::Context context = nullptr;
  if ((stream & 7U) != 0) {
    context = context_of_tagged(stream);
  } else {
    const auto handle = reinterpret_cast<cu::Stream>(static_cast<std::uintptr_t>(stream));
    context = state.contexts.of(handle);
    unsigned flags = 0;
    const bool known = state.driver.stream_get_flags != nullptr && state.driver.stream_get_flags(handle, &flags) == cu::kSuccess;
    info.blocking = !known || (flags & cu::kStreamNonBlocking) == 0;
  }
  info.context = id_of(context);
  const int device = state.contexts.device(context);
  info.device = device < 0 ? 0 : device;
  return info;
}

// Drivers before CUDA 12 know no such attribute, and no cluster.
std::uint32_t required_cluster(const DriverCalls& driver, cu::Function function) {
  std::uint32_t blocks = 1;
  for (const auto extent : {cu::kFuncRequiredClusterWidth, cu::kFuncRequiredClusterHeight, cu::kFuncRequiredClusterDepth}) {
    int value = 0;
    const bool known = driver.func_get_attribute(&value, extent, function) == cu::kSuccess;
    blocks *= known && value > 1 ? static_cast<std::uint32_t>(value) : 1;
  }
  return blocks;
}

FunctionInfo describe_function(void* self, FunctionId id) {
  const DriverCalls& driver = static_cast<Interposer*>(self)->driver;
  FunctionInfo info;
  if (driver.func_get_attribute == nullptr || driver.func_get_name == nullptr) { return info; }
  const cu::Function function = plain_function(driver, reinterpret_cast<cu::Function>(static_cast<std::uintptr_t>(id)));
  int registers = 0;
  int shared = 0;
  const char* name = nullptr;
  if (driver.func_get_attribute(&registers, cu::kFuncNumRegs, function) != cu::kSuccess ||
      driver.func_get_attribute(&shared, cu::kFuncSharedSizeBytes, function) != cu::kSuccess ||
      driver.func_get_name(&name, function) != cu::kSuccess) {
    return info;
  }
  info.name = name;
  info.registers = static_cast<std::uint32_t>(registers);
  info.static_shared = static_cast<std::uint32_t>(shared);
  info.required_cluster = required_cluster(driver, function);
  return info;
}

DeviceInfo describe_device(void* self, std::int32_t device) {
  const DriverCalls& driver = static_cast<Interposer*>(self)->driver;
  const auto attribute = [&](int which, std::uint32_t otherwise) {
    int value = 0;
    const bool known = driver.device_get_attribute != nullptr && driver.device_get_attribute(&value, which, device) == cu::kSuccess;
    return known && value > 0 ? static_cast<std::uint32_t>(value) : otherwise;
  };
  DeviceInfo info;
  info.sms = attribute(cu::kDeviceMultiprocessorCount, 0);
  info.shared_per_sm = attribute(cu::kDeviceMaxSharedMemoryPerMultiprocessor, 0);
  info.reserved_per_block = attribute(cu::kDeviceReservedSharedMemoryPerBlock, info.reserved_per_block);
  info.max_shared_per_block = attribute(cu::kDeviceMaxSharedMemoryPerBlockOptin, 0);
  if (driver.device_get_name == nullptr ||
      driver.device_get_name(info.name.data(), static_cast<int>(info.name.size()), device) != cu::kSuccess) {
    info.name = {};
  }
  return info;
}

std::uint32_t blocks_per_sm(void* self, FunctionId id, std::uint32_t threads, std::uint32_t dynamic_shared) {
  const DriverCalls& driver = static_cast<Interposer*>(self)->driver;
  if (driver.occupancy == nullptr) { return 0; }
  const cu::Function function = plain_function(driver, reinterpret_cast<cu::Function>(static_cast<std::uintptr_t>(id)));
  int blocks = 0;
  const int result = driver.occupancy(&blocks, function, static_cast<int>(threads), dynamic_shared);
  return result == cu::kSuccess && blocks > 0 ? static_cast<std::uint32_t>(blocks) : 0;
}

std::atomic<Interposer*> made_interposer{nullptr};
pthread_once_t make_once = PTHREAD_ONCE_INIT;

void at_exit() {
  Interposer* state = made_interposer.load(std::memory_order_acquire);
  if (state == nullptr || !state->used.exchange(false)) { return; }
  write_process_report({*state->core, state->overhead, state->contexts.devices_seen(), "cuGetProcAddress:", &nccl::write_report});
}

void before_fork() { made_interposer.load()->core->before_fork(); }
void after_fork_in_parent() { made_interposer.load()->core->after_fork_in_parent(); }

// The driver does not work in a child whose parent had used it: its handles mean nothing here, and the locks of other threads may
// be held for ever. Both are made anew in place.
void after_fork_in_child() {
  Interposer& state = *made_interposer.load();
  state.core->after_fork_in_child();
  new (&state.contexts) Contexts(state.driver);
  new (&state.graphs) GraphTable();
  new (&state.foreign_events) ForeignEvents();
  new (&state.timer) LaunchTimer(state.driver, *state.core);
  new (&state.descriptors) DescriptorTable();
  new (&state.overhead) Overhead();
  state.used.store(false);
}

void make() {
  const DriverCalls driver = DriverCalls::find();
  if (driver.launch_kernel_ex == nullptr || driver.ctx_get_current == nullptr) { return; }
  const Rules rules = read_rules();
  // The core keeps a copy of the platform, whose `self` must be known before the interposer is made.
  void* memory = ::operator new(sizeof(Interposer), std::nothrow);
  if (memory == nullptr) { return; }
  Platform platform;
  platform.self = memory;
  platform.describe_stream = &describe_stream;
  platform.describe_function = &describe_function;
  platform.describe_device = &describe_device;
  platform.blocks_per_sm = &blocks_per_sm;
  platform.known_durations = &known_durations;
  std::unique_ptr<Core> core = Core::create(rules, platform);
  if (core == nullptr) { return; }
  made_interposer.store(new (memory) Interposer(driver, rules, std::move(core)), std::memory_order_release);
  process::resolve_driver();
  pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child);
  std::atexit(&at_exit);
}

}  // namespace

Interposer::Interposer(const DriverCalls& calls, const Rules& read, std::unique_ptr<Core> made)
    : driver(calls), rules(read), core(std::move(made)), contexts(driver), timer(driver, *core) {}

StreamId Interposer::stream_id(cu::Stream stream, DefaultStream default_stream) const {
  const auto handle = reinterpret_cast<std::uintptr_t>(explicit_stream(stream, default_stream));
  if (handle > cu::kStreamPerThread) [[likely]] { return handle; }
  const ContextId context = id_of(contexts.current());
  return handle == cu::kStreamPerThread ? per_thread_stream(context, thread_number()) : legacy_stream(context);
}

Interposer* interposer() {
  // In a handler that interrupted us: what we know is being written.
  if (OwnMutex::held_here()) [[unlikely]] { return nullptr; }
  Interposer* state = made_interposer.load(std::memory_order_acquire);
  if (state == nullptr) [[unlikely]] {
    pthread_once(&make_once, &make);
    state = made_interposer.load(std::memory_order_acquire);
  }
  if (state != nullptr && !state->used.load(std::memory_order_relaxed)) { state->used.store(true, std::memory_order_relaxed); }
  return state;
}

}  // namespace elbowroom::interposer::cuda
