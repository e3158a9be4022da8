#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

namespace elbowroom::explain::test {

inline bool has_type(const nlohmann::json& value, const std::string& type) {
  if (type == "integer") { return value.is_number_integer(); }
  if (type == "number") { return value.is_number(); }
  if (type == "string") { return value.is_string(); }
  if (type == "array") { return value.is_array(); }
  if (type == "object") { return value.is_object(); }
  return type == "null" && value.is_null();
}

/// Where a value breaks a schema, "/step_us/median: of another type"; empty: nowhere. Of JSON Schema it knows what docs/schemas
/// uses: type, enum, properties, required, items. A member that a schema does not name is against it: the document and its schema
/// go together.
inline std::string schema_error(const nlohmann::json& value, const nlohmann::json& schema, const std::string& where = "") {
  if (schema.contains("enum") && std::find(schema["enum"].begin(), schema["enum"].end(), value) == schema["enum"].end()) {
    return where + ": none of the words";
  }
  if (schema.contains("type")) {
    const nlohmann::json types = schema["type"].is_array() ? schema["type"] : nlohmann::json::array({schema["type"]});
    if (std::none_of(types.begin(), types.end(), [&](const nlohmann::json& type) { return has_type(value, type); })) {
      return where + ": of another type";
    }
  }
  for (const auto& name : schema.value("required", nlohmann::json::array())) {
    if (!value.contains(name)) { return where + "/" + name.get<std::string>() + ": missing"; }
  }
  const nlohmann::json members = value.is_object() ? value : nlohmann::json::object();
  for (const auto& [name, member] : members.items()) {
    if (!schema.contains("properties") || !schema["properties"].contains(name)) { return where + "/" + name + ": not named"; }
    if (std::string error = schema_error(member, schema["properties"][name], where + "/" + name); !error.empty()) { return error; }
  }
  for (std::size_t i = 0; value.is_array() && schema.contains("items") && i < value.size(); ++i) {
    if (std::string error = schema_error(value[i], schema["items"], where + "/" + std::to_string(i)); !error.empty()) {
      return error;
    }
  }
  return "";
}

}  // namespace elbowroom::explain::test
