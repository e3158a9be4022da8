#include <cupti.h>
#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "backend/dynamic_library.hpp"
#include "backend_cuda/kernel_recorder.hpp"
#include "elbowroom/base/environment.hpp"
#include "model/library_kernels.hpp"

namespace elbowroom::cuda {
namespace {

struct Functions {
  decltype(&cuptiActivityEnable) enable;
  decltype(&cuptiActivityDisable) disable;
  decltype(&cuptiActivityRegisterCallbacks) register_callbacks;
  decltype(&cuptiActivityFlushAll) flush_all;
  decltype(&cuptiActivityGetNextRecord) next_record;
};

/// CUPTI hands its buffers to plain functions without a user pointer, so what they share is global. It is the one piece of global
/// state of the backend.
struct Recording {
  std::mutex mutex;
  Functions call{};
  std::vector<Span> spans;
  std::string failure;
};

Recording& recording() {
  static Recording state;
  return state;
}

constexpr std::size_t kBufferBytes = std::size_t{4} << 20;
constexpr std::size_t kBufferAlignment = 8;
constexpr std::array kRecorded{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2};

void CUPTIAPI give_buffer(std::uint8_t** buffer, std::size_t* size, std::size_t* greatest_records) {
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(kBufferAlignment, kBufferBytes));
  *size = *buffer == nullptr ? 0 : kBufferBytes;
  *greatest_records = 0;
}

std::string readable(const char* name) {
  if (name == nullptr) { return "?"; }
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> demangled(abi::__cxa_demangle(name, nullptr, nullptr, &status), &std::free);
  return status == 0 && demangled != nullptr ? demangled.get() : name;
}

SpanKind kind_of(std::string_view name) {
  return elbowroom::detail::is_of_comm_library(name) ? SpanKind::communication : SpanKind::compute;
}

// The oldest record layout that knows clusters; CUPTI only appends to it.
Span span_of(const CUpti_ActivityKernel9& kernel) {
  Span span;
  span.name = readable(kernel.name);
  span.kind = kind_of(span.name);
  span.device = static_cast<int>(kernel.deviceId);
  span.stream = kernel.streamId;
  span.begin = Nanoseconds(static_cast<std::int64_t>(kernel.start));
  span.end = Nanoseconds(static_cast<std::int64_t>(kernel.end));
  LaunchShape launch;
  launch.grid = Blocks(std::int64_t{kernel.gridX} * kernel.gridY * kernel.gridZ);
  launch.block = Threads(std::int64_t{kernel.blockX} * kernel.blockY * kernel.blockZ);
  launch.registers_per_thread = Registers(kernel.registersPerThread);
  launch.static_shared = Bytes(kernel.staticSharedMemory);
  launch.dynamic_shared = Bytes(kernel.dynamicSharedMemory);
  launch.cluster = static_cast<int>(std::max(1U, kernel.clusterX * kernel.clusterY * kernel.clusterZ));
  span.launch = launch;
  return span;
}

// Both kinds of copy records name these members alike; their oldest layouts, for the same reason. A schedule copies nothing but
// what its collective has copy engines move.
template <class Record>
Span copy_span(const Record& copy, const char* where) {
  Span span;
  span.name = fmt::format("copy {} {} B", where, copy.bytes);
  span.kind = SpanKind::communication;
  span.device = static_cast<int>(copy.deviceId);
  span.stream = copy.streamId;
  span.begin = Nanoseconds(static_cast<std::int64_t>(copy.start));
  span.end = Nanoseconds(static_cast<std::int64_t>(copy.end));
  return span;
}

std::optional<Span> span_of(const CUpti_Activity& record) {
  switch (record.kind) {
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
      return span_of(reinterpret_cast<const CUpti_ActivityKernel9&>(record));
    case CUPTI_ACTIVITY_KIND_MEMCPY:
      return copy_span(reinterpret_cast<const CUpti_ActivityMemcpy&>(record), "within the device");
    case CUPTI_ACTIVITY_KIND_MEMCPY2:
      return copy_span(reinterpret_cast<const CUpti_ActivityMemcpyPtoP&>(record), "to a peer");
    default:
      return std::nullopt;
  }
}

void CUPTIAPI take_buffer(CUcontext, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t valid) {
  const std::unique_ptr<std::uint8_t, decltype(&std::free)> owned(buffer, &std::free);
  Recording& state = recording();
  const std::scoped_lock lock(state.mutex);
  CUpti_Activity* record = nullptr;
  while (valid > 0) {
    const CUptiResult next = state.call.next_record(buffer, valid, &record);
    if (next == CUPTI_ERROR_MAX_LIMIT_REACHED) { return; }
    if (next != CUPTI_SUCCESS) {
      state.failure = fmt::format("cuptiActivityGetNextRecord: code {}", static_cast<int>(next));
      return;
    }
    std::optional<Span> span = span_of(*record);
    if (!span) { continue; }
    if (span->begin == Nanoseconds(0) || span->end == Nanoseconds(0)) { state.failure = span->name + " has no time stamps"; }
    state.spans.push_back(std::move(*span));
  }
}

Result<elbowroom::detail::DynamicLibrary> load(Functions& call) {
  std::vector<std::string> names{"libcupti.so.13", "libcupti.so.12", "libcupti.so"};
  if (const auto chosen = read(kCuptiLibrary)) { names = {*chosen}; }
  auto library = elbowroom::detail::DynamicLibrary::open(names);
  if (!library) {
    return unavailable(fmt::format("kernel records: {}; set {} to its path", library.error().message, kCuptiLibrary.name));
  }
  const auto bind = [&](const char* symbol, auto& function) { return library->bind(symbol, function); };
  for (const Status& bound :
       {bind("cuptiActivityEnable", call.enable), bind("cuptiActivityDisable", call.disable),
        bind("cuptiActivityRegisterCallbacks", call.register_callbacks), bind("cuptiActivityFlushAll", call.flush_all),
        bind("cuptiActivityGetNextRecord", call.next_record)}) {
    if (!bound) { return unavailable(fmt::format("kernel records: {}", bound.error().message)); }
  }
  return library;
}

Status check_cupti(CUptiResult code, const char* call) {
  if (code == CUPTI_SUCCESS) { return {}; }
  return unavailable(fmt::format("kernel records: {} failed with CUPTI code {}", call, static_cast<int>(code)));
}

/// Loaded once and never unloaded: CUPTI keeps hooks into the driver.
Status prepare() {
  static const Status once = [] {
    Functions call{};
    static Result<elbowroom::detail::DynamicLibrary> library = load(call);
    if (!library) { return Status(library.error()); }
    recording().call = call;
    return check_cupti(call.register_callbacks(give_buffer, take_buffer), "cuptiActivityRegisterCallbacks");
  }();
  return once;
}

}  // namespace

