#include "interposer/process/definitions.hpp"

#include <dlfcn.h>

#include <array>
#include <bitset>
#include <new>
#include <type_traits>

#include "interposer/process/elf_symbols.hpp"
#include "interposer/process/loader_visit.hpp"
#include "interposer/process/pages.hpp"
#include "interposer/process/symbol_routes.hpp"

namespace elbowroom::interposer::process {
namespace {

constexpr std::size_t kObjects = 4096;  // a PyTorch program has 400; further ones are not looked into
constexpr std::size_t kEdges = 32768;
using ObjectSet = std::bitset<kObjects>;

// The objects that this process was started with stand first in the order of loading, and stay. 0: this library is not bound yet,
// and nothing but them is loaded.
constinit std::size_t objects_at_start = 0;

bool same_version(const char* a, const char* b) { return a == nullptr || b == nullptr ? a == b : same_text(a, b); }

// A name, and the version of it that was asked for; null: none.
struct Wanted {
  const char* name;
  const char* version;

  [[nodiscard]] void* in(const LoadedObject& object) const { return object.find(name, version); }
  [[nodiscard]] bool by(const LoadedObject& object) const {
    return object.refers_to(name) && same_version(object.version_of(name), version);
  }
};

// Who defines what is wanted, who refers to it, and which object is linked to which. What stands before this library is asked for
// nothing: a call that it meant for itself does not come here.
class Links {
 public:
  explicit Links(const Wanted& wanted) {
    visit_loaded_objects([&](const LoadedObject& object) {
      add(object, wanted);
      return count_ == kObjects;
    });
    for (std::size_t edge = 0; edge < edge_count_; ++edge) { needed_[edge] = named(edges_[edge]); }
  }

  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] void* defined(std::size_t object) const { return nodes_[object].defined; }
  [[nodiscard]] bool refers(std::size_t object) const { return refers_[object]; }
  [[nodiscard]] Definition definition(std::size_t object) const { return {nodes_[object].defined, true}; }

  /// The object that holds `address`, or count().
  [[nodiscard]] std::size_t holder(const void* address) const {
    std::size_t object = 0;
    while (object < count_ && (address < nodes_[object].begin || address >= nodes_[object].end)) { ++object; }
    return object;
  }

  /// The first definition in the scope of each object that was loaded with `object` in its own, in the order of loading; count():
  /// none.
  [[nodiscard]] std::size_t in_scope_of(std::size_t object) const {
    const ObjectSet roots = who_needs(object);
    for (std::size_t root = 0; root < count_; ++root) {
      const std::size_t found = roots[root] ? first_below(root) : count_;
      if (found != count_) { return found; }
    }
    return count_;
  }

 private:
  struct Node {
    const void *begin, *end;
    void* defined;
    std::uint32_t soname, path, file_name;
    std::uint16_t first_edge, last_edge;
  };
  struct Edge {
    std::uint32_t name, file_name;
  };

  void add(const LoadedObject& object, const Wanted& wanted) {
    Node& node = nodes_[count_];
    node = {object.begin(),
            object.end(),
            nullptr,
            hash_of(object.own_soname()),
            hash_of(object.path()),
            hash_of(object.file_name()),
            0,
            0};
    behind_ = behind_ || is_interposer(object);
    if (behind_ && !is_interposer(object)) {
      node.defined = wanted.in(object);
      refers_[count_] = wanted.by(object);
    }
    node.first_edge = static_cast<std::uint16_t>(edge_count_);
    object.visit_needed([&](const char* needed) {
      if (edge_count_ < kEdges) { edges_[edge_count_++] = {hash_of(needed), hash_of(last_part(needed))}; }
    });
    node.last_edge = static_cast<std::uint16_t>(edge_count_);
    ++count_;
  }

  // The loader takes the first object of that soname or path. Only where there is none does it look for a file.
  [[nodiscard]] std::uint16_t named(const Edge& edge) const {
    std::size_t by_file = count_;
    for (std::size_t object = 0; object < count_; ++object) {
      const Node& node = nodes_[object];
      if (node.soname == edge.name || node.path == edge.name) { return static_cast<std::uint16_t>(object); }
      if (by_file == count_ && node.file_name == edge.file_name) { by_file = object; }
    }
    return static_cast<std::uint16_t>(by_file);
  }

  [[nodiscard]] bool needs_one_of(std::size_t object, const ObjectSet& wanted) const {
    for (std::size_t edge = nodes_[object].first_edge; edge < nodes_[object].last_edge; ++edge) {
      if (needed_[edge] < count_ && wanted[needed_[edge]]) { return true; }
    }
    return false;
  }

  // The object itself and all whose scope it is in.
  [[nodiscard]] ObjectSet who_needs(std::size_t object) const {
    ObjectSet found;
    found.set(object);
    for (bool grown = true; grown;) {
      grown = false;
      for (std::size_t other = 0; other < count_; ++other) {
        if (found[other] || !needs_one_of(other, found)) { continue; }
        found.set(other);
        grown = true;
      }
    }
    return found;
  }

