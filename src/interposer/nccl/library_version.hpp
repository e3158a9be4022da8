#pragma once

#include <cstdint>

#include "interposer/process/library_copies.hpp"

namespace elbowroom::interposer::nccl {

/// Of a copy of NCCL or RCCL, as it names it (22809); 0 where it does not tell. As cheap as the library's own answer.
inline std::uint32_t library_version(process::CopyId copy) {
  static constinit process::CopyFunctions<1> functions({"ncclGetVersion"});
  int version = 0;
  auto* const get_version = functions.get<int (*)(int*)>(copy, 0);
  return get_version != nullptr && get_version(&version) == 0 && version > 0 ? static_cast<std::uint32_t>(version) : 0;
}

}  // namespace elbowroom::interposer::nccl
