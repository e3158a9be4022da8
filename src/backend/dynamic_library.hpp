#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "headroom/base/result.hpp"

namespace headroom::detail {

/// A shared library opened at run time; closed with the last copy of this handle.
class DynamicLibrary {
 public:
  /// Tries each name in turn; `unavailable` names what was looked for and what the loader said of the last.
  static Result<DynamicLibrary> open(std::span<const std::string> names);

  /// The name that could be opened.
  [[nodiscard]] const std::string& name() const { return name_; }

  /// Stores the address of `symbol` in `function`, whose type the caller takes from a declaration of that function.
  template <class Function>
  Status bind(const char* symbol, Function*& function) const {
    Result<void*> address = find(symbol);
    if (!address) return address.error();
    function = reinterpret_cast<Function*>(*address);
    return {};
  }

 private:
  DynamicLibrary(std::shared_ptr<void> handle, std::string name) : handle_(std::move(handle)), name_(std::move(name)) {}
  [[nodiscard]] Result<void*> find(const char* symbol) const;

  std::shared_ptr<void> handle_;
  std::string name_;
};

}  // namespace headroom::detail
