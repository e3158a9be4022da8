#include "backend_cuda/nccl_library.hpp"

#include <fmt/format.h>

#include <vector>

#include "headroom/base/environment.hpp"

namespace headroom::cuda {
namespace {

constexpr int kOldest = 21800;

Status bind_all(const headroom::detail::DynamicLibrary& library, NcclLibrary::Functions& to) {
  for (const Status& bound : {
           library.bind("ncclGetVersion", to.get_version),
           library.bind("ncclGetUniqueId", to.get_unique_id),
           library.bind("ncclCommInitRankConfig", to.comm_init_rank_config),
           library.bind("ncclCommDestroy", to.comm_destroy),
           library.bind("ncclCommAbort", to.comm_abort),
           library.bind("ncclCommGetAsyncError", to.comm_get_async_error),
           library.bind("ncclGetErrorString", to.get_error_string),
           library.bind("ncclGetLastError", to.get_last_error),
           library.bind("ncclGroupStart", to.group_start),
           library.bind("ncclGroupEnd", to.group_end),
           library.bind("ncclAllReduce", to.all_reduce),
           library.bind("ncclAllGather", to.all_gather),
           library.bind("ncclReduceScatter", to.reduce_scatter),
           library.bind("ncclSend", to.send),
           library.bind("ncclRecv", to.recv),
       }) {
    if (!bound) return bound;
  }
  return {};
}

std::string dotted(int version) { return fmt::format("{}.{}.{}", version / 10'000, version / 100 % 100, version % 100); }

}  // namespace

Result<NcclLibrary> NcclLibrary::load() {
  std::vector<std::string> names{"libnccl.so.2"};
  if (const auto chosen = read(kNcclLibrary)) names = {*chosen};
  auto library = headroom::detail::DynamicLibrary::open(names);
  if (!library) return unavailable(fmt::format("NCCL: {}; set {} to its path", library.error().message, kNcclLibrary.name));

  NcclLibrary nccl(std::move(*library));
  if (Status bound = bind_all(nccl.library_, nccl.functions); !bound) {
    return unavailable(fmt::format("NCCL: {}, expected NCCL {} or later", bound.error().message, dotted(kOldest)));
  }
  if (Status asked = nccl.check(nccl.functions.get_version(&nccl.version_), "ncclGetVersion"); !asked) return asked.error();
  if (nccl.version_ < kOldest) {
    return unavailable(
        fmt::format("NCCL {} in {}, expected {} or later", dotted(nccl.version_), nccl.library_.name(), dotted(kOldest)));
  }
  return nccl;
}

std::string NcclLibrary::version() const { return dotted(version_); }

Status NcclLibrary::check(int code, const char* call) const {
  if (code == kNcclSuccess || code == kNcclInProgress) return {};
  const char* last = functions.get_last_error(nullptr);
  std::string detail = last == nullptr ? "" : last;
  while (!detail.empty() && detail.back() == '\n') detail.pop_back();
  if (const auto line = detail.find('\n'); line != std::string::npos) detail.resize(line);
  return failed(fmt::format("{} failed: {}{}{}", call, functions.get_error_string(code), detail.empty() ? "" : ": ", detail));
}

}  // namespace headroom::cuda
