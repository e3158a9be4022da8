#include "elbowroom/backend/registry.hpp"

#include <fmt/format.h>

#include <array>

#include "backend/leaves.hpp"

namespace elbowroom {
namespace {

// A leaf that this build lacks is declared and never called, so it need not exist.
constexpr bool kHasCuda = ELBOWROOM_BUILD_HAS_CUDA_BACKEND;

Result<std::unique_ptr<Backend>> open_cuda_if_built(const BackendOptions& options) {
  if constexpr (kHasCuda) {
    return detail::open_cuda(options);
  } else {
    static_cast<void>(options);
    return unavailable("this build has no cuda backend (no CUDA toolkit was found when it was configured)");
  }
}

constexpr std::array kBackends{
    BackendEntry{"cuda", "NVIDIA GPUs through CUDA and NCCL", open_cuda_if_built},
    BackendEntry{"hip", "AMD GPUs through HIP and RCCL", detail::open_hip},
    BackendEntry{"sim", "every device of the catalog, simulated on this CPU", detail::open_sim},
};

Result<std::unique_ptr<Backend>> open_first_usable(const BackendOptions& options) {
  std::string reasons;
  std::string passed_over;
  for (const BackendEntry& entry : kBackends) {
    Result<std::unique_ptr<Backend>> backend = entry.open(options);
    if (backend) {
      if (options.notice) {
        const std::string why = passed_over.empty() ? "first usable of this build"
                                                    : fmt::format("{} cannot be used here; elbowroom doctor says why", passed_over);
        options.notice(fmt::format("backend {}: {}", entry.name, why));
      }
      return backend;
    }
    passed_over += fmt::format("{}{}", passed_over.empty() ? "" : ", ", entry.name);
    reasons += fmt::format("{}{}: {}", reasons.empty() ? "" : "; ", entry.name, backend.error().message);
  }
  return unavailable(fmt::format("no usable backend ({})", reasons));
}

}  // namespace

std::span<const BackendEntry> backends() { return kBackends; }

Result<std::unique_ptr<Backend>> open_backend(std::string_view name, const BackendOptions& options) {
  if (name == "auto") { return open_first_usable(options); }
  std::string names = "auto";
  for (const BackendEntry& entry : kBackends) {
    if (entry.name == name) {
      Result<std::unique_ptr<Backend>> backend = entry.open(options);
      if (!backend) { return Error{backend.error().kind, fmt::format("backend {}: {}", name, backend.error().message)}; }
      return backend;
    }
    names += fmt::format(", {}", entry.name);
  }
  return invalid_input(fmt::format("backend: '{}', expected one of {}", name, names));
}

}  // namespace elbowroom
