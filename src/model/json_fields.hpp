#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::detail {

/// A value for a message: ASCII, on one line, cut where it gets long.
std::string shown(const nlohmann::json& value);

/// A text that somebody wrote, in quotation marks, likewise.
std::string quoted(std::string_view text);

/// Reads the fields of one JSON object and keeps the first thing that is wrong with it. After a failure every read gives the
/// fallback. So a reader can be written straight through and asked once, by finish(), whether all went well.
class JsonFields {
 public:
  /// `path` names the object in messages ("compute."), `source` the file. `object` must outlive this and be an object.
  JsonFields(const nlohmann::json& object, std::string path, std::string source)
      : object_(object), path_(std::move(path)), source_(std::move(source)) {}

  std::int64_t integer(const char* name, std::int64_t least, std::int64_t greatest);
  std::optional<std::int64_t> optional_integer(const char* name, std::int64_t least, std::int64_t greatest);
  std::string text(const char* name);
  /// A size of at least one byte: "512M" or a plain number of bytes.
  Bytes size(const char* name);
  /// The object's member itself, for values with a form of their own; null when it is absent.
  const nlohmann::json* member(const char* name);
  /// One of a few words; `parse` answers nullopt for others, `expected` lists them for the message.
  template <class T, class Parse>
  T word(const char* name, Parse parse, std::string_view expected, T fallback);

  void reject(const char* name, std::string_view value, std::string_view expected);

  /// The first failure; else a failure when the object holds fields that nothing asked for.
  Status finish();

 private:
  const nlohmann::json* required(const char* name, std::string_view expected);

  const nlohmann::json& object_;
  std::string path_;
  std::string source_;
  std::set<std::string, std::less<>> known_;
  std::optional<Error> failure_;
};

template <class T, class Parse>
T JsonFields::word(const char* name, Parse parse, std::string_view expected, T fallback) {
  const nlohmann::json* value = required(name, expected);
  if (value == nullptr) { return fallback; }
  if (value->is_string()) {
    if (const std::optional<T> parsed = parse(value->get_ref<const std::string&>())) { return *parsed; }
  }
  reject(name, shown(*value), expected);
  return fallback;
}

}  // namespace elbowroom::detail
