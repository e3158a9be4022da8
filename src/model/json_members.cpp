#include "model/json_members.hpp"

#include <fmt/format.h>

#include <cmath>

#include "model/json_fields.hpp"

namespace elbowroom::detail {
namespace {

using nlohmann::json;

// What a double holds exactly; sums over thousands of processes stay below the range of 64 bits.
constexpr std::uint64_t kGreatestCount = std::uint64_t{1} << 53;

bool is_finite_number(const json& value) { return value.is_number() && std::isfinite(value.get<double>()); }

}  // namespace

void JsonMembers::need(const char* name, std::string_view expected) {
  if (!object_.contains(name)) { fail(fmt::format("{}: missing, expected {}", path_of(name), expected)); }
}

std::int64_t JsonMembers::count(const char* name) {
  const json* value = find(name);
  if (value == nullptr) { return 0; }
  if (value->is_number_unsigned() && value->get<std::uint64_t>() <= kGreatestCount) { return value->get<std::int64_t>(); }
  reject(name, *value, "a whole number from 0 to 2^53");
  return 0;
}

double JsonMembers::amount(const char* name) {
  const json* value = find(name);
  if (value == nullptr) { return 0; }
  if (is_finite_number(*value) && value->get<double>() >= 0) { return value->get<double>(); }
  reject(name, *value, "a finite number from 0");
  return 0;
}

double JsonMembers::number(const char* name) {
  const json* value = find(name);
  if (value == nullptr) { return 0; }
  if (is_finite_number(*value)) { return value->get<double>(); }
  reject(name, *value, "a finite number");
  return 0;
}

std::string JsonMembers::text(const char* name) {
  const json* value = find(name);
  if (value == nullptr) { return {}; }
  if (value->is_string()) { return value->get<std::string>(); }
  reject(name, *value, "a text");
  return {};
}

std::map<std::string, std::int64_t> JsonMembers::counts(const char* name) {
  std::map<std::string, std::int64_t> read;
  JsonMembers members = object(name);
  for (const auto& [key, value] : members.object_.items()) { read[key] = members.count(key.c_str()); }
  return read;
}

std::vector<std::string> JsonMembers::texts(const char* name) {
  std::vector<std::string> read;
  for (const json& element : found(name, json::value_t::array, "an array of texts")) {
    if (!element.is_string()) { reject(name, element, "an array of texts"); }
    read.push_back(element.is_string() ? element.get<std::string>() : std::string());
  }
  return read;
}

json JsonMembers::exact(const char* name) {
  if (!has(name)) { return {}; }
  const json& value = *find(name);
  if (is_finite_number(value)) { return value; }
  reject(name, value, "a finite number or null");
  return {};
}

std::vector<json> JsonMembers::exact_numbers(const char* name) {
  std::vector<json> read;
  for (const json& element : found(name, json::value_t::array, "an array of numbers")) {
    if (!is_finite_number(element)) { reject(name, element, "an array of numbers"); }
    read.push_back(element);
  }
  return read;
}

bool JsonMembers::has(const char* name) const {
  const json* value = find(name);
  return value != nullptr && !value->is_null();
}

void JsonMembers::reject(std::string_view name, const json& value, std::string_view expected) {
  fail(fmt::format("{}: {}, expected {}", path_of(name), shown(value), expected));
}

void JsonMembers::fail(std::string message) {
  if (!failure_) { failure_ = std::move(message); }
}

std::string JsonMembers::element_name(std::string_view name, std::size_t index) { return fmt::format("{}[{}]", name, index); }

const json* JsonMembers::find(const char* name) const {
  const auto at = object_.find(name);
  return failure_ || at == object_.end() ? nullptr : &*at;
}

const json& JsonMembers::found(const char* name, json::value_t type, std::string_view expected) {
  static const json no_object = json::object();
  static const json no_array = json::array();
  const json* value = find(name);
  if (value != nullptr && value->type() == type) { return *value; }
  if (value != nullptr) { reject(name, *value, expected); }
  return type == json::value_t::object ? no_object : no_array;
}

}  // namespace elbowroom::detail
