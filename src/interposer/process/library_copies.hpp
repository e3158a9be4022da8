#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interposer/process/elf_symbols.hpp"

namespace elbowroom::interposer::process {

/// Which copy of a library: a process may hold several of NCCL or cuBLAS, whose handles mean nothing to each other.
using CopyId = std::uint8_t;
inline constexpr std::size_t kCopies = 16;
inline constexpr CopyId kUnknownCopy = kCopies;

/// The number of the copy in an object; kUnknownCopy where there are too many. One that was unloaded leaves its number to nobody.
CopyId copy_in(const LoadedObject& object);

/// The function of that copy, or null. A copy that lacks it has that of the process, where there is one alone. Costs a walk over
/// the loaded objects.
void* find_in_copy(CopyId copy, const char* name);

/// Functions of a library that are not hooked, by copy, each looked up once: a handle of one copy never reaches another.
template <std::size_t N>
class CopyFunctions {
 public:
  explicit constexpr CopyFunctions(const std::array<const char*, N>& names) : names_(names) {}

  template <class Function>
  Function get(CopyId copy, std::size_t which) {
    if (copy >= kCopies) { return nullptr; }
    std::atomic<void*>& known = found_[copy][which];
    void* found = known.load(std::memory_order_acquire);
    if (found == nullptr) [[unlikely]] {
      found = find_in_copy(copy, names_[which]);
      known.store(found == nullptr ? kAbsent : found, std::memory_order_release);
    }
    return found == kAbsent ? nullptr : reinterpret_cast<Function>(found);
  }

 private:
  static inline char absent_;
  static constexpr void* kAbsent = &absent_;

  std::array<const char*, N> names_;
  std::array<std::array<std::atomic<void*>, N>, kCopies> found_{};
};

}  // namespace elbowroom::interposer::process
