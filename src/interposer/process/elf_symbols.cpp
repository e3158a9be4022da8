#include "interposer/process/elf_symbols.hpp"

#include <elf.h>
#include <link.h>

#include <cstdint>
#include <cstring>

namespace elbowroom::interposer::process {
namespace {

std::string_view file_name(const char* path) {
  const std::string_view whole = path == nullptr ? "" : path;
  const std::size_t slash = whole.rfind('/');
  return slash == std::string_view::npos ? whole : whole.substr(slash + 1);
}

template <class T>
const T* at(std::uintptr_t address) {
  return reinterpret_cast<const T*>(address);
}

// What a lookup needs of an object's dynamic section.
struct DynamicTables {
  const ElfW(Sym) * symbols = nullptr;
  const char* strings = nullptr;
  const std::uint32_t* gnu_hash = nullptr;
  const ElfW(Word) * sysv_hash = nullptr;
};

DynamicTables read_tables(const dl_phdr_info& object) {
  DynamicTables tables;
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object.dlpi_phdr[i];
    if (header.p_type != PT_DYNAMIC) { continue; }
    for (const auto* entry = at<ElfW(Dyn)>(object.dlpi_addr + header.p_vaddr); entry->d_tag != DT_NULL; ++entry) {
      // glibc has relocated these in place for ordinary objects, but not for the kernel's vdso.
      std::uintptr_t address = entry->d_un.d_ptr;
      if (address < object.dlpi_addr) { address += object.dlpi_addr; }
      switch (entry->d_tag) {
        case DT_SYMTAB:
          tables.symbols = at<ElfW(Sym)>(address);
          break;
        case DT_STRTAB:
          tables.strings = at<char>(address);
          break;
        case DT_GNU_HASH:
          tables.gnu_hash = at<std::uint32_t>(address);
          break;
        case DT_HASH:
          tables.sysv_hash = at<ElfW(Word)>(address);
          break;
        default:
          break;
      }
    }
  }
  return tables;
}

bool defines(const DynamicTables& tables, std::uint32_t index, const char* name) {
  const ElfW(Sym)& symbol = tables.symbols[index];
  return symbol.st_shndx != SHN_UNDEF && symbol.st_value != 0 && ELF64_ST_TYPE(symbol.st_info) == STT_FUNC &&
         std::strcmp(tables.strings + symbol.st_name, name) == 0;
}

std::uint32_t find_by_gnu_hash(const DynamicTables& tables, const char* name) {
  std::uint32_t hash = 5381;
  for (const char* c = name; *c != '\0'; ++c) { hash = hash * 33 + static_cast<unsigned char>(*c); }
  const std::uint32_t bucket_count = tables.gnu_hash[0];
  const std::uint32_t first_index = tables.gnu_hash[1];
  const std::uint32_t bloom_words = tables.gnu_hash[2];
  const std::uint32_t* buckets = tables.gnu_hash + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
  const std::uint32_t* chain = buckets + bucket_count;
  if (bucket_count == 0) { return 0; }
  std::uint32_t index = buckets[hash % bucket_count];
  if (index < first_index) { return 0; }
  for (;; ++index) {
    const std::uint32_t entry = chain[index - first_index];
    if ((entry | 1U) == (hash | 1U) && defines(tables, index, name)) { return index; }
    if ((entry & 1U) != 0) { return 0; }
  }
}

std::uint32_t find_by_scan(const DynamicTables& tables, const char* name) {
  const std::uint32_t symbol_count = tables.sysv_hash[1];
  for (std::uint32_t index = 1; index < symbol_count; ++index) {
    if (defines(tables, index, name)) { return index; }
  }
  return 0;
}

bool holds(const dl_phdr_info& object, std::uintptr_t address) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& header = object.dlpi_phdr[i];
    const std::uintptr_t begin = object.dlpi_addr + header.p_vaddr;
    if (header.p_type == PT_LOAD && address >= begin && address < begin + header.p_memsz) { return true; }
  }
  return false;
}

struct SymbolSearch {
  std::string_view prefix;
  const char* name;
  void* found;
};

int look_into(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<SymbolSearch*>(data);
  if (!file_name(object->dlpi_name).starts_with(search.prefix)) { return 0; }
  if (holds(*object, reinterpret_cast<std::uintptr_t>(&look_into))) { return 0; }
  const DynamicTables tables = read_tables(*object);
  if (tables.symbols == nullptr || tables.strings == nullptr) { return 0; }
  std::uint32_t index = 0;
  if (tables.gnu_hash != nullptr) {
    index = find_by_gnu_hash(tables, search.name);
  } else if (tables.sysv_hash != nullptr) {
    index = find_by_scan(tables, search.name);
  }
  if (index == 0) { return 0; }
  search.found = reinterpret_cast<void*>(object->dlpi_addr + tables.symbols[index].st_value);
  return 1;
}

struct ObjectSearch {
  std::uintptr_t address;
  std::string_view name;
};

int match_object(dl_phdr_info* object, std::size_t, void* data) {
  auto& search = *static_cast<ObjectSearch*>(data);
  if (!holds(*object, search.address)) { return 0; }
  search.name = file_name(object->dlpi_name);
  return 1;
}

}  // namespace

void* find_loaded_symbol(std::string_view object_prefix, const char* name) {
  SymbolSearch search{object_prefix, name, nullptr};
  dl_iterate_phdr(&look_into, &search);
  return search.found;
}

std::string_view object_of(const void* address) {
  ObjectSearch search{reinterpret_cast<std::uintptr_t>(address), ""};
  dl_iterate_phdr(&match_object, &search);
  return search.name;
}

}  // namespace elbowroom::interposer::process
