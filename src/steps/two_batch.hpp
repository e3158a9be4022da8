#pragma once

#include <vector>

#include "elbowroom/model/step.hpp"

namespace elbowroom::steps {

/// The same operations, in the order in which micro-batches advance in pairs side by side: those of even numbers on one side, those
/// of odd numbers on the other. A side goes on until it has launched a communication that its next kernels wait for. Then the other
/// one has its turn. Each micro-batch keeps its own order. `ends`: by micro-batch, how many operations there are up to its last
/// one; micro-batches lie one after the other, in front of the rest.
Step side_by_side(const Step& step, const std::vector<int>& ends);

}  // namespace elbowroom::steps