  // Breadth first, as the loader searches.
  [[nodiscard]] std::size_t first_below(std::size_t root) const {
    std::size_t queued = 0;
    ObjectSet seen;
    const auto enqueue = [&](std::size_t object) {
      if (seen[object]) { return; }
      seen.set(object);
      queue_[queued++] = static_cast<std::uint16_t>(object);
    };
    enqueue(root);
    for (std::size_t next = 0; next < queued; ++next) {
      const Node& node = nodes_[queue_[next]];
      if (node.defined != nullptr) { return queue_[next]; }
      for (std::size_t edge = node.first_edge; edge < node.last_edge; ++edge) {
        if (needed_[edge] < count_) { enqueue(needed_[edge]); }
      }
    }
    return count_;
  }

  std::array<Node, kObjects> nodes_;
  std::array<Edge, kEdges> edges_;
  std::array<std::uint16_t, kEdges> needed_;           ///< the object that an edge leads to, or count()
  mutable std::array<std::uint16_t, kObjects> queue_;  ///< of a search: no small thing for a stack
  ObjectSet refers_;
  bool behind_ = false;
  std::size_t count_ = 0;
  std::size_t edge_count_ = 0;
};

/// Links, which are no small thing for the stack of a program's thread.
class MappedLinks {
 public:
  explicit MappedLinks(const Wanted& wanted)
      : pages_(sizeof(Links)), links_(pages_.data() == nullptr ? nullptr : new(pages_.data()) Links(wanted)) {}
  /// Null: there is no memory.
  [[nodiscard]] const Links* get() const { return links_; }

 private:
  static_assert(std::is_trivially_destructible_v<Links>);
  Pages pages_;
  const Links* links_;
};

// Among several definitions, where the global scope has none.
Definition local_definition(const Links& links, const void* caller) {
  const std::size_t calling = links.holder(caller);
  if (calling < links.count() && links.refers(calling)) {
    const std::size_t found = links.in_scope_of(calling);
    if (found < links.count()) { return links.definition(found); }
  }
  Definition agreed;
  for (std::size_t object = 0; object < links.count(); ++object) {
    if (!links.refers(object)) { continue; }
    const std::size_t found = links.in_scope_of(object);
    if (found == links.count()) { continue; }
    agreed.certain = agreed.function == nullptr || agreed.function == links.defined(found);
    if (!agreed.certain) { break; }
    agreed = links.definition(found);
  }
  return agreed;
}

std::size_t definition_count(const Wanted& wanted, Definition& first) {
  std::size_t count = 0;
  bool behind = false;
  visit_loaded_objects([&](const LoadedObject& object) {
    behind = behind || is_interposer(object);
    void* defined = !behind || is_interposer(object) ? nullptr : wanted.in(object);
    if (defined != nullptr && count++ == 0) { first = {defined, true}; }
    return false;
  });
  return count;
}

// Of whoever was bound when it was loaded, where nothing but the order of loading tells. It was not bound to what was loaded after
// it. What was there before may have been made global later: who has a definition in its own scope then meant one of the two.
Definition bound_by_order(void* global, const Wanted& wanted, const LoadedObject& calling) {
  const MappedLinks mapped(wanted);
  if (mapped.get() == nullptr) { return {global, false}; }
  const Links& links = *mapped.get();
  const std::size_t caller = links.holder(calling.begin());
  const std::size_t own = caller == links.count() ? caller : links.in_scope_of(caller);
  if (own == links.count() || links.defined(own) == global) { return {global, true}; }
  return caller < links.holder(global) ? links.definition(own) : Definition{global, false};
}

// Whoever was bound when it was loaded, as all is that Python loads, does not see what was made global later. What else it calls of
// the library says where it was bound: a name that `global` defines as well would have been bound to that.
Definition bound_by(void* global, const Wanted& wanted, const LoadedObject& calling) {
  const LoadedObject later = object_at(global);
  void* before = nullptr;
  bool to_later = false;
  const bool bound = calling.visit_bound([&](const char* other, const void* address) {
    if (before != nullptr || same_text(other, wanted.name) || later.find(other) == nullptr) { return; }
    to_later = to_later || later.holds(address);
    const LoadedObject earlier = later.holds(address) ? LoadedObject() : object_at(address);
    before = is_interposer(earlier) ? nullptr : wanted.in(earlier);
  });
  if (bound && before != nullptr) { return {before, true}; }
  return to_later || !calling.bound_at_load(wanted.name) ? Definition{global, true} : bound_by_order(global, wanted, calling);
}

// Where the global scope has one. Left by a jump, the function was called by some object that refers to it.
Definition beside_global(void* global, const Wanted& wanted, const void* caller) {
  if (is_from_start(global)) { return {global, true}; }
  const LoadedObject calling = object_at(caller);
  if (wanted.by(calling)) { return bound_by(global, wanted, calling); }
  Definition agreed;
  visit_loaded_objects([&](const LoadedObject& object) {
    if (is_interposer(object) || !wanted.by(object)) { return false; }
    const Definition found = bound_by(global, wanted, object);
    agreed = {found.function, found.certain && (agreed.function == nullptr || agreed.function == found.function)};
    return !agreed.certain;
  });
  return agreed.certain && agreed.function != nullptr ? agreed : Definition{global, agreed.function == nullptr};
}

void* wanted_at_start(const Wanted& wanted) {
  std::size_t place = 0;
  bool behind = false;
  void* found = nullptr;
  visit_loaded_objects([&](const LoadedObject& object) {
    if (objects_at_start != 0 && place++ == objects_at_start) { return true; }
    if (is_interposer(object)) {
      behind = true;
    } else if (behind) {
      found = wanted.in(object);
    }
    return found != nullptr;
  });
  return found;
}

// By the loader, because it alone knows what was made global after the start.
void* next_global(const Wanted& wanted) {
  if (void* found = wanted_at_start(wanted)) { return found; }
  void* found = in_global_scope(wanted.name);
  if (found != nullptr && wanted.version != nullptr && wanted.in(object_at(found)) != found) {
    static const auto of_version = reinterpret_cast<DlvsymFunction>(in_c_library("dlvsym"));
    found = of_version == nullptr ? nullptr : of_version(RTLD_NEXT, wanted.name, wanted.version);
  }
  if (found == nullptr) {
    static const auto take_message = reinterpret_cast<char* (*)()>(in_c_library("dlerror"));
    if (take_message != nullptr) { take_message(); }  // it is not for the program
    return nullptr;
  }
  return is_interposer(object_at(found)) ? nullptr : found;
}

Definition definition_of(const Wanted& wanted, const void* caller) {
  Definition only;
  if (definition_count(wanted, only) <= 1) { return only; }
  if (void* global = next_global(wanted)) { return beside_global(global, wanted, caller); }
  const MappedLinks links(wanted);
  if (links.get() == nullptr) { return {only.function, false}; }
  const Definition local = local_definition(*links.get(), caller);
  return local.certain && local.function != nullptr ? local : Definition{only.function, false};
}

// The versions in which objects refer to a name, at most as many as there is room for.
class Versions {
 public:
  explicit Versions(const char* name) {
    visit_loaded_objects([&](const LoadedObject& object) {
      if (!is_interposer(object) && object.refers_to(name)) { add(object.version_of(name)); }
      return count_ == versions_.size();
    });
  }
  [[nodiscard]] const char* const* begin() const { return versions_.data(); }
  [[nodiscard]] const char* const* end() const { return versions_.data() + count_; }

