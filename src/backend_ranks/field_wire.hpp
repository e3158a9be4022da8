#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/time.hpp"
#include "ranks/wire.hpp"

namespace elbowroom::ranks {

// The members of a value are listed once, in a function of a wire and the value. FieldsOut writes what it lists, FieldsIn reads it.
// A structured binding lists them: it does not compile where a member was added to the value and not to the list.

class FieldsOut {
 public:
  template <std::integral Number>
  void operator()(const Number& value) {
    wire_.number(static_cast<std::int64_t>(value));
  }
  /// Of a type whose values begin with 0; `last` is the last of them.
  template <class Word>
    requires std::is_enum_v<Word>
  void word(const Word& value, Word) {
    wire_.number(static_cast<std::int64_t>(value));
  }
  template <class Unit>
  void operator()(const Quantity<Unit>& value) {
    wire_.number(value.count());
  }
  void operator()(const Nanoseconds& value) { wire_.number(value.count()); }
  void operator()(const std::string& value) { wire_.text(value); }
  template <class Value>
  void operator()(const std::optional<Value>& value) {
    (*this)(value.has_value());
    if (value) { (*this)(*value); }
  }
  /// Several in their order.
  template <class... Values>
    requires(sizeof...(Values) > 1)
  void operator()(const Values&... values) {
    ((*this)(values), ...);
  }
  /// `item` lists the members of each.
  template <class Value, class Item>
  void list(const std::vector<Value>& values, const Item& item) {
    (*this)(values.size());
    for (const Value& value : values) { item(*this, value); }
  }

  [[nodiscard]] std::string take() { return wire_.take(); }

 private:
  WireWriter wire_;
};

class FieldsIn {
 public:
  explicit FieldsIn(std::string_view bytes) : wire_(bytes) {}

  template <std::integral Number>
  void operator()(Number& value) {
    using Limits = std::numeric_limits<Number>;
    static_assert(sizeof(Number) < sizeof(std::int64_t) || std::is_signed_v<Number>);
    value = static_cast<Number>(within(Limits::min(), Limits::max()));
  }
  template <class Word>
    requires std::is_enum_v<Word>
  void word(Word& value, Word last) {
    value = static_cast<Word>(within(0, static_cast<std::int64_t>(last)));
  }
  template <class Unit>
  void operator()(Quantity<Unit>& value) {
    value = Quantity<Unit>(wire_.number());
  }
  void operator()(Nanoseconds& value) { value = Nanoseconds(wire_.number()); }
  void operator()(std::string& value) { value = wire_.text(); }
  template <class Value>
  void operator()(std::optional<Value>& value) {
    bool there = false;
    (*this)(there);
    if (there) { (*this)(value.emplace()); }
  }
  template <class... Values>
    requires(sizeof...(Values) > 1)
  void operator()(Values&... values) {
    ((*this)(values), ...);
  }
  template <class Value, class Item>
  void list(std::vector<Value>& values, const Item& item) {
    const std::uint64_t count = wire_.count();
    for (std::uint64_t at = 0; at < count && good(); ++at) { item(*this, values.emplace_back()); }
  }

  [[nodiscard]] bool good() const { return good_ && wire_.good(); }
  [[nodiscard]] bool complete() const { return good_ && wire_.complete(); }

 private:
  std::int64_t within(std::int64_t least, std::int64_t most) {
    const std::int64_t value = wire_.number();
    if (value >= least && value <= most) { return value; }
    good_ = false;
    return least;
  }

  WireReader wire_;
  bool good_ = true;
};

}  // namespace elbowroom::ranks
