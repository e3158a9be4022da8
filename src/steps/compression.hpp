#pragma once

#include <string>
#include <vector>

#include "steps/gradient.hpp"
#include "steps/step_writer.hpp"

namespace elbowroom::steps {

/// Adds the gradients of ranks along the axes, of which there are at least two, as the request compresses them. What is returned
/// has the sum on every rank. Kernels of the compression have a stream of their own, so that none delays the backward pass.
Ends add_gradients(StepWriter& writer, const TransformerStep& request, const std::string& name,
                   const std::vector<Gradient>& gradients, const Axes& axes);

/// The same where each rank keeps a share of the sum. Compression, if any, is bf16 or fp8.
Ends scatter_gradients(StepWriter& writer, const TransformerStep& request, const std::string& name,
                       const std::vector<Gradient>& gradients, const Axes& axes);

}  // namespace elbowroom::steps
