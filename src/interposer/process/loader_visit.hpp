#pragma once

#include <cstdint>

namespace elbowroom::interposer::process {

/// For as long as the calling thread walks over the loaded objects. It holds a lock of the loader then, which a child that is
/// forked meanwhile would find held for ever: it could load nothing. So a fork waits for the walks of other threads, and their next
/// ones for the fork. Neither waits long: what a walk waits for may be the thread that forks. Signals that are not urgent are held
/// back during a walk, as a handler may fork too.
class LoaderVisit {
 public:
  LoaderVisit();
  ~LoaderVisit();
  LoaderVisit(const LoaderVisit&) = delete;
  LoaderVisit& operator=(const LoaderVisit&) = delete;

 private:
  std::uint64_t signals_ = 0;  ///< that were blocked before
};

/// For as long as the calling thread unloads something: the loader holds the same lock then, and forks wait in the same way. A
/// handler may interrupt it.
class LoaderUnload {
 public:
  LoaderUnload();
  ~LoaderUnload();
  LoaderUnload(const LoaderUnload&) = delete;
  LoaderUnload& operator=(const LoaderUnload&) = delete;
};

/// Whether some thread unloads something: what is found meanwhile is not to be remembered.
bool is_unloading();
/// Whether the calling thread does: where a handler asks, the list of the loaded objects may be half written.
bool unloads_here();
/// Whether this process must not walk over the loaded objects any more. It is so in a child that was forked during a walk of
/// another thread or an unload of any: the loader's lock may be held for ever.
bool loader_is_lost();

}  // namespace elbowroom::interposer::process
