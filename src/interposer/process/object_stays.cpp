#include "interposer/process/object_stays.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <bitset>
#include <cstddef>

#include "interposer/process/definitions.hpp"
#include "interposer/process/symbol_routes.hpp"

namespace elbowroom::interposer::process {
namespace {

constexpr std::size_t kStays = 256;
constexpr Stay kTooMany = kStays;

// Where the objects of the stays begin; null: over. A stay's place is taken once. Without a lock, which a forked child could find
// held.
constinit std::array<std::atomic<const void*>, kStays> begins{};
constinit std::array<std::atomic<std::uint32_t>, kStays> paths{};  ///< hashes: another object may be where the one was at once
constinit std::atomic<std::size_t> stays_taken{kForever + 1};
constinit std::atomic<unsigned> unloads{0};  ///< under way
constinit std::atomic<const void*> to_keep{nullptr};

// A reference takes a lock of the loader, whose holder may wait for whoever calls the driver. So it is taken by who unloads
// something, and takes that lock anyway.
void take_reference() {
  static constinit std::atomic<bool> taken{false};
  const void* function = to_keep.load(std::memory_order_relaxed);
  if (function == nullptr || taken.load(std::memory_order_relaxed)) { return; }
  taken.store(open_loaded(object_at(function)) != nullptr, std::memory_order_relaxed);
}

bool is_of(std::size_t stay, const LoadedObject& object, std::uint32_t path) {
  return begins[stay].load(std::memory_order_acquire) == object.begin() && paths[stay].load(std::memory_order_relaxed) == path;
}

void end_stays() {
  const std::size_t count = std::min(stays_taken.load(std::memory_order_acquire), kStays);
  std::bitset<kStays> loaded;
  visit_loaded_objects([&](const LoadedObject& object) {
    const std::uint32_t path = hash_of(object.path());
    for (std::size_t stay = 1; stay < count; ++stay) {
      if (is_of(stay, object, path)) { loaded.set(stay); }
    }
    return false;
  });
  for (std::size_t stay = 1; stay < count; ++stay) {
    if (!loaded[stay]) { begins[stay].store(nullptr, std::memory_order_release); }
  }
}

}  // namespace

Stay stay_of(const LoadedObject& object) {
  const void* begin = object.begin();
  if (begin == nullptr) { return kForever; }
  const std::uint32_t path = hash_of(object.path());
  for (std::size_t stay = 1; stay < std::min(stays_taken.load(std::memory_order_acquire), kStays); ++stay) {
    if (is_of(stay, object, path)) { return static_cast<Stay>(stay); }
  }
  const std::size_t stay = stays_taken.fetch_add(1, std::memory_order_acq_rel);
  if (stay >= kStays) {
    stays_taken.store(kStays, std::memory_order_release);
    return kTooMany;
  }
  paths[stay].store(path, std::memory_order_relaxed);
  begins[stay].store(begin, std::memory_order_release);
  return static_cast<Stay>(stay);
}

bool is_over(Stay stay) {
  return stay != kForever && (stay == kTooMany || is_unloading() || begins[stay].load(std::memory_order_acquire) == nullptr);
}

bool is_unloading() { return unloads.load(std::memory_order_acquire) != 0; }

void keep_loaded(const void* function) {
  if (to_keep.load(std::memory_order_relaxed) != nullptr || is_from_start(function)) { return; }
  to_keep.store(function, std::memory_order_relaxed);
}

}  // namespace elbowroom::interposer::process

// What was unloaded is seen here alone: no hook looks at the loaded objects when it is called.
extern "C" __attribute__((visibility("default"))) int dlclose(void* handle) noexcept {
  using namespace elbowroom::interposer::process;
  const DlcloseFunction next = next_dlclose();
  take_reference();
  // From before the first moment at which another thread may load something there.
  unloads.fetch_add(1);
  const int result = next == nullptr ? -1 : next(handle);
  if (stays_taken.load(std::memory_order_relaxed) > kForever + 1) { end_stays(); }
  unloads.fetch_sub(1);
  return result;
}
