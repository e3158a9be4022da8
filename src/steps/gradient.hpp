#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "steps/step_writer.hpp"

namespace elbowroom::steps {

/// Of one tensor of parameters, on one rank.
struct Gradient {
  std::string name;
  std::int64_t rows = 1;  ///< 1: the weights of a norm
  std::int64_t columns = 0;
  Ends made_by;
  bool of_experts = false;  ///< ranks along ep have others

  [[nodiscard]] std::int64_t elements() const { return rows * columns; }
};

/// Parameters whose gradients have been added, with what did that.
struct Updated {
  std::string name;
  int stage = 0;
  std::int64_t parameters = 0;  ///< that this rank updates
  Ends after;
  Ends gathers;            ///< that send the new parameters to others in the repeat that follows
  Axes shared_along = {};  ///< ranks that gather them from each other behind the update; empty: each rank updates its own
};

inline std::int64_t elements_of(const std::vector<Gradient>& gradients) {
  std::int64_t sum = 0;
  for (const Gradient& gradient : gradients) { sum += gradient.elements(); }
  return sum;
}

}  // namespace elbowroom::steps
