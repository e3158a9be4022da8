#include "backend_gpu/comm_library.hpp"

#include <fmt/format.h>

#include "base/dotted_version.hpp"

namespace elbowroom::gpu {

Result<CommLibrary> CommLibrary::make(const char* name, elbowroom::detail::DynamicLibrary library) {
  CommLibrary made(name, std::move(library));
  if (Status bound = made.bind_all(); !bound) return unavailable(fmt::format("{}: {}", name, bound.error().message));
  if (Status asked = made.call(made.calls.get_version, &made.version_); !asked) return asked.error();
  return made;
}

Status CommLibrary::bind_all() {
  CommCalls& to = calls;
  static_cast<void>(opened_.bind("ncclGetLastError", to.get_last_error));
  for (const Status& bound : {
           opened_.bind("ncclGetErrorString", to.get_error_string),
           bind(opened_, "ncclGetVersion", to.get_version),
           bind(opened_, "ncclGetUniqueId", to.get_unique_id),
           bind(opened_, "ncclCommInitRank", to.comm_init_rank),
           bind(opened_, "ncclCommDestroy", to.comm_destroy),
           bind(opened_, "ncclCommAbort", to.comm_abort),
           bind(opened_, "ncclCommGetAsyncError", to.comm_get_async_error),
           bind(opened_, "ncclGroupStart", to.group_start),
           bind(opened_, "ncclGroupEnd", to.group_end),
           bind(opened_, "ncclAllReduce", to.all_reduce),
           bind(opened_, "ncclAllGather", to.all_gather),
           bind(opened_, "ncclReduceScatter", to.reduce_scatter),
           bind(opened_, "ncclSend", to.send),
           bind(opened_, "ncclRecv", to.recv),
       }) {
    if (!bound) return bound;
  }
  return {};
}

Result<Memory> CommLibrary::allocate(const Runtime& runtime, Bytes size) const {
  if (!calls.mem_alloc) return gpu::allocate(runtime, size);
  void* memory = nullptr;
  if (Status allocated = call(calls.mem_alloc, &memory, static_cast<std::size_t>(size.count())); !allocated)
    return allocated.error();
  return Memory(memory, {calls.mem_free.function});
}

std::string CommLibrary::version() const { return elbowroom::detail::dotted_version(version_); }

Status CommLibrary::check(int code, std::string_view call) const {
  if (code == kCommSuccess || code == kCommInProgress) return {};
  const char* last = calls.get_last_error == nullptr ? nullptr : calls.get_last_error(nullptr);
  std::string detail = last == nullptr ? "" : last;
  while (!detail.empty() && detail.back() == '\n') detail.pop_back();
  if (const auto line = detail.find('\n'); line != std::string::npos) detail.resize(line);
  return failed(fmt::format("{} failed: {}{}{}", call, calls.get_error_string(code), detail.empty() ? "" : ": ", detail));
}

}  // namespace elbowroom::gpu
