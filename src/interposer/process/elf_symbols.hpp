#pragma once

#include <elf.h>
#include <link.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace elbowroom::interposer::process {

/// Of an object's name or path.
std::uint32_t hash_of(const char* text);

/// A loaded object, read from the loader's own tables. What is asked here needs no dlsym and calls no function of the program,
/// which may define `strcmp` itself and not be ready for it (a sanitizer's runtime).
class LoadedObject {
 public:
  LoadedObject() = default;
  explicit LoadedObject(const dl_phdr_info& object);
  /// Of one that is read without its program headers: holds() says false.
  explicit LoadedObject(const link_map& object);

  /// The address of the function that the object defines under that name, in that version or without one; null: none. Without a
  /// version asked for it is the default one.
  [[nodiscard]] void* find(const char* name, const char* version = nullptr) const;
  /// Whether the loader binds that name for the object: it calls such a function, or takes its address.
  [[nodiscard]] bool refers_to(const char* name) const { return reference(name) != 0; }
  /// The version in which it refers to that name; null: it does not, or in none.
  [[nodiscard]] const char* version_of(const char* name) const;
  /// Where the loader bound that name for the object, so far: of a call that was not made yet it may be the object itself. Null: it
  /// does not refer to it.
  [[nodiscard]] const void* bound(const char* name) const;
  /// Whether it refers to a name of others for which `wanted(name)` is true. Far quicker than the next, which reads what may be a
  /// million relocations.
  template <class Predicate>
  [[nodiscard]] bool imports_any(Predicate&& wanted) const {
    for (std::uint32_t index = 1; index < imported_end(); ++index) {
      if (symbols_[index].st_shndx == SHN_UNDEF && wanted(strings_ + symbols_[index].st_name)) { return true; }
    }
    return false;
  }
  /// Calls `visit(name, address)` for each name that the loader has bound for the object. False: some call is bound when it is
  /// first made.
  template <class Visit>
  bool visit_bound(Visit&& visit) const {
    visit_bound(data_, visit);
    return visit_bound(calls_, visit);
  }
  /// Whether the loader bound that name when it loaded the object, and leaves no call of it to be bound when it is first made.
  [[nodiscard]] bool bound_at_load(const char* name) const {
    return plt_got_ == nullptr || plt_got_[2] == 0 || reference(calls_, name) == 0;
  }
  /// Whether what it defines goes before all else for it (-Bsymbolic).
  [[nodiscard]] bool binds_own_first() const { return binds_own_first_; }
  [[nodiscard]] bool holds(const void* address) const;
  /// Its name for other objects; of one without a soname, that of its file.
  [[nodiscard]] const char* soname() const;
  [[nodiscard]] const char* own_soname() const { return soname_ != nullptr ? soname_ : ""; }
  [[nodiscard]] const char* file_name() const;
  [[nodiscard]] const char* path() const { return path_; }
  [[nodiscard]] std::uintptr_t base() const { return base_; }
  [[nodiscard]] const void* begin() const;
  [[nodiscard]] const void* end() const;

  /// Calls `visit(soname)` for each library that it is linked to, in order.
  template <class Visit>
  void visit_needed(Visit&& visit) const {
    for (const ElfW(Dyn)* entry = dynamic_; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
      if (entry->d_tag == DT_NEEDED) { visit(strings_ + entry->d_un.d_val); }
    }
  }

 private:
  void read_dynamic();
  // Symbols that the object does not define stand before those that its hash table finds.
  [[nodiscard]] std::uint32_t imported_end() const { return gnu_hash_ != nullptr && symbols_ != nullptr ? gnu_hash_[1] : 0; }
  struct Wanted {
    const char *name, *version;
  };
  [[nodiscard]] std::uint32_t find_index(const Wanted& wanted) const;
  [[nodiscard]] std::uint32_t find_by_gnu_hash(const Wanted& wanted) const;
  [[nodiscard]] std::uint32_t find_by_scan(const Wanted& wanted) const;
  [[nodiscard]] bool defines(std::uint32_t index, const Wanted& wanted) const;
  [[nodiscard]] bool has_version(std::uint32_t index, const char* version) const;
  [[nodiscard]] const char* defined_version(unsigned number) const;
  [[nodiscard]] const char* needed_version(unsigned number) const;

