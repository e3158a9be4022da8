#pragma once

#include <cstddef>
#include <vector>

#include "page/model.hpp"

namespace elbowroom::page {

/// Levels of detail of one lane, the coarsest first. `spans` are in the order of their begins. Up to `most_blocks` of them are one
/// level of single spans. Of more, all levels together have at most `most_blocks`, which is taken to be at least 64.
std::vector<Level> levels_of(std::vector<Block> spans, std::size_t most_blocks);

}  // namespace elbowroom::page
