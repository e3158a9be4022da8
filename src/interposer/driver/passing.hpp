#pragma once

#include "interposer/core/own_mutex.hpp"
#include "interposer/core/passing.hpp"
#include "interposer/driver/interposer.hpp"

/// The short way of a launch (core/passing.hpp), as hooks take it.
namespace elbowroom::interposer::driver {

/// The calling thread.
template <Driver D>
struct OwnThread {
  static inline thread_local constinit PassingThread thread;
  static inline thread_local constinit bool met = false;

  static void meet(Core& core) {
    const OwnMutex::Busy meeting;
    met = true;
    PassedLaunches* launches = core.passed_launches(process::thread_number());
    if (process::at_thread_end([] { thread.use(nullptr); })) { thread.use(launches); }
  }
};

/// For a launch that goes the long way: there the thread is told whether its next one may take the short way.
template <Driver D>
PassingThread* own_thread(Core& core) {
  if (!OwnThread<D>::met) [[unlikely]] { OwnThread<D>::meet(core); }
  return &OwnThread<D>::thread;
}

/// The calling thread where it was told that nothing needs its launches; otherwise null.
template <Driver D>
[[gnu::always_inline]] inline PassingThread* told_thread() {
  PassingThread& thread = OwnThread<D>::thread;
  return thread.told(*D::kPass) ? &thread : nullptr;
}

}  // namespace elbowroom::interposer::driver
