#pragma once

#include <string>
#include <vector>

#include "explain/explanation.hpp"

namespace elbowroom::explain {

/// `elbowroom.explain/1`, on several lines. docs/schemas/explain-1.json says what it holds.
std::string to_json(const Explanation& explanation);

/// The largest cause and what it costs, in one sentence.
std::string sentence(const Explanation& explanation);

/// The sentence and the tables, in 80 columns.
std::string in_words(const Explanation& explanation);

/// What could not be used, one line each, with the file's name in front.
std::vector<std::string> losses(const Explanation& explanation);

}  // namespace elbowroom::explain
