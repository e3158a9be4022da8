#pragma once

#include <cstdint>

namespace elbowroom::interposer::process {

/// For as long as the calling thread walks over the loaded objects. It holds a lock of the loader then, which a child that is
/// forked meanwhile would find held for ever: it could load nothing. So a fork waits for the walks of other threads, and their next
/// ones for the fork. Neither waits long: what a walk waits for may be the thread that forks. No handler interrupts a walk,
/// as it may fork too.
class LoaderVisit {
 public:
  LoaderVisit();
  ~LoaderVisit();
  LoaderVisit(const LoaderVisit&) = delete;
  LoaderVisit& operator=(const LoaderVisit&) = delete;

 private:
  std::uint64_t signals_ = 0;  ///< that were blocked before
};

}  // namespace elbowroom::interposer::process
