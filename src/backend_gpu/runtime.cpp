#include "backend_gpu/runtime.hpp"

#include <fmt/format.h>

namespace elbowroom::gpu {

Status Runtime::check(int code, std::string_view call) const {
  if (code == kSuccess) return {};
  return failed(fmt::format("{} failed: {} ({})", call, calls.get_error_string(code), calls.get_error_name(code)));
}

}  // namespace elbowroom::gpu
