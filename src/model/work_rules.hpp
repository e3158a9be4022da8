#pragma once

#include <string>
#include <string_view>

#include "elbowroom/base/result.hpp"
#include "elbowroom/model/scenario.hpp"

// The rules of kernels, collectives and names that hold in every document. Messages name fields as scenarios have them
// ("compute.m").
namespace elbowroom::detail {

Status validate(const Compute& compute);
Status validate(const Collective& collective, int ranks);
/// Names stand in tables and in messages of one line. `field` is what the message calls it.
Status validate_name(std::string_view name, const std::string& field);

}  // namespace elbowroom::detail
