#pragma once

#include <cstddef>

#include "elbowroom/base/result.hpp"
#include "elbowroom/steps/transformer.hpp"

namespace elbowroom::steps {

/// Whether the step makes sense; the first option at fault otherwise.
Status check(const TransformerStep& request);

/// Whether a document can have so many operations.
Status check_length(std::size_t operations);

}  // namespace elbowroom::steps
