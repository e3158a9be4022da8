#include "backend_cuda/nccl_library.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "backend_cuda/launch_completion.hpp"
#include "base/dotted_version.hpp"
#include "elbowroom/base/environment.hpp"

namespace elbowroom::cuda {
namespace {

using elbowroom::detail::dotted_version;

constexpr int kOldest = 21800;
constexpr int kCopyEngines = 22800;

/// What only newer libraries have; all of it or none.
void bind_newer(const elbowroom::detail::DynamicLibrary& library, gpu::CommCalls& to) {
  gpu::CommCalls newer = to;
  for (const Status& bound : {
           bind(library, "ncclAlltoAll", newer.all_to_all),
           bind(library, "ncclMemAlloc", newer.mem_alloc),
           bind(library, "ncclMemFree", newer.mem_free),
           bind(library, "ncclCommWindowRegister", newer.window_register),
           bind(library, "ncclCommWindowDeregister", newer.window_deregister),
       }) {
    if (!bound) { return; }
  }
  to = newer;
}

}  // namespace

Result<NcclLibrary> load_nccl() {
  std::vector<std::string> names{"libnccl.so.2"};
  if (const auto chosen = read(kNcclLibrary)) { names = {*chosen}; }
  auto library = elbowroom::detail::DynamicLibrary::open(names);
  if (!library) { return unavailable(fmt::format("NCCL: {}; set {} to its path", library.error().message, kNcclLibrary.name)); }
  const Status observed = observe_launches_of(*library);

  Result<gpu::CommLibrary> nccl = gpu::CommLibrary::make("NCCL", std::move(*library));
  if (!nccl) { return nccl.error(); }
  if (nccl->version_number() < kOldest) {
    return unavailable(
        fmt::format("NCCL {} in {}, expected {} or later", nccl->version(), nccl->opened().name(), dotted_version(kOldest)));
  }
  if (Status bound = bind(nccl->opened(), "ncclCommInitRankConfig", nccl->calls.comm_init_rank_config); !bound) {
    return unavailable(fmt::format("NCCL: {}", bound.error().message));
  }
  if (nccl->version_number() >= kCopyEngines) { bind_newer(nccl->opened(), nccl->calls); }
  return NcclLibrary{std::move(*nccl), observed};
}

}  // namespace elbowroom::cuda
