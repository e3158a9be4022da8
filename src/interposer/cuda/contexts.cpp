#include "interposer/cuda/contexts.hpp"

#include <bit>

namespace elbowroom::interposer::cuda {

CurrentContext::CurrentContext(const DriverCalls& driver, cu::Context context) : driver_(driver) {
  cu::Context current = nullptr;
  if (context == nullptr || driver.ctx_get_current == nullptr) { return; }
  if (driver.ctx_get_current(&current) == cu::kSuccess && current == context) {
    ok_ = true;
    return;
  }
  if (driver.ctx_push_current == nullptr || driver.ctx_pop_current == nullptr) { return; }
  pushed_ = driver.ctx_push_current(context) == cu::kSuccess;
  ok_ = pushed_;
}

CurrentContext::~CurrentContext() {
  cu::Context popped = nullptr;
  if (pushed_) { driver_.ctx_pop_current(&popped); }
}

bool make_event(const DriverCalls& driver, cu::Context context, cu::Event& event, unsigned flags) {
  const RelaxedCapture relaxed(driver);
  const CurrentContext scope(driver, context);
  return scope.ok() && driver.event_create(&event, flags) == cu::kSuccess;
}

void destroy_event(const DriverCalls& driver, cu::Context context, cu::Event event) {
  if (driver.event_destroy == nullptr) { return; }
  const RelaxedCapture relaxed(driver);
  const CurrentContext scope(driver, context);
  if (scope.ok()) { driver.event_destroy(event); }
}

cu::Context Contexts::current() const {
  cu::Context context = nullptr;
  if (driver_.ctx_get_current == nullptr || driver_.ctx_get_current(&context) != cu::kSuccess) { return nullptr; }
  return context;
}

cu::Context Contexts::of(cu::Stream stream) const {
  cu::Context context = nullptr;
  const bool is_default = reinterpret_cast<std::uintptr_t>(stream) <= cu::kStreamPerThread;
  if (is_default || driver_.stream_get_ctx == nullptr || driver_.stream_get_ctx(stream, &context) != cu::kSuccess) {
    return current();
  }
  return context;
}

// The driver is called with the lock held: once for each context and once for each slot, and none of these calls comes back here.
Contexts::Entry* Contexts::entry(cu::Context context) {
  if (context == nullptr) { return nullptr; }
  Entry* free_entry = nullptr;
  for (Entry& candidate : entries_) {
    if (candidate.context == context) { return &candidate; }
    if (free_entry == nullptr && candidate.context == nullptr) { free_entry = &candidate; }
  }
  if (free_entry == nullptr) { return nullptr; }
  const CurrentContext scope(driver_, context);
  if (!scope.ok()) { return nullptr; }
  *free_entry = Entry{};
  if (driver_.ctx_get_device == nullptr || driver_.ctx_get_device(&free_entry->device) != cu::kSuccess) { return nullptr; }
  int least = 0;
  free_entry->has_priority = driver_.ctx_get_stream_priority_range != nullptr &&
                             driver_.ctx_get_stream_priority_range(&least, &free_entry->priority) == cu::kSuccess &&
                             free_entry->priority < least;
  cu::DeviceResource resource{};
  if (driver_.ctx_get_dev_resource != nullptr &&
      driver_.ctx_get_dev_resource(context, &resource, cu::kDeviceResourceSm) == cu::kSuccess) {
    free_entry->sms = resource.sm_count;
  }
  free_entry->context = context;
  devices_seen_ |= std::uint64_t{1} << (static_cast<unsigned>(free_entry->device) % 64U);
  return free_entry;
}

int Contexts::device(cu::Context context) {
  const std::lock_guard lock(mutex_);
  const Entry* known = entry(context);
  return known == nullptr ? -1 : known->device;
}

std::uint32_t Contexts::sms(cu::Context context) {
  const std::lock_guard lock(mutex_);
  const Entry* known = entry(context);
  return known == nullptr ? 0 : known->sms;
}

bool Contexts::greatest_priority(cu::Context context, int& priority) {
  const std::lock_guard lock(mutex_);
  const Entry* known = entry(context);
  if (known == nullptr || !known->has_priority) { return false; }
  priority = known->priority;
  return true;
}

cu::Event Contexts::completion_event(cu::Context context, EventSlot slot, bool captured) {
  if (slot >= kEventSlots) { return nullptr; }
  const std::lock_guard lock(mutex_);
  Entry* known = entry(context);
  if (known == nullptr) { return nullptr; }
  cu::Event& event = known->events[captured ? 1 : 0][slot];
  if (event != nullptr || driver_.event_create == nullptr) { return event; }
  cu::Event made = nullptr;
  if (make_event(driver_, context, made, cu::kEventDisableTiming)) { event = made; }
  return event;
}

void Contexts::forget(cu::Context context) {
  const std::lock_guard lock(mutex_);
  for (Entry& candidate : entries_) {
    if (candidate.context == context) { candidate = Entry{}; }
  }
}

bool Contexts::is_primary_active(cu::Device device) const {
  unsigned flags = 0;
  int active = 1;
  return driver_.primary_ctx_get_state == nullptr || driver_.primary_ctx_get_state(device, &flags, &active) != cu::kSuccess ||
         active != 0;
}

// A reference more tells which it is. Without one at all, it would make the context.
cu::Context Contexts::primary(cu::Device device) const {
  cu::Context context = nullptr;
  const bool can_ask = driver_.primary_ctx_get_state != nullptr && driver_.primary_ctx_retain != nullptr &&
                       driver_.primary_ctx_release != nullptr && is_primary_active(device);
  if (!can_ask || driver_.primary_ctx_retain(&context, device) != cu::kSuccess) { return nullptr; }
  driver_.primary_ctx_release(device);
  return context;
}

cu::Context Contexts::any_of_device(cu::Device device) {
  const std::lock_guard lock(mutex_);
  for (const Entry& candidate : entries_) {
    if (candidate.context != nullptr && candidate.device == device) { return candidate.context; }
  }
  return nullptr;
}

int Contexts::devices_seen() const { return std::popcount(devices_seen_.load(std::memory_order_relaxed)); }

}  // namespace elbowroom::interposer::cuda
