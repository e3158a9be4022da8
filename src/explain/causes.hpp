#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "explain/explanation.hpp"

namespace elbowroom::explain {

/// The costs of one cause together.
struct CauseSum {
  Cause cause = Cause::unknown;
  double us = 0;  ///< a step
  std::size_t count = 0;
  std::vector<const Cost*> costs;  ///< the greatest first
};

/// The greatest first. The costs stay the explanation's.
std::vector<CauseSum> causes_of(const Explanation& explanation);

/// What a cause says of a collective: "the program waits for it".
std::string_view in_words(Cause cause);

}  // namespace elbowroom::explain
