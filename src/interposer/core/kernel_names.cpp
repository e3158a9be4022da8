#include "interposer/core/kernel_names.hpp"

namespace elbowroom::interposer {

std::uint64_t name_hash(const char* kernel_name) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (; *kernel_name != '\0'; ++kernel_name) {
    hash ^= static_cast<unsigned char>(*kernel_name);
    hash *= 0x100000001b3U;
  }
  return hash == 0 ? 1 : hash;
}

}  // namespace elbowroom::interposer
