#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "elbowroom/base/result.hpp"
#include "model/json_fields.hpp"

/// Documents whose members are lists of objects, one a line.
namespace elbowroom::detail {

/// Seconds since 1970, and microseconds: more is damage.
inline constexpr std::int64_t kGreatestTime = std::int64_t{1} << 40;

/// One line of text that may be empty.
inline std::string line_of(JsonFields& fields, const char* name) {
  const nlohmann::json* value = fields.member(name);
  if (value != nullptr && value->is_string()) {
    const auto& text = value->get_ref<const std::string&>();
    const bool one_line = std::none_of(text.begin(), text.end(), [](char c) { return (c >= 0 && c < ' ') || c == '\x7f'; });
    if (one_line) { return text; }
  }
  fields.reject(name, value == nullptr ? "missing" : shown(*value), "one line of text");
  return {};
}

enum class Presence { required, optional };

/// The objects of a list; nothing where it is absent and need not be there.
inline const nlohmann::json& list_of(JsonFields& fields, const char* name, Presence presence) {
  static const nlohmann::json none = nlohmann::json::array();
  const nlohmann::json* list = fields.member(name);
  if (list != nullptr && list->is_array()) { return *list; }
  if (list != nullptr || presence == Presence::required) {
    fields.reject(name, list == nullptr ? "missing" : shown(*list), "a list");
  }
  return none;
}

/// Calls `keep` with what `read` makes of each element; the first that is no object or cannot be read ends it.
template <class Read, class Keep>
Status read_each(const nlohmann::json& list, const char* name, const std::string& source, Read read, Keep keep) {
  for (std::size_t at = 0; at < list.size(); ++at) {
    const std::string path = fmt::format("{}[{}]", name, at);
    if (!list[at].is_object()) {
      return invalid_input(fmt::format("{}: {}: {}, expected an object", source, path, shown(list[at])));
    }
    auto element = read(list[at], path, source);
    if (!element) { return element.error(); }
    keep(std::move(*element));
  }
  return {};
}

/// A line for each element.
template <class Elements, class Json>
std::string lines_of(const Elements& elements, Json json_of) {
  std::string text;
  const char* separator = "\n  ";
  for (const auto& element : elements) {
    text += separator + json_of(element).dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
    separator = ",\n  ";
  }
  return text;
}

}  // namespace elbowroom::detail
