#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "elbowroom/base/result.hpp"
#include "elbowroom/model/scenario.hpp"
#include "model/json_fields.hpp"

// Kernels and collectives of documents: scenarios and steps have the same. `path` begins the names of fields in messages
// ("compute.").
namespace elbowroom::detail {

Result<Compute> read_compute(const nlohmann::json& object, const std::string& path, const std::string& source);
Result<Collective> read_collective(const nlohmann::json& object, const std::string& path, const std::string& source);
DataType read_dtype(JsonFields& fields, std::span<const DataType> allowed);
/// Null, and a failure, unless the member is an object.
const nlohmann::json* object_member(JsonFields& fields, const char* name);

nlohmann::ordered_json compute_json(const Compute& compute);
nlohmann::ordered_json collective_json(const Collective& collective);

}  // namespace elbowroom::detail
