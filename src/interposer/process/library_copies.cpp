#include "interposer/process/library_copies.hpp"

#include "interposer/process/elf_symbols.hpp"

namespace elbowroom::interposer::process {
namespace {

// Where each copy is loaded; 0: not taken. Without a lock, which a forked child could find held.
constinit std::array<std::atomic<std::uintptr_t>, kCopies> objects{};

}  // namespace

CopyId copy_in(std::uintptr_t object) {
  if (object == 0) { return kUnknownCopy; }
  for (std::size_t copy = 0; copy < kCopies; ++copy) {
    std::uintptr_t known = objects[copy].load(std::memory_order_acquire);
    if (known == 0 && objects[copy].compare_exchange_strong(known, object)) { return static_cast<CopyId>(copy); }
    if (known == object) { return static_cast<CopyId>(copy); }
  }
  return kUnknownCopy;
}

void* find_in_copy(CopyId copy, const char* name) {
  const std::uintptr_t base = objects[copy].load(std::memory_order_acquire);
  void* own = nullptr;
  void* any = nullptr;
  std::size_t count = 0;
  visit_loaded_objects([&](const LoadedObject& object) {
    void* found = is_interposer(object) ? nullptr : object.find(name);
    if (found == nullptr) { return false; }
    ++count;
    any = found;
    if (object.base() == base) { own = found; }
    return own != nullptr;
  });
  if (own != nullptr) { return own; }
  return count == 1 ? any : nullptr;
}

}  // namespace elbowroom::interposer::process
