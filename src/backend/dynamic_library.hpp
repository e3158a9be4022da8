#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "elbowroom/base/result.hpp"

namespace elbowroom::detail {

/// The entry of LD_LIBRARY_PATH that is no path from the root and has a file of that name: whoever put it into the current folder
/// would run code here. Absent where the loader finds a library by that name elsewhere or not at all.
std::optional<std::string> beside_the_call(const std::string& name);

/// A shared library opened at run time; closed with the last copy of this handle.
class DynamicLibrary {
 public:
  /// Tries each name in turn; `unavailable` names what was looked for and what the loader said of the last.
  static Result<DynamicLibrary> open(std::span<const std::string> names);

  /// The name that could be opened.
  [[nodiscard]] const std::string& name() const { return name_; }

  /// Keeps the library loaded until the process ends, whatever becomes of this handle: for one that has threads of its own.
  void keep_loaded() const;

  /// Stores the address of `symbol` in `function`, whose type the caller takes from a declaration of that function.
  template <class Function>
  Status bind(const char* symbol, Function*& function) const {
    Result<void*> address = find(symbol);
    if (!address) { return address.error(); }
    function = reinterpret_cast<Function*>(*address);
    return {};
  }

  /// From now on this library's own calls of `symbol`, which it imports, reach `replacement`; nobody else's do. For hooks into a
  /// library that offers none. To be called before the library keeps the address elsewhere. `unavailable` when it does not import
  /// the symbol, or on a processor whose relocations are not known here (x86-64 and AArch64 are).
  template <class Function>
  Status redirect_import(const char* symbol, Function* replacement) const {
    return redirect(symbol, reinterpret_cast<void*>(replacement));
  }

 private:
  DynamicLibrary(std::shared_ptr<void> handle, std::string name) : handle_(std::move(handle)), name_(std::move(name)) {}
  [[nodiscard]] Result<void*> find(const char* symbol) const;
  [[nodiscard]] Status redirect(const char* symbol, void* replacement) const;

  std::shared_ptr<void> handle_;
  std::string name_;
};

}  // namespace elbowroom::detail
