#pragma once

#include <cstdint>

#include "interposer/process/routes.hpp"

namespace elbowroom::interposer::nccl {

/// Of NCCL or RCCL, as it names it (22809); 0 where it does not tell. As cheap as the library's own answer.
inline std::uint32_t library_version() {
  static constinit process::LibraryFunctions<1> functions(process::HookedLibrary::kNccl, {"ncclGetVersion"});
  int version = 0;
  auto* const get_version = functions.get<int (*)(int*)>(0);
  return get_version != nullptr && get_version(&version) == 0 && version > 0 ? static_cast<std::uint32_t>(version) : 0;
}

}  // namespace elbowroom::interposer::nccl
