#include "backend_gpu/comm_library.hpp"

#include <fmt/format.h>

#include "base/dotted_version.hpp"

namespace elbowroom::gpu {

Result<CommLibrary> CommLibrary::make(const char* name, elbowroom::detail::DynamicLibrary library) {
  CommLibrary made(name, std::move(library));
  if (Status bound = made.bind_all(); !bound) { return unavailable(fmt::format("{}: {}", name, bound.error().message)); }
  if (Status asked = made.call(made.calls.get_version, &made.version_); !asked) { return asked.error(); }
  return made;
}

Status CommLibrary::bind_all() {
  static_cast<void>(opened_.bind("ncclGetLastError", calls.get_last_error));
  if (Status bound = opened_.bind("ncclGetErrorString", calls.get_error_string); !bound) { return bound; }
  return calls.bind_usual([this](auto& call) { return bind(opened_, call.name, call); });
}

Result<Memory> CommLibrary::allocate(const Runtime& runtime, Bytes size) const {
  if (!calls.mem_alloc) { return gpu::allocate(runtime, size); }
  void* memory = nullptr;
  if (Status allocated = call(calls.mem_alloc, &memory, static_cast<std::size_t>(size.count())); !allocated) {
    return allocated.error();
  }
  return Memory(memory, {calls.mem_free.function});
}

std::string CommLibrary::version() const { return elbowroom::detail::dotted_version(version_); }

Status CommLibrary::check(int code, std::string_view call) const {
  if (code == kCommSuccess || code == kCommInProgress) { return {}; }
  const char* last = calls.get_last_error == nullptr ? nullptr : calls.get_last_error(nullptr);
  std::string detail = last == nullptr ? "" : last;
  while (!detail.empty() && detail.back() == '\n') { detail.pop_back(); }
  if (const auto line = detail.find('\n'); line != std::string::npos) { detail.resize(line); }
  return failed(fmt::format("{} failed: {}{}{}", call, calls.get_error_string(code), detail.empty() ? "" : ": ", detail));
}

}  // namespace elbowroom::gpu
