#include "backend_hip/rccl_library.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "elbowroom/base/environment.hpp"

namespace elbowroom::hip {
namespace {

constexpr int kBlockBudgets = 21700;

}  // namespace

Result<gpu::CommLibrary> load_rccl() {
  std::vector<std::string> names{"librccl.so.1", "librccl.so"};
  if (const auto chosen = read(kRcclLibrary)) { names = {*chosen}; }
  auto library = elbowroom::detail::DynamicLibrary::open(names);
  if (!library) { return unavailable(fmt::format("RCCL: {}; set {} to its path", library.error().message, kRcclLibrary.name)); }
  library->keep_loaded();
  Result<gpu::CommLibrary> rccl = gpu::CommLibrary::make("RCCL", std::move(*library));
  // Older libraries may export the function without what the budget needs.
  if (rccl && rccl->version_number() >= kBlockBudgets) {
    static_cast<void>(bind(rccl->opened(), "ncclCommInitRankConfig", rccl->calls.comm_init_rank_config));
  }
  return rccl;
}

}  // namespace elbowroom::hip
