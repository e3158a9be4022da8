#include "backend/dynamic_library.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>

namespace elbowroom::detail {
namespace {

/// Whether the loader stores a function's address for this relocation.
bool holds_address(std::uint64_t info) {
  const auto type = static_cast<std::uint32_t>(ELF64_R_TYPE(info));
#if defined(__x86_64__)
  return type == R_X86_64_JUMP_SLOT || type == R_X86_64_GLOB_DAT;
#elif defined(__aarch64__)
  return type == R_AARCH64_JUMP_SLOT || type == R_AARCH64_GLOB_DAT;
#else
  static_cast<void>(type);
  return false;
#endif
}

/// What the loader keeps of one library, as far as its imports go.
struct Imports {
  std::uintptr_t base = 0;
  const char* names = nullptr;
  const ElfW(Sym) * symbols = nullptr;
  const ElfW(Rela) * calls = nullptr;
  std::size_t call_bytes = 0;
  const ElfW(Rela) * data = nullptr;
  std::size_t data_bytes = 0;

  explicit Imports(const link_map& map) : base(map.l_addr) {
    for (const ElfW(Dyn)* entry = map.l_ld; entry->d_tag != DT_NULL; ++entry) {
      switch (entry->d_tag) {
        case DT_STRTAB:
          names = at<char>(*entry);
          break;
        case DT_SYMTAB:
          symbols = at<ElfW(Sym)>(*entry);
          break;
        case DT_JMPREL:
          calls = at<ElfW(Rela)>(*entry);
          break;
        case DT_PLTRELSZ:
          call_bytes = entry->d_un.d_val;
          break;
        case DT_RELA:
          data = at<ElfW(Rela)>(*entry);
          break;
        case DT_RELASZ:
          data_bytes = entry->d_un.d_val;
          break;
        default:
          break;
      }
    }
  }

  template <class Body>
  void for_each_slot_of(const char* symbol, Body body) const {
    const std::pair<const ElfW(Rela)*, std::size_t> tables[] = {{calls, call_bytes}, {data, data_bytes}};
    for (const auto& [first, bytes] : tables) {
      for (std::size_t i = 0; first != nullptr && i < bytes / sizeof(ElfW(Rela)); ++i) {
        const ElfW(Rela)& relocation = first[i];
        if (!holds_address(relocation.r_info)) { continue; }
        if (std::strcmp(names + symbols[ELF64_R_SYM(relocation.r_info)].st_name, symbol) != 0) { continue; }
        body(reinterpret_cast<void**>(base + relocation.r_offset));
      }
    }
  }

 private:
  template <class T>
  static const T* at(const ElfW(Dyn) & entry) {
    return reinterpret_cast<const T*>(entry.d_un.d_ptr);
  }
};

/// Libraries may be linked so that their imports are read-only once loaded. The page stays writable: making it read-only again
/// could take from another thread what it is about to use.
bool store(void** slot, void* value) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t start = reinterpret_cast<std::uintptr_t>(slot) / page * page;
  if (mprotect(reinterpret_cast<void*>(start), page, PROT_READ | PROT_WRITE) != 0) { return false; }
  *slot = value;
  return true;
}

}  // namespace

std::optional<std::string> beside_the_call(const std::string& name) {
  const char* const folders = std::getenv("LD_LIBRARY_PATH");
  if (folders == nullptr || *folders == '\0' || name.find('/') != std::string::npos) { return std::nullopt; }
  // The loader splits it at semicolons as well, and takes an empty entry for the current folder.
  for (std::string_view rest = folders;;) {
    const std::size_t end = rest.find_first_of(":;");
    std::string entry(rest.substr(0, end));
    if (!entry.starts_with('/') && access(((entry.empty() ? "." : entry) + "/" + name).c_str(), F_OK) == 0) { return entry; }
    if (end == std::string_view::npos) { return std::nullopt; }
    rest.remove_prefix(end + 1);
  }
}

Result<DynamicLibrary> DynamicLibrary::open(std::span<const std::string> names) {
  std::string tried;
  std::string reason;
  for (const std::string& name : names) {
    if (const std::optional<std::string> where = beside_the_call(name)) {
      reason = fmt::format("LD_LIBRARY_PATH has '{}', in which a file of that name lies: expected a path from the root", *where);
      tried += (tried.empty() ? "" : ", ") + name;
      continue;
    }
    if (void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) {
      return DynamicLibrary(std::shared_ptr<void>(handle, [](void* open) { dlclose(open); }), name);
    }
    const char* said = dlerror();
    reason = said == nullptr ? "no reason given" : said;
    tried += (tried.empty() ? "" : ", ") + name;
  }
  return unavailable(fmt::format("cannot load {} ({})", tried, reason));
}

void DynamicLibrary::keep_loaded() const { static_cast<void>(dlopen(name_.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE)); }

Result<void*> DynamicLibrary::find(const char* symbol) const {
  if (void* address = dlsym(handle_.get(), symbol)) { return address; }
  return unavailable(fmt::format("{} has no function {}", name_, symbol));
}

Status DynamicLibrary::redirect(const char* symbol, void* replacement) const {
  link_map* map = nullptr;
  if (dlinfo(handle_.get(), RTLD_DI_LINKMAP, static_cast<void*>(&map)) != 0) {
    return unavailable(fmt::format("{}: {}", name_, dlerror()));
  }
  int stored = 0;
  Imports(*map).for_each_slot_of(symbol, [&](void** slot) { stored += store(slot, replacement) ? 1 : 0; });
  if (stored > 0) { return {}; }
  return unavailable(fmt::format("{} does not import {}, or does so in a way that is not known", name_, symbol));
}

}  // namespace elbowroom::detail