  struct Relocations {
    const ElfW(Rela) * first = nullptr;
    std::size_t bytes = 0;
  };
  [[nodiscard]] std::uint32_t reference(const char* name) const;
  [[nodiscard]] std::uint32_t reference(const Relocations& relocations, const char* name) const;
  template <class Visit>
  bool visit_bound(const Relocations& relocations, Visit&& visit) const {
    const std::size_t count = relocations.first == nullptr ? 0 : relocations.bytes / sizeof(ElfW(Rela));
    bool all = true;
    for (std::size_t i = 0; i < count; ++i) {
      const ElfW(Rela)& relocation = relocations.first[i];
      const auto index = ELF64_R_SYM(relocation.r_info);
      if (index == 0 || relocation.r_addend != 0) { continue; }
      const ElfW(Sym)& symbol = symbols_[index];
      const auto address = *reinterpret_cast<const std::uintptr_t*>(base_ + relocation.r_offset);
      const bool own = symbol.st_shndx != SHN_UNDEF && address == base_ + symbol.st_value;
      if (own || !holds(reinterpret_cast<const void*>(address))) {
        visit(strings_ + symbol.st_name, reinterpret_cast<const void*>(address));
      } else {
        all = false;
      }
    }
    return all;
  }
  [[nodiscard]] const void* bound(const Relocations& relocations, std::uint32_t index) const;

  std::uintptr_t base_ = 0;
  const char* path_ = "";
  const ElfW(Phdr) * headers_ = nullptr;
  unsigned header_count_ = 0;
  const ElfW(Dyn) * dynamic_ = nullptr;
  const ElfW(Sym) * symbols_ = nullptr;
  const char* strings_ = "";
  const char* soname_ = nullptr;
  const std::uint32_t* gnu_hash_ = nullptr;
  const ElfW(Word) * sysv_hash_ = nullptr;
  const ElfW(Half) * versions_ = nullptr;  ///< of the symbols: a number, whose name is in one of these
  const ElfW(Verdef) * defined_versions_ = nullptr;
  const ElfW(Verneed) * needed_versions_ = nullptr;
  bool binds_own_first_ = false;
  Relocations calls_;
  Relocations data_;
  const std::uintptr_t* plt_got_ = nullptr;  ///< its third entry is the loader's function that binds calls
};

/// Whether two texts are the same, and whether one begins with another; without the C library.
bool same_text(const char* a, const char* b);
bool begins_with(const char* text, std::string_view prefix);
/// Of a path: what follows the last slash.
const char* last_part(const char* path);

/// Calls `visit(object)` for each loaded object in the order of loading, until it returns true. Nothing is loaded or unloaded
/// meanwhile, and `visit` must not call what takes the loader's locks in another order: no dlsym, no dlopen. Where the loader's
/// lock may be held for ever, no object is visited (loader_visit.hpp).
void visit_loaded_objects(bool (*visit)(void* self, const LoadedObject& object), void* self);

template <class Visit>
void visit_loaded_objects(Visit&& visit) {
  visit_loaded_objects([](void* self, const LoadedObject& object) { return (*static_cast<Visit*>(self))(object); }, &visit);
}

/// Whether an object whose file name begins so is loaded in a namespace of its own (dlmopen), which nothing here reaches. False as
/// well where the C library does not say (before 2.35).
bool in_other_namespace(std::string_view object_prefix);

/// Whether the object is this library, or another copy of it or of the one for another vendor.
bool is_interposer(const LoadedObject& object);

/// Whether `address` is in the program itself, or in what was preloaded before this library.
bool stands_before(const void* address);

/// The address of the dynamic symbol `name` in the first loaded object whose file name begins with `object_prefix` (any object for
/// ""), interposers left out. Null when there is none. Cost: some microseconds for each loaded object.
void* find_loaded_symbol(std::string_view object_prefix, const char* name);

/// The loaded object that holds `address`; one without a name or tables where none does.
LoadedObject object_at(const void* address);

}  // namespace elbowroom::interposer::process
