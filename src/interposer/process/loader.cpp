#include "interposer/process/loader.hpp"

#include <dlfcn.h>
#include <link.h>

#include <atomic>

#include "interposer/core/unusual.hpp"

// glibc before 2.34 has these in libdl.so.2. A program without that loads no driver, and is not made to load it.
#pragma weak dladdr1
#pragma weak dlclose
#pragma weak dlerror
#pragma weak dlvsym

namespace elbowroom::interposer::process {
namespace {

#if defined(__x86_64__)
constexpr const char* kFirstVersion = "GLIBC_2.2.5";
#else
constexpr const char* kFirstVersion = "GLIBC_2.17";
#endif

constinit std::atomic<void*> known_c_librarys{nullptr};

// Found by dlvsym, which is not interposed, and which sees the C library's alone. It tells who defines a name, whatever others
// answer.
DlsymFunction c_library_dlsym() {
  void* found = known_c_librarys.load(std::memory_order_acquire);
  if (found == nullptr && dlvsym != nullptr) {
    found = dlvsym(RTLD_NEXT, "dlsym", kFirstVersion);
    known_c_librarys.store(found, std::memory_order_release);
  }
  return reinterpret_cast<DlsymFunction>(found);
}

template <class Function>
Function next_of(std::atomic<void*>& known, const char* name) {
  void* found = known.load(std::memory_order_acquire);
  if (found == nullptr) {
    const DlsymFunction find = c_library_dlsym();
    found = find == nullptr ? nullptr : find(RTLD_NEXT, name);
    known.store(found, std::memory_order_release);
  }
  return reinterpret_cast<Function>(found);
}

constinit std::atomic<void*> known_dlsym{nullptr};
constinit std::atomic<void*> known_dlopen{nullptr};
constinit std::atomic<void*> known_dlmopen{nullptr};

std::string_view without_folders(const char* path) {
  const std::string_view text = path == nullptr ? "" : path;
  return text.substr(text.rfind('/') + 1);  // npos + 1 is 0
}

bool is_c_librarys(const void* function) {
  const std::string_view name = object_name(function);
  return name.starts_with("libc.so") || name.starts_with("libdl.so") || name.starts_with("libc-");
}

// A reference to it, which is given back. Null for the program itself.
void* open_loaded(const char* path, int flags) {
  const DlopenFunction open = next_dlopen();
  const bool named = path != nullptr && *path != '\0';
  return named && open != nullptr ? open(path, RTLD_LAZY | RTLD_NOLOAD | flags) : nullptr;
}

struct Search {
  std::string_view prefix;
  LoadedObjects found;
};

int look_at(dl_phdr_info* object, std::size_t /*size*/, void* search) {
  auto& [prefix, found] = *static_cast<Search*>(search);
  if (without_folders(object->dlpi_name).starts_with(prefix) && found.count++ == 0) { found.path = object->dlpi_name; }
  return 0;
}

}  // namespace

DlsymFunction next_dlsym() { return next_of<DlsymFunction>(known_dlsym, "dlsym"); }
DlopenFunction next_dlopen() { return next_of<DlopenFunction>(known_dlopen, "dlopen"); }
DlmopenFunction next_dlmopen() { return next_of<DlmopenFunction>(known_dlmopen, "dlmopen"); }

bool dlsym_is_interposed() {
  const DlsymFunction next = next_dlsym();
  if (next == nullptr || !is_c_librarys(reinterpret_cast<const void*>(next))) { return true; }
  void* const first = next(RTLD_DEFAULT, "dlsym");
  return first != reinterpret_cast<void*>(&dlsym) && !is_c_librarys(first);
}

const char* object_path(const void* address) {
  Dl_info info{};
  link_map* map = nullptr;
  const bool known =
      address != nullptr && dladdr1 != nullptr && dladdr1(address, &info, reinterpret_cast<void**>(&map), RTLD_DL_LINKMAP) != 0;
  return known && map != nullptr && map->l_name != nullptr ? map->l_name : "";
}

std::string_view object_name(const void* address) { return without_folders(object_path(address)); }

LoadedObjects find_objects(std::string_view prefix) {
  Search search{prefix, {}};
  if (!prefix.empty()) { dl_iterate_phdr(&look_at, &search); }
  return search.found;
}

void* find_in(const char* path, const char* name) {
  void* const handle = open_loaded(path, 0);
  if (handle == nullptr) { return nullptr; }
  void* const found = c_library_dlsym()(handle, name);
  if (found == nullptr) { static_cast<void>(dlerror()); }  // the message is not for the program
  dlclose(handle);
  return found;
}

void keep_loaded(const void* function) {
  if (void* const handle = open_loaded(object_path(function), RTLD_NODELETE)) { dlclose(handle); }
}

void* find_global(const char* name) {
  const DlsymFunction find = c_library_dlsym();
  void* const found = find == nullptr ? nullptr : find(RTLD_NEXT, name);
  if (find != nullptr && found == nullptr) { static_cast<void>(dlerror()); }
  return found;
}

}  // namespace elbowroom::interposer::process
