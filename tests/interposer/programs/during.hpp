#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <thread>

#include "driver_program.hpp"

/// What another thread does while a call of the driver is under way.

inline const char* wanted_call = nullptr;
inline std::function<void()> wanted_action;

// What hangs is said, and not waited for.
inline void act_beside(const std::function<void()>& action) {
  std::promise<void> done;
  std::future<void> is_done = done.get_future();
  std::thread([&] {
    use_device(0);
    action();
    done.set_value();
  }).detach();
  EXPECT(is_done.wait_for(std::chrono::seconds(20)) == std::future_status::ready);
}

/// Another thread acts while the driver is in its next call of that name.
inline void during(const char* name, std::function<void()> action) {
  wanted_call = name;
  wanted_action = std::move(action);
  fake_set_failure([](const FakeCall* call) {
    if (std::strcmp(call->name, wanted_call) != 0) { return 0; }
    fake_set_failure(nullptr);
    act_beside(wanted_action);
    return 0;
  });
}
