#pragma once

#include <nlohmann/json.hpp>

#include "elbowroom/base/result.hpp"
#include "elbowroom/model/scenario.hpp"
#include "model/json_fields.hpp"

/// Kernels that a document describes: of a module, or by what their blocks take and how long they run.
namespace elbowroom::detail {

Compute read_module(JsonFields& fields);
Compute read_footprint_kernel(JsonFields& fields);

nlohmann::ordered_json json_of(const ModuleKernel& kernel);
nlohmann::ordered_json json_of(const FootprintKernel& kernel);

Status check(const ModuleKernel& kernel);
Status check(const FootprintKernel& kernel);

/// Of all buffers.
Bytes memory(const ModuleKernel& kernel);

}  // namespace elbowroom::detail
