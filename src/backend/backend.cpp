#include "elbowroom/backend/backend.hpp"

#include <fmt/format.h>

namespace elbowroom {

Result<std::unique_ptr<Launcher>> Backend::launcher(int) {
  return unavailable(fmt::format("backend {}: runs scenarios, it launches no kernels of an application", name()));
}

}  // namespace elbowroom
