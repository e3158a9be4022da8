#pragma once

#include <string>
#include <vector>

#include "explain/explanation.hpp"

namespace elbowroom::explain {

/// What one thing costs a step in two runs; in neither is it below zero.
struct Change {
  std::string what;
  double before_us = 0;
  double after_us = 0;

  [[nodiscard]] double more() const { return after_us - before_us; }
};

/// What changed between two runs of one program, the greatest change of each kind first.
struct Comparison {
  Change step;
  std::vector<Change> parts;      ///< that add up to the step
  std::vector<Change> kernels;    ///< by name
  std::vector<Change> exposures;  ///< by collective, size and cause
};

Comparison compare(const Explanation& before, const Explanation& after);

/// A sentence and tables in 80 columns.
std::string in_words(const Comparison& comparison);

}  // namespace elbowroom::explain
