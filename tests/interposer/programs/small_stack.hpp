#pragma once

#include <pthread.h>

#include <functional>

#include "program.hpp"

/// Calls on a thread that has a stack of 64 KiB, its own variables included, and waits for it.
inline void on_small_stack(std::function<void()> call) {
  pthread_attr_t attributes;
  pthread_t thread{};
  EXPECT(pthread_attr_init(&attributes) == 0 && pthread_attr_setstacksize(&attributes, 64 * 1024) == 0);
  const auto run = [](void* function) -> void* {
    (*static_cast<std::function<void()>*>(function))();
    return nullptr;
  };
  EXPECT(pthread_create(&thread, &attributes, run, &call) == 0 && pthread_join(thread, nullptr) == 0);
  pthread_attr_destroy(&attributes);
}
