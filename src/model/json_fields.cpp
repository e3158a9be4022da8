#include "model/json_fields.hpp"

#include <fmt/format.h>

#include "elbowroom/model/size.hpp"

namespace elbowroom::detail {
namespace {

// A message is one line of readable length, whatever the document holds.
constexpr std::size_t kLongestValue = 80;

std::optional<std::int64_t> as_integer(const nlohmann::json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number > static_cast<std::uint64_t>(INT64_MAX)) { return std::nullopt; }
    return static_cast<std::int64_t>(number);
  }
  if (value.is_number_integer()) { return value.get<std::int64_t>(); }
  return std::nullopt;
}

}  // namespace

std::string shown(const nlohmann::json& value) {
  std::string text = value.dump(-1, ' ', true, nlohmann::json::error_handler_t::replace);
  if (text.size() > kLongestValue) { text = text.substr(0, kLongestValue) + "..."; }
  return text;
}

std::string quoted(std::string_view text) { return shown(nlohmann::json(std::string(text))); }

const nlohmann::json* JsonFields::member(const char* name) {
  known_.insert(name);
  const auto found = object_.find(name);
  return found == object_.end() ? nullptr : &*found;
}

const nlohmann::json* JsonFields::required(const char* name, std::string_view expected) {
  const nlohmann::json* value = member(name);
  if (value == nullptr) { reject(name, "missing", expected); }
  return value;
}

void JsonFields::reject(const char* name, std::string_view value, std::string_view expected) {
  if (failure_) { return; }
  failure_ = invalid_input(fmt::format("{}: {}{}: {}, expected {}", source_, path_, name, value, expected));
}

std::int64_t JsonFields::integer(const char* name, std::int64_t least, std::int64_t greatest) {
  const std::string expected = fmt::format("a whole number from {} to {}", least, greatest);
  const nlohmann::json* value = required(name, expected);
  if (value == nullptr) { return least; }
  const std::optional<std::int64_t> number = as_integer(*value);
  if (number && *number >= least && *number <= greatest) { return *number; }
  reject(name, shown(*value), expected);
  return least;
}

std::optional<std::int64_t> JsonFields::optional_integer(const char* name, std::int64_t least, std::int64_t greatest) {
  const nlohmann::json* value = member(name);
  if (value == nullptr || value->is_null()) { return std::nullopt; }
  return integer(name, least, greatest);
}

std::string JsonFields::text(const char* name) {
  const nlohmann::json* value = required(name, "a text");
  if (value == nullptr) { return {}; }
  if (value->is_string() && !value->get_ref<const std::string&>().empty()) { return value->get<std::string>(); }
  reject(name, shown(*value), "a text that is not empty");
  return {};
}

Bytes JsonFields::size(const char* name) {
  constexpr std::string_view expected = "a size of at least 1 byte such as \"512M\" or 536870912";
  const nlohmann::json* value = required(name, expected);
  if (value == nullptr) { return Bytes(1); }
  if (value->is_string()) {
    const Result<Bytes> parsed = parse_size(value->get_ref<const std::string&>());
    if (parsed && *parsed > Bytes(0)) { return *parsed; }
  } else if (const std::optional<std::int64_t> number = as_integer(*value); number && *number > 0 && *number <= INT64_MAX / 2) {
    return Bytes(*number);
  }
  reject(name, shown(*value), expected);
  return Bytes(1);
}

Status JsonFields::finish() {
  if (failure_) { return *failure_; }
  for (const auto& [name, value] : object_.items()) {
    if (known_.contains(name)) { continue; }
    std::string names;
    for (const std::string& known : known_) { names += (names.empty() ? "" : ", ") + known; }
    return invalid_input(
        fmt::format("{}: {}{}: unknown field, expected one of {}", source_, path_, shown(nlohmann::json(name)), names));
  }
  return {};
}

}  // namespace elbowroom::detail
