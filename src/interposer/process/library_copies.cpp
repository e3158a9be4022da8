#include "interposer/process/library_copies.hpp"

#include "interposer/process/object_stays.hpp"

namespace elbowroom::interposer::process {
namespace {

// The stay of each copy's object; kForever: not taken. Without a lock, which a forked child could find held.
constinit std::array<std::atomic<Stay>, kCopies> copies{};

}  // namespace

CopyId copy_in(const LoadedObject& object) {
  const Stay stay = stay_of(object);
  if (stay == kForever || is_over(stay)) { return kUnknownCopy; }
  for (std::size_t copy = 0; copy < kCopies; ++copy) {
    Stay known = copies[copy].load(std::memory_order_acquire);
    if (known == kForever && copies[copy].compare_exchange_strong(known, stay)) { return static_cast<CopyId>(copy); }
    if (known == stay) { return static_cast<CopyId>(copy); }
  }
  return kUnknownCopy;
}

void* find_in_copy(CopyId copy, const char* name) {
  const Stay stay = copies[copy].load(std::memory_order_acquire);
  void* own = nullptr;
  void* any = nullptr;
  std::size_t count = 0;
  visit_loaded_objects([&](const LoadedObject& object) {
    void* found = is_interposer(object) ? nullptr : object.find(name);
    if (found == nullptr) { return false; }
    ++count;
    any = found;
    if (stay_of(object) == stay) { own = found; }
    return own != nullptr;
  });
  if (own != nullptr) { return own; }
  return count == 1 ? any : nullptr;
}

}  // namespace elbowroom::interposer::process
