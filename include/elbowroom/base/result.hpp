#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>

namespace elbowroom {

/// Why something did not happen. The kind decides the exit code of the command line (contract: 2, 77, 1).
enum class ErrorKind {
  invalid_input,  ///< what the user asked for cannot be: bad field, impossible combination
  unavailable,    ///< nothing here can do it: no GPU, a library is missing
  failed,         ///< it was tried and went wrong: a wrong result, a timeout, a driver error
};

/// `message` is one line that names the fact, the amounts and their unit.
struct Error {
  ErrorKind kind = ErrorKind::failed;
  std::string message;
};

inline Error invalid_input(std::string message) { return {ErrorKind::invalid_input, std::move(message)}; }
inline Error unavailable(std::string message) { return {ErrorKind::unavailable, std::move(message)}; }
inline Error failed(std::string message) { return {ErrorKind::failed, std::move(message)}; }

/// A value or the reason there is none. Reading the wrong side is a programming error (asserted).
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::in_place, std::move(value)) {}
  Result(Error error) : error_(std::move(error)) {}

  [[nodiscard]] bool ok() const { return value_.has_value(); }
  explicit operator bool() const { return ok(); }

  T& value() & {
    assert(ok());
    return *value_;
  }
  const T& value() const& {
    assert(ok());
    return *value_;
  }
  T&& value() && {
    assert(ok());
    return std::move(*value_);
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  [[nodiscard]] const Error& error() const {
    assert(!ok());
    return error_;
  }

 private:
  // Not a variant of the two, whose tables of functions for each T take 6 to 13 % of the time that a source takes to compile.
  std::optional<T> value_;
  Error error_;
};

/// Success, or the reason there is none.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Error error) : error_(std::move(error)) {}

  [[nodiscard]] bool ok() const { return !error_.has_value(); }
  explicit operator bool() const { return ok(); }
  [[nodiscard]] const Error& error() const {
    assert(!ok());
    return *error_;
  }

 private:
  std::optional<Error> error_;
};

using Status = Result<void>;

}  // namespace elbowroom
