#include "interposer/process/elf_symbols.hpp"

#include <sys/auxv.h>

#include <atomic>

#include "interposer/process/loader_visit.hpp"

// Compiled so that no loop of this file becomes a call of the C library (CMakeLists.txt).

namespace elbowroom::interposer::process {
namespace {

constexpr std::string_view kOwnSoname = "libelbowroom_interposer";

template <class T>
const T* at(std::uintptr_t address) {
  return reinterpret_cast<const T*>(address);
}

}  // namespace

const char* last_part(const char* path) {
  const char* part = path;
  for (const char* c = path; *c != '\0'; ++c) {
    if (*c == '/') { part = c + 1; }
  }
  return part;
}

bool same_text(const char* a, const char* b) {
  while (*a != '\0' && *a == *b) { ++a, ++b; }
  return *a == *b;
}

bool begins_with(const char* text, std::string_view prefix) {
  for (const char c : prefix) {
    if (*text++ != c) { return false; }
  }
  return true;
}

LoadedObject::LoadedObject(const dl_phdr_info& object)
    : base_(object.dlpi_addr),
      path_(object.dlpi_name == nullptr ? "" : object.dlpi_name),
      headers_(object.dlpi_phdr),
      header_count_(object.dlpi_phnum) {
  for (unsigned i = 0; i < header_count_; ++i) {
    if (headers_[i].p_type == PT_DYNAMIC) { dynamic_ = at<ElfW(Dyn)>(base_ + headers_[i].p_vaddr); }
  }
  read_dynamic();
}

LoadedObject::LoadedObject(const link_map& object) : base_(object.l_addr), path_(object.l_name), dynamic_(object.l_ld) {
  read_dynamic();
}

void LoadedObject::read_dynamic() {
  std::uintptr_t soname = 0;
  for (const ElfW(Dyn)* entry = dynamic_; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
    // glibc has relocated these in place for ordinary objects, but not for the kernel's vdso.
    std::uintptr_t address = entry->d_un.d_ptr;
    if (address < base_) { address += base_; }
    switch (entry->d_tag) {
      case DT_SYMTAB:
        symbols_ = at<ElfW(Sym)>(address);
        break;
      case DT_STRTAB:
        strings_ = at<char>(address);
        break;
      case DT_GNU_HASH:
        gnu_hash_ = at<std::uint32_t>(address);
        break;
      case DT_HASH:
        sysv_hash_ = at<ElfW(Word)>(address);
        break;
      case DT_VERSYM:
        versions_ = at<ElfW(Half)>(address);
        break;
      case DT_VERDEF:
        defined_versions_ = at<ElfW(Verdef)>(address);
        break;
      case DT_VERNEED:
        needed_versions_ = at<ElfW(Verneed)>(address);
        break;
      case DT_PLTGOT:
        plt_got_ = at<std::uintptr_t>(address);
        break;
      case DT_JMPREL:
        calls_.first = at<ElfW(Rela)>(address);
        break;
      case DT_PLTRELSZ:
        calls_.bytes = entry->d_un.d_val;
        break;
      case DT_RELA:
        data_.first = at<ElfW(Rela)>(address);
        break;
      case DT_RELASZ:
        data_.bytes = entry->d_un.d_val;
        break;
      case DT_SYMBOLIC:
        binds_own_first_ = true;
        break;
      case DT_FLAGS:
        binds_own_first_ = binds_own_first_ || (entry->d_un.d_val & DF_SYMBOLIC) != 0;
        break;
      case DT_SONAME:
        soname = entry->d_un.d_val;
        break;
      default:
        break;
    }
  }
  if (soname != 0) { soname_ = strings_ + soname; }
}

const char* LoadedObject::file_name() const { return last_part(path_); }
const char* LoadedObject::soname() const { return soname_ != nullptr ? soname_ : file_name(); }

const void* LoadedObject::begin() const {
  for (unsigned i = 0; i < header_count_; ++i) {
    if (headers_[i].p_type == PT_LOAD) { return at<void>(base_ + headers_[i].p_vaddr); }
  }
  return nullptr;
}

const void* LoadedObject::end() const {
  std::uintptr_t last = 0;
  for (unsigned i = 0; i < header_count_; ++i) {
    if (headers_[i].p_type == PT_LOAD) { last = base_ + headers_[i].p_vaddr + headers_[i].p_memsz; }
  }
  return at<void>(last);
}

bool LoadedObject::holds(const void* address) const {
  const auto wanted = reinterpret_cast<std::uintptr_t>(address);
  for (unsigned i = 0; i < header_count_; ++i) {
    const std::uintptr_t begin = base_ + headers_[i].p_vaddr;
    if (headers_[i].p_type == PT_LOAD && wanted >= begin && wanted < begin + headers_[i].p_memsz) { return true; }
  }
  return false;
}

namespace {

constexpr unsigned kHidden = 0x8000;   // of a symbol's version: another one is the default
constexpr unsigned kFirstVersion = 2;  // below are those without one

// The entries of a table that each say where the next one is.
template <class Entry>
const Entry* after(const Entry* entry, std::uint32_t bytes) {
  return bytes == 0 ? nullptr : reinterpret_cast<const Entry*>(reinterpret_cast<const char*>(entry) + bytes);
}

}  // namespace

const char* LoadedObject::defined_version(unsigned number) const {
  for (const auto* entry = defined_versions_; entry != nullptr; entry = after(entry, entry->vd_next)) {
    if (entry->vd_ndx != number || (entry->vd_flags & VER_FLG_BASE) != 0) { continue; }
    return strings_ + at<ElfW(Verdaux)>(reinterpret_cast<std::uintptr_t>(entry) + entry->vd_aux)->vda_name;
  }
  return nullptr;
}

const char* LoadedObject::needed_version(unsigned number) const {
  for (const auto* library = needed_versions_; library != nullptr; library = after(library, library->vn_next)) {
    const auto* entry = at<ElfW(Vernaux)>(reinterpret_cast<std::uintptr_t>(library) + library->vn_aux);
    for (unsigned i = 0; i < library->vn_cnt && entry != nullptr; ++i, entry = after(entry, entry->vna_next)) {
      if (entry->vna_other == number) { return strings_ + entry->vna_name; }
    }
  }
  return nullptr;
}

// As the loader compares them: what has no version answers for all. To whom asks for none it gives the default one here; the loader
// may give the first.
bool LoadedObject::has_version(std::uint32_t index, const char* version) const {
  if (versions_ == nullptr) { return true; }
  const unsigned number = versions_[index] & ~kHidden;
  const char* own = version == nullptr || number < kFirstVersion ? nullptr : defined_version(number);
  return own == nullptr ? (versions_[index] & kHidden) == 0 : same_text(own, version);
}

const char* LoadedObject::version_of(const char* name) const {
  const std::uint32_t index = versions_ == nullptr ? 0 : reference(name);
  const unsigned number = index == 0 ? 0 : versions_[index] & ~kHidden;
  if (number < kFirstVersion) { return nullptr; }
  return symbols_[index].st_shndx == SHN_UNDEF ? needed_version(number) : defined_version(number);
}

bool LoadedObject::defines(std::uint32_t index, const Wanted& wanted) const {
  const ElfW(Sym)& symbol = symbols_[index];
  const auto type = ELF64_ST_TYPE(symbol.st_info);
  return symbol.st_shndx != SHN_UNDEF && symbol.st_value != 0 && (type == STT_FUNC || type == STT_GNU_IFUNC) &&
         same_text(strings_ + symbol.st_name, wanted.name) && has_version(index, wanted.version);
}

std::uint32_t LoadedObject::find_by_gnu_hash(const Wanted& wanted) const {
  std::uint32_t hash = 5381;
  for (const char* c = wanted.name; *c != '\0'; ++c) { hash = hash * 33 + static_cast<unsigned char>(*c); }
  const std::uint32_t bucket_count = gnu_hash_[0];
  const std::uint32_t first_index = gnu_hash_[1];
  const std::uint32_t bloom_words = gnu_hash_[2];
  const std::uint32_t* buckets = gnu_hash_ + 4 + bloom_words * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
  const std::uint32_t* chain = buckets + bucket_count;
  if (bucket_count == 0) { return 0; }
  std::uint32_t index = buckets[hash % bucket_count];
  if (index < first_index) { return 0; }
  for (;; ++index) {
    const std::uint32_t entry = chain[index - first_index];
    if ((entry | 1U) == (hash | 1U) && defines(index, wanted)) { return index; }
    if ((entry & 1U) != 0) { return 0; }
  }
}

std::uint32_t LoadedObject::find_by_scan(const Wanted& wanted) const {
  const std::uint32_t symbol_count = sysv_hash_[1];
  for (std::uint32_t index = 1; index < symbol_count; ++index) {
    if (defines(index, wanted)) { return index; }
  }
  return 0;
}

std::uint32_t LoadedObject::find_index(const Wanted& wanted) const {
  if (symbols_ == nullptr) { return 0; }
  if (gnu_hash_ != nullptr) { return find_by_gnu_hash(wanted); }
  return sysv_hash_ != nullptr ? find_by_scan(wanted) : 0;
}

void* LoadedObject::find(const char* name, const char* version) const {
  const std::uint32_t index = find_index({name, version});
  if (index == 0) { return nullptr; }
  const std::uintptr_t address = base_ + symbols_[index].st_value;
  if (ELF64_ST_TYPE(symbols_[index].st_info) != STT_GNU_IFUNC) { return reinterpret_cast<void*>(address); }
  // It chooses the function, as the loader has it do.
  return reinterpret_cast<void* (*)(unsigned long)>(address)(getauxval(AT_HWCAP));
}

std::uint32_t LoadedObject::reference(const Relocations& relocations, const char* name) const {
  const std::size_t count = relocations.bytes / sizeof(ElfW(Rela));
  for (std::size_t i = 0; relocations.first != nullptr && i < count; ++i) {
    const auto index = ELF64_R_SYM(relocations.first[i].r_info);
    if (index != 0 && same_text(strings_ + symbols_[index].st_name, name)) { return static_cast<std::uint32_t>(index); }
  }
  return 0;
}

std::uint32_t LoadedObject::reference(const char* name) const {
  if (symbols_ == nullptr) { return 0; }
  const std::uint32_t called = reference(calls_, name);
  return called != 0 ? called : reference(data_, name);
}

const void* LoadedObject::bound(const Relocations& relocations, std::uint32_t index) const {
  const std::size_t count = relocations.bytes / sizeof(ElfW(Rela));
  for (std::size_t i = 0; relocations.first != nullptr && i < count; ++i) {
    const ElfW(Rela)& relocation = relocations.first[i];
    if (ELF64_R_SYM(relocation.r_info) == index && relocation.r_addend == 0) {
      return *at<const void*>(base_ + relocation.r_offset);
    }
  }
  return nullptr;
}

const void* LoadedObject::bound(const char* name) const {
  for (std::uint32_t index = 1; index < imported_end(); ++index) {
    if (symbols_[index].st_shndx != SHN_UNDEF || !same_text(strings_ + symbols_[index].st_name, name)) { continue; }
    const void* called = bound(calls_, index);
    return called != nullptr ? called : bound(data_, index);
  }
  return nullptr;
}

bool in_other_namespace(std::string_view object_prefix) {
  struct Extended {
    r_debug base;
    const Extended* next;
  };
  if (_r_debug.r_version < 2) { return false; }
  const auto* own = reinterpret_cast<const Extended*>(&_r_debug);
  asm("" : "+r"(own));  // longer than its declaration, from that version on
  for (const Extended* other = own->next; other != nullptr; other = other->next) {
    for (const link_map* object = other->base.r_map; object != nullptr; object = object->l_next) {
      if (begins_with(last_part(object->l_name), object_prefix)) { return true; }
    }
  }
  return false;
}

bool is_interposer(const LoadedObject& object) { return begins_with(object.soname(), kOwnSoname); }

namespace {

using Iterate = int (*)(int (*)(dl_phdr_info*, std::size_t, void*), void*);

// The C library's own, which a program may interpose. First asked for when the process starts, before it has threads.
Iterate iterate() {
  static constinit std::atomic<Iterate> known{nullptr};
  Iterate found = known.load(std::memory_order_acquire);
  for (const link_map* object = _r_debug.r_map; found == nullptr && object != nullptr; object = object->l_next) {
    if (!begins_with(last_part(object->l_name), "libc.so")) { continue; }
    found = reinterpret_cast<Iterate>(LoadedObject(*object).find("dl_iterate_phdr"));
  }
  if (found == nullptr) { found = &dl_iterate_phdr; }
  known.store(found, std::memory_order_release);
  return found;
}

}  // namespace

void visit_loaded_objects(bool (*visit)(void* self, const LoadedObject& object), void* self) {
  struct Visit {
    bool (*call)(void*, const LoadedObject&);
    void* self;
  } each{visit, self};
  const auto step = [](dl_phdr_info* object, std::size_t, void* data) {
    const auto& known = *static_cast<const Visit*>(data);
    return known.call(known.self, LoadedObject(*object)) ? 1 : 0;
  };
  if (loader_is_lost()) { return; }
  const LoaderVisit visiting;
  iterate()(step, &each);
}

bool stands_before(const void* address) {
  bool before = false;
  visit_loaded_objects([&](const LoadedObject& object) {
    before = !is_interposer(object) && object.holds(address);
    return before || is_interposer(object);
  });
  return before;
}

void* find_loaded_symbol(std::string_view object_prefix, const char* name) {
  void* found = nullptr;
  visit_loaded_objects([&](const LoadedObject& object) {
    if (begins_with(object.file_name(), object_prefix) && !is_interposer(object)) { found = object.find(name); }
    return found != nullptr;
  });
  return found;
}

std::uint32_t hash_of(const char* text) {
  std::uint32_t hash = 2166136261U;
  for (; *text != '\0'; ++text) { hash = (hash ^ static_cast<unsigned char>(*text)) * 16777619U; }
  return hash;
}

LoadedObject object_at(const void* address) {
  LoadedObject holder;
  visit_loaded_objects([&](const LoadedObject& object) {
    if (!object.holds(address)) { return false; }
    holder = object;
    return true;
  });
  return holder;
}

}  // namespace elbowroom::interposer::process