Result<Timeline> record_kernels(const std::function<Status()>& work) {
  if (Status ready = prepare(); !ready) { return ready.error(); }
  Recording& state = recording();
  {
    const std::scoped_lock lock(state.mutex);
    state.spans.clear();
    state.failure.clear();
  }
  Status on;
  for (const CUpti_ActivityKind kind : kRecorded) {
    if (on) { on = check_cupti(state.call.enable(kind), "cuptiActivityEnable"); }
  }
  const Status worked = on ? work() : Status();
  // All buffers are delivered before flush_all returns, partly filled ones included.
  const Status flushed = check_cupti(state.call.flush_all(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED), "cuptiActivityFlushAll");
  // Also what was enabled before another kind was refused: what follows is timed.
  Status off;
  for (const CUpti_ActivityKind kind : kRecorded) {
    if (Status stopped = check_cupti(state.call.disable(kind), "cuptiActivityDisable"); !stopped) { off = stopped; }
  }
  for (const Status& status : {on, worked, flushed, off}) {
    if (!status) { return status.error(); }
  }
  const std::scoped_lock lock(state.mutex);
  if (!state.failure.empty()) { return unavailable(fmt::format("kernel records: {}", state.failure)); }
  return Timeline{Provenance::measured, std::exchange(state.spans, {})};
}

}  // namespace elbowroom::cuda
