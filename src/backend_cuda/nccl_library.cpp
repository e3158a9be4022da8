#include "backend_cuda/nccl_library.hpp"

#include <fmt/format.h>

#include <vector>

#include "backend_cuda/handles.hpp"
#include "backend_cuda/launch_completion.hpp"
#include "base/dotted_version.hpp"
#include "elbowroom/base/environment.hpp"

namespace elbowroom::cuda {
namespace {

using elbowroom::detail::dotted_version;

constexpr int kOldest = 21800;

Status bind_all(const elbowroom::detail::DynamicLibrary& library, NcclLibrary::Functions& to) {
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

constexpr int kCopyEngines = 22800;

/// What only newer libraries have; all of it or none.
void bind_newer(const elbowroom::detail::DynamicLibrary& library, NcclLibrary::Functions& to) {
  NcclLibrary::Functions newer = to;
  for (const Status& bound : {
           library.bind("ncclAlltoAll", newer.all_to_all),
           library.bind("ncclMemAlloc", newer.mem_alloc),
           library.bind("ncclMemFree", newer.mem_free),
           library.bind("ncclCommWindowRegister", newer.window_register),
           library.bind("ncclCommWindowDeregister", newer.window_deregister),
       }) {
    if (!bound) return;
  }
  to = newer;
}

int release_plain(void* memory) { return static_cast<int>(cudaFree(memory)); }

}  // namespace

Result<NcclLibrary> NcclLibrary::load() {
  std::vector<std::string> names{"libnccl.so.2"};
  if (const auto chosen = read(kNcclLibrary)) names = {*chosen};
  auto library = elbowroom::detail::DynamicLibrary::open(names);
  if (!library) return unavailable(fmt::format("NCCL: {}; set {} to its path", library.error().message, kNcclLibrary.name));

  NcclLibrary nccl(std::move(*library));
  nccl.launches_observed_ = observe_launches_of(nccl.opened_);
  if (Status bound = bind_all(nccl.opened_, nccl.functions); !bound) {
    return unavailable(fmt::format("NCCL: {}, expected NCCL {} or later", bound.error().message, dotted_version(kOldest)));
  }
  if (Status asked = nccl.check(nccl.functions.get_version(&nccl.version_), "ncclGetVersion"); !asked) return asked.error();
  if (nccl.version_ < kOldest) {
    return unavailable(fmt::format("NCCL {} in {}, expected {} or later", dotted_version(nccl.version_), nccl.opened_.name(),
                                   dotted_version(kOldest)));
  }
  if (nccl.version_ >= kCopyEngines) bind_newer(nccl.opened_, nccl.functions);
  return nccl;
}

Result<CollectiveMemory> NcclLibrary::allocate(Bytes size) const {
  if (functions.mem_alloc == nullptr) {
    Result<DeviceMemory> plain = cuda::allocate(size);
    if (!plain) return plain.error();
    return CollectiveMemory(plain->release(), CollectiveMemoryDeleter{&release_plain});
  }
  void* memory = nullptr;
  const auto bytes = static_cast<std::size_t>(size.count());
  if (Status allocated = check(functions.mem_alloc(&memory, bytes), "ncclMemAlloc"); !allocated) return allocated.error();
  return CollectiveMemory(memory, CollectiveMemoryDeleter{functions.mem_free});
}

std::string NcclLibrary::version() const { return dotted_version(version_); }

Status NcclLibrary::check(int code, const char* call) const {
  if (code == kNcclSuccess || code == kNcclInProgress) return {};
  const char* last = functions.get_last_error(nullptr);
  std::string detail = last == nullptr ? "" : last;
  while (!detail.empty() && detail.back() == '\n') detail.pop_back();
  if (const auto line = detail.find('\n'); line != std::string::npos) detail.resize(line);
  return failed(fmt::format("{} failed: {}{}{}", call, functions.get_error_string(code), detail.empty() ? "" : ": ", detail));
}

}  // namespace elbowroom::cuda
