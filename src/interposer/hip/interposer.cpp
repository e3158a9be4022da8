#include "interposer/hip/interposer.hpp"

#include <pthread.h>

#include <bit>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace elbowroom::interposer::hip {
namespace {

// LDS is given to blocks in such pieces, from gfx9 to gfx94x.
constexpr std::uint32_t kSharedGranule = 512;

hip::Stream handle_of(StreamId stream) { return reinterpret_cast<hip::Stream>(static_cast<std::uintptr_t>(stream)); }

StreamInfo describe_stream(void* self, StreamId stream) {
  auto& state = *static_cast<Interposer*>(self);
  const KeepsLastError errors(state.calls);
  StreamInfo info;
  int device = 0;
  if ((stream & 7U) != 0) {
    device = device_of_context(stream & 0xfff8U);
  } else {
    device = state.device_of(handle_of(stream));
    unsigned flags = 0;
    const bool known =
        state.calls.stream_get_flags != nullptr && state.calls.stream_get_flags(handle_of(stream), &flags) == hip::kSuccess;
    info.blocking = !known || (flags & hip::kStreamNonBlocking) == 0;
  }
  info.device = device < 0 ? 0 : device;
  info.context = context_of_device(info.device);
  state.devices.fetch_or(std::uint64_t{1} << (static_cast<unsigned>(info.device) % 64U), std::memory_order_relaxed);
  return info;
}

bool is_host_function(FunctionId id) { return id >> 63U != 0; }
const void* host_function_of(FunctionId id) {
  return reinterpret_cast<const void*>(static_cast<std::uintptr_t>(id & ~(std::uint64_t{1} << 63U)));
}
hip::Function function_of(FunctionId id) { return reinterpret_cast<hip::Function>(static_cast<std::uintptr_t>(id)); }

FunctionInfo describe_host_function(const RuntimeCalls& calls, const void* function) {
  FunctionInfo info;
  hip::FuncAttributes attributes{};
  if (calls.func_get_attributes == nullptr || calls.kernel_name_by_host_function == nullptr ||
      calls.func_get_attributes(&attributes, function) != hip::kSuccess) {
    return info;
  }
  info.name = calls.kernel_name_by_host_function(function, nullptr);
  info.registers = static_cast<std::uint32_t>(attributes.registers);
  info.static_shared = static_cast<std::uint32_t>(attributes.shared_bytes);
  return info;
}

FunctionInfo describe_module_function(const RuntimeCalls& calls, hip::Function function) {
  FunctionInfo info;
  int registers = 0;
  int shared = 0;
  if (calls.func_get_attribute == nullptr || calls.kernel_name == nullptr ||
      calls.func_get_attribute(&registers, hip::kFuncNumRegs, function) != hip::kSuccess ||
      calls.func_get_attribute(&shared, hip::kFuncSharedSizeBytes, function) != hip::kSuccess) {
    return info;
  }
  info.name = calls.kernel_name(function);
  info.registers = static_cast<std::uint32_t>(registers);
  info.static_shared = static_cast<std::uint32_t>(shared);
  return info;
}

FunctionInfo describe_function(void* self, FunctionId id) {
  const RuntimeCalls& calls = static_cast<Interposer*>(self)->calls;
  const KeepsLastError errors(calls);
  return is_host_function(id) ? describe_host_function(calls, host_function_of(id))
                              : describe_module_function(calls, function_of(id));
}

DeviceInfo describe_device(void* self, std::int32_t device) {
  const RuntimeCalls& calls = static_cast<Interposer*>(self)->calls;
  const KeepsLastError errors(calls);
  const auto attribute = [&](int which) {
    int value = 0;
    const bool known = calls.device_get_attribute != nullptr && calls.device_get_attribute(&value, which, device) == hip::kSuccess;
    return known && value > 0 ? static_cast<std::uint32_t>(value) : 0U;
  };
  DeviceInfo info;
  info.sms = attribute(hip::kDeviceMultiprocessorCount);
  info.shared_per_sm = attribute(hip::kDeviceMaxSharedMemoryPerMultiprocessor);
  info.reserved_per_block = 0;
  info.max_shared_per_block = attribute(hip::kDeviceMaxSharedMemoryPerBlock);
  info.shared_granule = kSharedGranule;
  if (calls.device_get_name == nullptr ||
      calls.device_get_name(info.name.data(), static_cast<int>(info.name.size()), device) != hip::kSuccess) {
    info.name = {};
  }
  return info;
}

std::uint32_t blocks_per_sm(void* self, FunctionId id, std::uint32_t threads, std::uint32_t dynamic_shared) {
  const RuntimeCalls& calls = static_cast<Interposer*>(self)->calls;
  const KeepsLastError errors(calls);
  int blocks = 0;
  int result = hip::kErrorNotInitialized;
  if (is_host_function(id)) {
    if (calls.occupancy != nullptr) {
      result = calls.occupancy(&blocks, host_function_of(id), static_cast<int>(threads), dynamic_shared);
    }
  } else if (calls.module_occupancy != nullptr) {
    result = calls.module_occupancy(&blocks, function_of(id), static_cast<int>(threads), dynamic_shared);
  }
  return result == hip::kSuccess && blocks > 0 ? static_cast<std::uint32_t>(blocks) : 0;
}

// HIP's events tell of the end of work alone, and its libraries take no number of compute units.
Rules possible(Rules rules) {
  if (rules.policy == Policy::gate) {
    std::fputs("elbowroom: policy gate needs an event at the begin of a kernel, which HIP lacks; priority is used\n", stderr);
    rules.policy = Policy::priority;
  }
  rules.gate = false;
  rules.sm_target = 0;
  rules.product_count = 0;
  return rules;
}

std::atomic<Interposer*> made_interposer{nullptr};
pthread_once_t make_once = PTHREAD_ONCE_INIT;

void at_exit() {
  Interposer* state = made_interposer.load(std::memory_order_acquire);
  if (state == nullptr || !state->used.exchange(false)) { return; }
  write_process_report({*state->core, state->overhead, std::popcount(state->devices.load()), "hipGetProcAddress:"});
}

void before_fork() { made_interposer.load()->core->before_fork(); }
void after_fork_in_parent() { made_interposer.load()->core->after_fork_in_parent(); }

// The runtime does not work in a child whose parent had used it: its handles mean nothing here, and the locks of other threads may
// be held for ever. Both are made anew in place.
void after_fork_in_child() {
  Interposer& state = *made_interposer.load();
  state.core->after_fork_in_child();
  new (&state.carriers) Carriers(state.calls);
  new (&state.graphs) GraphTable();
  new (&state.foreign_events) ForeignEvents();
  new (&state.timer) LaunchTimer(state.calls, *state.core);
  new (&state.overhead) Overhead();
  state.devices.store(0);
  state.used.store(false);
}

void make() {
  const RuntimeCalls calls = RuntimeCalls::find();
  if (calls.get_device == nullptr || calls.runtime_get_version == nullptr) { return; }
  const Rules rules = possible(read_rules());
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
  made_interposer.store(new (memory) Interposer(calls, rules, std::move(core)), std::memory_order_release);
  process::resolve_driver();
  pthread_atfork(&before_fork, &after_fork_in_parent, &after_fork_in_child);
  std::atexit(&at_exit);
}

int version_of(const RuntimeCalls& calls) {
  int version = 0;
  const KeepsLastError errors(calls);
  return calls.runtime_get_version(&version) == hip::kSuccess ? version : 0;
}

}  // namespace

Interposer::Interposer(const RuntimeCalls& found, const Rules& read, std::unique_ptr<Core> made)
    : calls(found), rules(read), core(std::move(made)), carriers(calls), timer(calls, *core), version(version_of(calls)) {}

int Interposer::current_device() const {
  int device = -1;
  return calls.get_device(&device) == hip::kSuccess ? device : -1;
}

int Interposer::device_of(hip::Stream stream) const {
  const bool is_default = reinterpret_cast<std::uintptr_t>(stream) <= hip::kStreamPerThread;
  if (is_default || calls.get_stream_device_id == nullptr) { return current_device(); }
  return calls.get_stream_device_id(stream);
}

StreamId Interposer::stream_id(hip::Stream stream, DefaultStream default_stream) const {
  const auto handle = reinterpret_cast<std::uintptr_t>(explicit_stream(stream, default_stream));
  if (handle > hip::kStreamPerThread) [[likely]] { return handle; }
  const int device = current_device();
  const ContextId context = context_of_device(device < 0 ? 0 : device);
  return handle == hip::kStreamPerThread ? per_thread_stream(context, thread_number()) : legacy_stream(context);
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

}  // namespace elbowroom::interposer::hip
