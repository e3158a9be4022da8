#include "recorder/fake_cupti.hpp"

#include <cupti.h>

#include <cstddef>
#include <cstring>
#include <mutex>
#include <set>

// Keeps CUPTI's rules as far as the recorder relies on them: one place for callbacks, buffers that are asked for when a record
// comes and handed to whoever is registered when they are flushed, and no end of a record that is still open.
namespace {

struct State {
  std::mutex mutex;
  CUpti_BuffersCallbackRequestFunc request = nullptr;
  CUpti_BuffersCallbackCompleteFunc complete = nullptr;
  std::set<CUpti_ActivityKind> enabled;
  std::uint8_t* buffer = nullptr;
  std::size_t size = 0, used = 0;
  std::uint32_t correlation = 100;
  bool kernels = false, begun = false, began_late = false;

  void call() {
    began_late = began_late || (kernels && !begun);
    begun = true;
  }
};

State& state() {
  static State one;
  return one;
}

/// Records stand one behind the other, each behind its size.
void add(State& fake, const void* record, std::size_t size) {
  if (fake.buffer == nullptr) {
    std::size_t most = 0;
    fake.request(&fake.buffer, &fake.size, &most);
    fake.used = 0;
  }
  if (fake.buffer == nullptr) { return; }  // the record is dropped
  std::memcpy(fake.buffer + fake.used, &size, sizeof size);
  std::memcpy(fake.buffer + fake.used + sizeof size, record, size);
  fake.used += (sizeof size + size + 7) / 8 * 8;
}

}  // namespace

extern "C" {

CUptiResult cuptiGetVersion(std::uint32_t* version) {
  *version = CUPTI_API_VERSION;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain, std::uint32_t, const char** name) {
  *name = "cudaLaunchKernel_v7000";
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc request, CUpti_BuffersCallbackCompleteFunc complete) {
  const std::scoped_lock lock(state().mutex);
  state().call();
  state().request = request;
  state().complete = complete;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind) {
  const std::scoped_lock lock(state().mutex);
  state().call();
  state().enabled.insert(kind);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind) {
  const std::scoped_lock lock(state().mutex);
  state().call();
  state().enabled.erase(kind);
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityFlushAll(std::uint32_t) {
  State& fake = state();
  const std::scoped_lock lock(fake.mutex);
  fake.call();
  if (fake.buffer != nullptr) { fake.complete(nullptr, 0, fake.buffer, fake.size, fake.used); }
  fake.buffer = nullptr;
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNextRecord(std::uint8_t* buffer, std::size_t valid, CUpti_Activity** record) {
  std::size_t at = 0;
  if (*record != nullptr) {
    at = static_cast<std::size_t>(reinterpret_cast<std::uint8_t*>(*record) - buffer) - sizeof(std::size_t);
    std::size_t size = 0;
    std::memcpy(&size, buffer + at, sizeof size);
    at += (sizeof size + size + 7) / 8 * 8;
  }
  if (at >= valid) { return CUPTI_ERROR_MAX_LIMIT_REACHED; }
  *record = reinterpret_cast<CUpti_Activity*>(buffer + at + sizeof(std::size_t));
  return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetNumDroppedRecords(CUcontext, std::uint32_t, std::size_t* dropped) {
  *dropped = 0;
  return CUPTI_SUCCESS;
}

void fake_kernel(const char* name, std::uint32_t stream, std::uint64_t launch, std::uint64_t begin, std::uint64_t end) {
  State& fake = state();
  const std::scoped_lock lock(fake.mutex);
  ++fake.correlation;
  fake.kernels = true;
  if (fake.enabled.contains(CUPTI_ACTIVITY_KIND_RUNTIME)) {
    CUpti_ActivityAPI call{};
    call.kind = CUPTI_ACTIVITY_KIND_RUNTIME;
    call.cbid = 211;
    call.start = launch;
    call.end = launch + 1'000;
    call.correlationId = fake.correlation;
    add(fake, &call, sizeof call);
  }
  if (fake.enabled.contains(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL)) {
    CUpti_ActivityKernel9 kernel{};
    kernel.kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
    kernel.start = begin;
    kernel.end = end;
    kernel.streamId = stream;
    kernel.gridX = kernel.gridY = kernel.gridZ = kernel.blockX = kernel.blockY = kernel.blockZ = 1;
    kernel.correlationId = fake.correlation;
    kernel.name = name;
    add(fake, &kernel, sizeof kernel);
  }
}

bool fake_began_late() {
  const std::scoped_lock lock(state().mutex);
  return state().began_late;
}

int fake_enabled() {
  const std::scoped_lock lock(state().mutex);
  return static_cast<int>(state().enabled.size());
}
}
