#include "interposer/process/object_stays.hpp"

#include <dlfcn.h>

#include <array>
#include <atomic>
#include <bitset>
#include <cstddef>

#include "interposer/process/definitions.hpp"
#include "interposer/process/loader_visit.hpp"
#include "interposer/process/symbol_routes.hpp"

namespace elbowroom::interposer::process {
namespace {

constexpr std::size_t kStays = 256;  // at once
constexpr Stay kTaking = 1;
constexpr Stay kTooMany = ~Stay{0};

// A stay is its place, and a number that no other stay in that place has. Without a lock, which a forked child could find held.
struct Place {
  std::atomic<Stay> stay{kForever};         ///< kForever: free
  std::atomic<const void*> begin{nullptr};  ///< of the object
  std::atomic<std::uint32_t> path{0};       ///< a hash: another object may be where the one was at once
};
constinit std::array<Place, kStays> places{};
constinit std::atomic<std::size_t> places_used{0};
constinit std::atomic<Stay> stays_begun{0};
struct Kept {
  std::atomic<const void*> begin{nullptr};  ///< of the object; null: free
  std::atomic<bool> taken{false};
};
constinit std::array<Kept, 64> kept_objects{};

// To keep an object takes a lock of the loader, whose holder may wait for whoever calls the driver. So it is done by who unloads
// something, and takes that lock anyway.
void keep_objects(DlcloseFunction next) {
  for (Kept& kept : kept_objects) {
    const void* begin = kept.begin.load(std::memory_order_acquire);
    if (begin == nullptr) { return; }
    if (kept.taken.load(std::memory_order_relaxed)) { continue; }
    const LoadedObject object = object_at(begin);
    void* handle = *object.path() == '\0' ? nullptr : open_object(object.path(), RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE);
    kept.taken.store(handle != nullptr, std::memory_order_relaxed);
    if (handle != nullptr && next != nullptr) { next(handle); }  // the program may count its own references
  }
}

Stay new_stay(std::size_t place) {
  constexpr Stay kNumbers = 1U << 23U;
  return static_cast<Stay>((stays_begun.fetch_add(1, std::memory_order_relaxed) % kNumbers + 1) * kStays + place);
}

// The stay of that object in a place; kForever: another one's.
Stay stay_in(const Place& place, const void* begin, std::uint32_t path) {
  const Stay stay = place.stay.load(std::memory_order_acquire);
  const bool same =
      stay > kTaking && place.begin.load(std::memory_order_relaxed) == begin && place.path.load(std::memory_order_relaxed) == path;
  std::atomic_thread_fence(std::memory_order_acquire);
  return same && place.stay.load(std::memory_order_relaxed) == stay ? stay : kForever;
}

void end_stays() {
  if (loader_is_lost()) { return; }  // what is loaded is not known any more
  const std::size_t count = places_used.load(std::memory_order_acquire);
  std::array<Stay, kStays> before;
  for (std::size_t place = 0; place < count; ++place) { before[place] = places[place].stay.load(std::memory_order_acquire); }
  std::bitset<kStays> loaded;
  visit_loaded_objects([&](const LoadedObject& object) {
    const std::uint32_t path = hash_of(object.path());
    for (std::size_t place = 0; place < count; ++place) {
      if (stay_in(places[place], object.begin(), path) != kForever) { loaded.set(place); }
    }
    return false;
  });
  for (std::size_t place = 0; place < count; ++place) {
    if (!loaded[place] && before[place] > kTaking) { places[place].stay.compare_exchange_strong(before[place], kForever); }
  }
}

}  // namespace

Stay stay_of(const LoadedObject& object) {
  const void* begin = object.begin();
  if (begin == nullptr) { return kForever; }
  const std::uint32_t path = hash_of(object.path());
  const std::size_t used = places_used.load(std::memory_order_acquire);
  for (std::size_t place = 0; place < used; ++place) {
    if (const Stay known = stay_in(places[place], begin, path); known != kForever) { return known; }
  }
  for (std::size_t place = 0; place < kStays; ++place) {
    Stay free = kForever;
    if (!places[place].stay.compare_exchange_strong(free, kTaking, std::memory_order_acq_rel)) { continue; }
    const Stay stay = new_stay(place);
    places[place].begin.store(begin, std::memory_order_relaxed);
    places[place].path.store(path, std::memory_order_relaxed);
    places[place].stay.store(stay, std::memory_order_release);
    std::size_t known = places_used.load(std::memory_order_relaxed);
    while (known <= place && !places_used.compare_exchange_weak(known, place + 1, std::memory_order_acq_rel)) {}
    return stay;
  }
  return kTooMany;
}

bool is_over(Stay stay) {
  return stay != kForever &&
         (stay == kTooMany || is_unloading() || places[stay % kStays].stay.load(std::memory_order_acquire) != stay);
}

bool is_here(Stay stay) {
  if (stay == kForever || stay == kTooMany || !is_unloading()) { return !is_over(stay); }
  const Place& place = places[stay % kStays];
  bool here = false;
  visit_loaded_objects([&](const LoadedObject& object) {
    here = object.begin() == place.begin.load(std::memory_order_relaxed) &&
           stay_in(place, object.begin(), hash_of(object.path())) == stay;
    return here;
  });
  return here;
}

void keep_loaded(const void* function) {
  const void* begin = is_from_start(function) ? nullptr : object_at(function).begin();
  if (begin == nullptr) { return; }
  for (Kept& kept : kept_objects) {
    const void* known = nullptr;
    if (kept.begin.compare_exchange_strong(known, begin, std::memory_order_acq_rel) || known == begin) { return; }
  }
}

}  // namespace elbowroom::interposer::process

// What was unloaded is seen here alone: no hook looks at the loaded objects when it is called.
extern "C" __attribute__((visibility("default"))) int dlclose(void* handle) noexcept {
  using namespace elbowroom::interposer::process;
  const DlcloseFunction next = next_dlclose();
  keep_objects(next);
  // From before the first moment at which another thread may load something there.
  const LoaderUnload unloading;
  const int result = next == nullptr ? -1 : next(handle);
  if (places_used.load(std::memory_order_relaxed) != 0) { end_stays(); }
  return result;
}
