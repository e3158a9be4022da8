#pragma once

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>

#include "program.hpp"

/// Makes a program call one function of another library past its hook, as if there were no such hook.

namespace past {

inline void write_word(std::uintptr_t at, const void* word) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  auto* begin = reinterpret_cast<void*>(at / page * page);
  EXPECT(mprotect(begin, page, PROT_READ | PROT_WRITE) == 0);
  *reinterpret_cast<const void**>(at) = word;
}

/// The program's own places for the addresses of functions.
struct Places {
  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const ElfW(Rela) * tables[2] = {};
  std::size_t bytes[2] = {};

  explicit Places(const ElfW(Dyn) * entry) {
    for (; entry->d_tag != DT_NULL; ++entry) {
      const auto at = entry->d_un.d_ptr;
      if (entry->d_tag == DT_SYMTAB) { symbols = reinterpret_cast<const ElfW(Sym)*>(at); }
      if (entry->d_tag == DT_STRTAB) { names = reinterpret_cast<const char*>(at); }
      if (entry->d_tag == DT_JMPREL) { tables[0] = reinterpret_cast<const ElfW(Rela)*>(at); }
      if (entry->d_tag == DT_PLTRELSZ) { bytes[0] = entry->d_un.d_val; }
      if (entry->d_tag == DT_RELA) { tables[1] = reinterpret_cast<const ElfW(Rela)*>(at); }
      if (entry->d_tag == DT_RELASZ) { bytes[1] = entry->d_un.d_val; }
    }
  }
};

/// How many places of the program held the function's address.
inline int call_past_hook(const char* name, const char* library) {
  const auto loader = reinterpret_cast<void* (*)(void*, const char*)>(dlsym(dlopen("libc.so.6", RTLD_NOW), "dlsym"));
  const void* function = loader(dlopen(library, RTLD_NOW), name);
  EXPECT(function != nullptr);
  const Places places(_DYNAMIC);
  std::uintptr_t moved = 0;
  dl_iterate_phdr([](dl_phdr_info* info, std::size_t, void* to) { return *static_cast<std::uintptr_t*>(to) = info->dlpi_addr, 1; },
                  &moved);
  int changed = 0;
  for (int table = 0; table < 2; ++table) {
    for (std::size_t i = 0; i < places.bytes[table] / sizeof(ElfW(Rela)); ++i) {
      const ElfW(Rela)& place = places.tables[table][i];
      const auto symbol = ELF64_R_SYM(place.r_info);
      if (symbol == 0 || std::strcmp(places.names + places.symbols[symbol].st_name, name) != 0) { continue; }
      write_word(moved + place.r_offset, function);
      ++changed;
    }
  }
  return changed;
}

}  // namespace past

/// The case of a hook.
#define HOOK(hook, ...) {#hook, [] { __VA_ARGS__; }}

/// `list` names the cases. `CASE past` is the case with the program calling the library's function of that name past its hook,
/// which must show: exit code 1.
template <std::size_t N>
int run_cases_of(const Case (&cases)[N], const char* library, int argc, char** argv) {
  if (argc == 2 && std::strcmp(argv[1], "list") == 0) {
    for (const Case& known : cases) { std::puts(known.name); }
    return 0;
  }
  if (argc == 3 && std::strcmp(argv[2], "past") == 0) {
    if (past::call_past_hook(argv[1], library) == 0) { return 3; }
    --argc;
  }
  return run_case(cases, argc, argv);
}

/// Those of a driver: a case also fails where its hook did not lead to the driver's function of that name.
template <std::size_t N>
int run_driver_cases_of(const Case (&cases)[N], const char* library, std::size_t (*times_called)(const char* name), int argc,
                        char** argv) {
  const int result = run_cases_of(cases, library, argc, argv);
  const bool lists = argc == 2 && std::strcmp(argv[1], "list") == 0;
  if (result == 0 && !lists && times_called(argv[1]) == 0) {
    std::fprintf(stderr, "%s did not reach the driver\n", argv[1]);
    return 1;
  }
  return result;
}
