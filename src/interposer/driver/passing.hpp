#pragma once

#include "interposer/core/passing.hpp"
#include "interposer/driver/interposer.hpp"

/// The short way of a launch (core/passing.hpp), as hooks take it.
namespace elbowroom::interposer::driver {

/// The calling thread.
template <Driver D>
struct OwnThread {
  static inline thread_local constinit PassingThread thread;
};

/// For a launch that goes the long way: there the thread is told whether its next one may take the short way.
template <Driver D>
PassingThread* own_thread(Core& core) {
  struct Lent {
    explicit Lent(Core& core) { OwnThread<D>::thread.use(core.passed_launches(process::thread_number())); }
    // The number will be another thread's.
    ~Lent() { OwnThread<D>::thread.use(nullptr); }
    Lent(const Lent&) = delete;
    Lent& operator=(const Lent&) = delete;
  };
  thread_local const Lent lent(core);
  return &OwnThread<D>::thread;
}

/// The calling thread where it was told that nothing needs its launches; otherwise null.
template <Driver D>
[[gnu::always_inline]] inline PassingThread* told_thread() {
  PassingThread& thread = OwnThread<D>::thread;
  return thread.told(*D::kPass) ? &thread : nullptr;
}

}  // namespace elbowroom::interposer::driver
