#pragma once

#include <pthread.h>
#include <unistd.h>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <new>
#include <optional>

#include "interposer/core/unusual.hpp"
#include "interposer/driver/interposer.hpp"
#include "interposer/process/routes.hpp"

/// How the process's interposer comes to be, and what it leaves at the end. To be included by the one
/// source of a vendor's room that instantiates interposer<D>().
namespace elbowroom::interposer::driver {

/// The one interposer of a process.
template <class D>
struct Made {
  static inline constinit std::atomic<Interposer<D>*> interposer{nullptr};
  static inline pthread_once_t once = PTHREAD_ONCE_INIT;
};

/// What the core asks of the driver; `self` is the interposer.
template <class D>
struct Asked {
  static StreamInfo stream(void* self, StreamId id) {
    D& driver = static_cast<Interposer<D>*>(self)->driver;
    const typename D::OwnCalls own(driver.calls);
    StreamInfo info;
    typename D::Place place = D::kNowhere;
    if ((id & kTag) != 0) {
      place = D::place_of(ContextId{id & kHandleBits & ~kTag});
    } else {
      const auto handle = reinterpret_cast<typename D::Stream>(static_cast<std::uintptr_t>(id));
      place = driver.place_of(handle);
    }
    info.context = D::context_id(place);
    const int device = driver.device(place);
    info.device = device < 0 ? 0 : device;
    info.sms = driver.sms(place);
    return info;
  }

  static bool has_ended(void* self, ContextId context, EventSlot slot) {
    auto& state = *static_cast<Interposer<D>*>(self);
    return !state.core->capturing() && state.ends.has_passed(D::place_of(context), slot);
  }

  static bool watch_begin(void* self, ContextId context, EventSlot slot) {
    auto& state = *static_cast<Interposer<D>*>(self);
    return state.ends.timed_event(D::place_of(context), slot) != nullptr && state.driver.watch_begin(D::place_of(context), slot);
  }
  static bool begin_told(void* self, ContextId context, EventSlot slot) {
    auto& state = *static_cast<Interposer<D>*>(self);
    return state.driver.begin_told(D::place_of(context), state.ends.timed_event(D::place_of(context), slot));
  }

  static FunctionInfo function(void* self, FunctionId id) {
    D& driver = static_cast<Interposer<D>*>(self)->driver;
    const typename D::OwnCalls own(driver.calls);
    driver.load_function(id);
    return driver.describe_function(id);
  }

  static DeviceInfo device(void* self, std::int32_t device) {
    D& driver = static_cast<Interposer<D>*>(self)->driver;
    const typename D::OwnCalls own(driver.calls);
    DeviceInfo info = driver.describe_device(device);
    const auto read = [&](auto call, auto& text) {
      if (call == nullptr || call(text.data(), static_cast<int>(text.size()), device) != D::kSuccess) { text = {}; }
    };
    read(driver.calls.device_get_name, info.name);
    read(driver.calls.device_get_bus_id, info.bus_id);
    return info;
  }

  static std::uint32_t blocks_per_sm(void* self, FunctionId id, std::uint32_t threads, std::uint32_t dynamic_shared) {
    D& driver = static_cast<Interposer<D>*>(self)->driver;
    const typename D::OwnCalls own(driver.calls);
    return driver.blocks_per_sm(id, threads, dynamic_shared);
  }

 private:
  // The ids of default streams (core.hpp).
  static constexpr StreamId kTag = 7;
  static constexpr StreamId kHandleBits = (StreamId{1} << 48U) - 1;
};

// Not where the end came in a handler that interrupted a hook: what that guards may be half written.
template <class D>
void report_at_exit() {
  Interposer<D>* state = Made<D>::interposer.load(std::memory_order_acquire);
  if (state == nullptr || OwnMutex::held_here() || state->pid != getpid()) { return; }
  const process::Uncancelled finishing;
  process::write_process_report(
      {*state->core, state->overhead, state->driver.devices_seen(), state->begun_ns, D::kFinder, D::kWriteMore});
}

// The driver does not work in a child whose parent had used it.
template <class D>
void after_fork_in_child() {
  if (Made<D>::interposer.load() != nullptr) { stand_aside(Unusual::forked); }
}

/// For a constructor: handlers in a child run in the order in which they were asked for, and one of the program's may launch.
template <class D>
void watch_children() {
  pthread_atfork(nullptr, nullptr, &after_fork_in_child<D>);
}

template <class D>
void make() {
  const process::Uncancelled making;
  process::resolve_driver();  // first: before another copy of this library there is no driver to find
  const std::optional<typename D::Calls> calls = D::find();
  if (!calls) { return; }
  static constinit Rules rules;  // no small thing for the stack of whichever thread comes first
  process::read_rules(rules);
  process::read_report_place();
  if (const char* const lacks = D::leave_possible(rules)) {
    if (rules.policy == Policy::gate) {
      std::fprintf(stderr, "elbowroom: policy gate %s; priority is used\n", lacks);
      rules.policy = Policy::priority;
    }
    rules.gate = false;
  }
  static_assert(sizeof(Interposer<D>) <= std::size_t{144} * 1024);  // core.cpp has the rest of 1 MiB
  // The core keeps a copy of the platform, whose `self` must be known before the interposer is made.
  void* memory = ::operator new(sizeof(Interposer<D>), std::nothrow);
  if (memory == nullptr) { return; }
  Platform platform;
  platform.self = memory;
  platform.describe_stream = &Asked<D>::stream;
  platform.describe_function = &Asked<D>::function;
  platform.describe_device = &Asked<D>::device;
  platform.has_ended = &Asked<D>::has_ended;
  platform.watch_begin = &Asked<D>::watch_begin;
  platform.begin_told = &Asked<D>::begin_told;
  platform.blocks_per_sm = &Asked<D>::blocks_per_sm;
  platform.known_choices = &process::known_choices;
  platform.ranks = D::kRanks();
  std::unique_ptr<Core> core = Core::create(rules, platform, fast_path);
  if (core == nullptr) { return; }
  Made<D>::interposer.store(new (memory) Interposer<D>(*calls, rules, std::move(core)), std::memory_order_release);
  std::atexit(&report_at_exit<D>);
}

template <class D>
Interposer<D>* interposer() {
  Interposer<D>* state = Made<D>::interposer.load(std::memory_order_acquire);
  if (OwnMutex::held_here()) [[unlikely]] {
    stand_aside(Unusual::reentered);
    return nullptr;
  }
  // Made in any case, for the report that says why it stands aside.
  if (state == nullptr) [[unlikely]] {
    const OwnMutex::Busy making;  // a handler that interrupts this would wait for ever to have it made
    pthread_once(&Made<D>::once, &make<D>);
    state = Made<D>::interposer.load(std::memory_order_acquire);
  }
  return stands_aside() ? nullptr : state;
}

}  // namespace elbowroom::interposer::driver
