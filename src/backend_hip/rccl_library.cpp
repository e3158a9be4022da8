#include "backend_hip/rccl_library.hpp"

#include <fmt/format.h>

#include <vector>

#include "base/dotted_version.hpp"
#include "elbowroom/base/environment.hpp"

namespace elbowroom::hip {
namespace {

constexpr int kBlockBudgets = 21700;

}  // namespace

Result<RcclLibrary> RcclLibrary::load() {
  std::vector<std::string> names{"librccl.so.1", "librccl.so"};
  if (const auto chosen = read(kRcclLibrary)) names = {*chosen};
  auto library = elbowroom::detail::DynamicLibrary::open(names);
  if (!library) return unavailable(fmt::format("RCCL: {}; set {} to its path", library.error().message, kRcclLibrary.name));
  library->keep_loaded();

  RcclLibrary rccl(std::move(*library));
  if (Status bound = rccl.bind_all(); !bound) return unavailable(fmt::format("RCCL: {}", bound.error().message));
  if (Status asked = rccl.check(rccl.functions.get_version(&rccl.version_), "ncclGetVersion"); !asked) return asked.error();
  // Older libraries may export the function without what the budget needs.
  if (rccl.version_ < kBlockBudgets) rccl.functions.comm_init_rank_config = nullptr;
  return rccl;
}

Status RcclLibrary::bind_all() {
  Functions& to = functions;
  for (const Status& bound : {
           library_.bind("ncclGetVersion", to.get_version),
           library_.bind("ncclGetUniqueId", to.get_unique_id),
           library_.bind("ncclCommInitRank", to.comm_init_rank),
           library_.bind("ncclCommDestroy", to.comm_destroy),
           library_.bind("ncclCommAbort", to.comm_abort),
           library_.bind("ncclCommGetAsyncError", to.comm_get_async_error),
           library_.bind("ncclGetErrorString", to.get_error_string),
           library_.bind("ncclGroupStart", to.group_start),
           library_.bind("ncclGroupEnd", to.group_end),
           library_.bind("ncclAllReduce", to.all_reduce),
           library_.bind("ncclAllGather", to.all_gather),
           library_.bind("ncclReduceScatter", to.reduce_scatter),
           library_.bind("ncclSend", to.send),
           library_.bind("ncclRecv", to.recv),
       }) {
    if (!bound) return bound;
  }
  static_cast<void>(library_.bind("ncclCommInitRankConfig", to.comm_init_rank_config));
  static_cast<void>(library_.bind("ncclGetLastError", to.get_last_error));
  return {};
}

std::string RcclLibrary::version() const { return elbowroom::detail::dotted_version(version_); }

Status RcclLibrary::check(int code, const char* call) const {
  if (code == kRcclSuccess || code == kRcclInProgress) return {};
  const char* last = functions.get_last_error == nullptr ? nullptr : functions.get_last_error(nullptr);
  std::string detail = last == nullptr ? "" : last;
  while (!detail.empty() && detail.back() == '\n') detail.pop_back();
  if (const auto line = detail.find('\n'); line != std::string::npos) detail.resize(line);
  return failed(fmt::format("{} failed: {}{}{}", call, functions.get_error_string(code), detail.empty() ? "" : ": ", detail));
}

}  // namespace elbowroom::hip
