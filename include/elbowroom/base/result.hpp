#pragma once

#include <cassert>
#include <optional>
#include <string>
#include <utility>
#include <variant>

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
  Result(T value) : state_(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state_(std::in_place_index<1>, std::move(error)) {}

  [[nodiscard]] bool ok() const { return state_.index() == 0; }
  explicit operator bool() const { return ok(); }

  T& value() & {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  const T& value() const& {
    assert(ok());
    return *std::get_if<0>(&state_);
  }
  T&& value() && {
    assert(ok());
    return std::move(*std::get_if<0>(&state_));
  }
  T& operator*() & { return value(); }
  const T& operator*() const& { return value(); }
  T&& operator*() && { return std::move(*this).value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }

  [[nodiscard]] const Error& error() const {
    assert(!ok());
    return *std::get_if<1>(&state_);
  }

 private:
  std::variant<T, Error> state_;
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
