#include "small_stack.hpp"

#include <fmt/format.h>
#include <sys/resource.h>

namespace elbowroom {

std::optional<std::string> small_stack() {
  constexpr rlim_t least = 256 << 10;
  rlimit stack = {};
  if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_cur == RLIM_INFINITY || stack.rlim_cur >= least) { return std::nullopt; }
  return fmt::format("the stack's limit is {} KiB, expected at least {}", stack.rlim_cur >> 10, least >> 10);
}

}  // namespace elbowroom
