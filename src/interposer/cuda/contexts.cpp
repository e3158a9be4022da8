#include "interposer/cuda/contexts.hpp"

#include <algorithm>
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

Contexts::Entry* Contexts::find(cu::Context context) {
  for (Entry& candidate : entries_) {
    if (candidate.context == context) { return &candidate; }
  }
  return nullptr;
}

Contexts::Facts Contexts::ask(cu::Context context) const {
  const CurrentContext scope(driver_, context);
  Facts facts;
  if (!scope.ok() || driver_.ctx_get_device == nullptr || driver_.ctx_get_device(&facts.device) != cu::kSuccess) { return {}; }
  int least = 0;
  int greatest = 0;
  if (driver_.ctx_get_stream_priority_range != nullptr &&
      driver_.ctx_get_stream_priority_range(&least, &greatest) == cu::kSuccess && greatest < least) {
    facts.greatest = greatest;
  }
  cu::DeviceResource resource{};
  if (driver_.ctx_get_dev_resource != nullptr &&
      driver_.ctx_get_dev_resource(context, &resource, cu::kDeviceResourceSm) == cu::kSuccess) {
    facts.sms = resource.sm_count;
  }
  return facts;
}

Contexts::Facts Contexts::facts_of(cu::Context context) {
  if (context == nullptr) { return {}; }
  {
    const std::lock_guard lock(mutex_);
    if (const Entry* known = find(context)) { return known->facts; }
    if (find(nullptr) == nullptr) { return {}; }
  }
  const Facts facts = ask(context);
  const std::lock_guard lock(mutex_);
  Entry* free_entry = find(nullptr);
  if (facts.device < 0 || find(context) != nullptr || free_entry == nullptr) { return facts; }
  *free_entry = Entry{};
  free_entry->context = context;
  free_entry->facts = facts;
  devices_seen_ |= std::uint64_t{1} << (static_cast<unsigned>(facts.device) % 64U);
  return facts;
}

cu::Event Contexts::completion_event(cu::Context context, EventSlot slot) {
  if (slot >= kEventSlots || context == nullptr || driver_.event_create == nullptr) { return nullptr; }
  const auto keep = [&](cu::Event made) {
    const std::lock_guard lock(mutex_);
    Entry* known = find(context);
    if (known == nullptr) { return cu::Event{}; }
    cu::Event& event = known->events[slot];
    return event == nullptr ? event = made : event;
  };
  if (const cu::Event known = keep(nullptr)) { return known; }
  if (facts_of(context).device < 0) { return nullptr; }
  cu::Event made = nullptr;
  if (!make_event(driver_, context, made, cu::kEventDisableTiming)) { return nullptr; }
  const cu::Event kept = keep(made);
  if (kept != made) { destroy_event(driver_, context, made); }
  return kept;
}

Contexts::Watch* Contexts::watch_of(cu::Context context) {
  const std::lock_guard lock(mutex_);
  Entry* known = context == nullptr ? nullptr : find(context);
  return known == nullptr || driver_.stream_create == nullptr ? nullptr : &known->watch;
}

bool Contexts::knows(cu::Context context) const {
  const std::lock_guard lock(mutex_);
  return context != nullptr && std::ranges::any_of(entries_, [&](const Entry& each) { return each.context == context; });
}

bool Contexts::knows_any_of(cu::Device device) const {
  const std::lock_guard lock(mutex_);
  return std::ranges::any_of(entries_, [&](const Entry& each) { return each.context != nullptr && each.facts.device == device; });
}

bool Contexts::is_primary_active(cu::Device device) const {
  unsigned flags = 0;
  int active = 1;
  return driver_.primary_ctx_get_state == nullptr || driver_.primary_ctx_get_state(device, &flags, &active) != cu::kSuccess ||
         active != 0;
}

int Contexts::devices_seen() const { return std::popcount(devices_seen_.load(std::memory_order_relaxed)); }

}  // namespace elbowroom::interposer::cuda
