#pragma once

namespace elbowroom {

/// A step has no more ranks, and a run no more processes.
inline constexpr int kMostRanks = 4'096;

}  // namespace elbowroom