 private:
  void add(const char* version) {
    for (const char* known : *this) {
      if (same_version(known, version)) { return; }
    }
    versions_[count_++] = version;
  }

  std::array<const char*, 8> versions_;
  std::size_t count_ = 0;
};

// The loader asks what a function is while it binds this library. All that the process was started with is loaded then, and no
// constructor has run. Those of others run before ours, and load more.
extern "C" {
// A program that names the loader's list has a copy of its own, which is empty until the program is bound: after this library.
void elbowroom_count_where_unknown() {
  if (objects_at_start != 0) { return; }
  std::size_t count = 0;
  visit_loaded_objects([&](const LoadedObject&) {
    ++count;
    return false;
  });
  objects_at_start = count;
}
auto elbowroom_count_at_start() -> void (*)() {
  std::size_t count = 0;
  for (const link_map* object = _r_debug.r_map; object != nullptr; object = object->l_next) { ++count; }
  objects_at_start = count;
  return &elbowroom_count_where_unknown;
}
void elbowroom_at_start() __attribute__((ifunc("elbowroom_count_at_start")));
}
// Among the constructors, which the linker keeps.
[[gnu::used, gnu::section(".init_array")]] void (*bound_at_start)() = &elbowroom_at_start;

}  // namespace

void* next_at_start(const char* name) { return wanted_at_start({name, nullptr}); }

bool is_from_start(const void* function) {
  std::size_t place = 0;
  bool found = false;
  visit_loaded_objects([&](const LoadedObject& object) {
    if (objects_at_start != 0 && place++ == objects_at_start) { return true; }
    found = object.holds(function);
    return found;
  });
  return found;
}

void* visible_definition(const char* name, const void* caller) {
  const Wanted wanted{name, nullptr};
  if (void* global = next_global(wanted)) { return global; }
  if (caller == nullptr) { return nullptr; }
  const MappedLinks mapped(wanted);
  if (mapped.get() == nullptr) { return nullptr; }
  const Links& links = *mapped.get();
  const std::size_t calling = links.holder(caller);
  const std::size_t found = calling == links.count() ? calling : links.in_scope_of(calling);
  return found == links.count() ? nullptr : links.defined(found);
}

Definition definition_for(const char* name, const void* caller) {
  if (loader_is_lost()) { return {in_global_scope(name), false}; }
  const LoadedObject calling = object_at(caller);
  if (calling.refers_to(name)) { return definition_of({name, calling.version_of(name)}, caller); }
  Definition agreed;
  bool first = true;
  for (const char* version : Versions(name)) {
    const Definition found = definition_of({name, version}, caller);
    if (!first && found.function != agreed.function) { return {agreed.function, false}; }
    agreed = found;
    first = false;
  }
  return first ? definition_of({name, nullptr}, caller) : agreed;
}

}  // namespace elbowroom::interposer::process
