#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "elbowroom/backend/backend.hpp"
#include "elbowroom/base/result.hpp"
#include "ranks/hub.hpp"
#include "ranks/spoke.hpp"

// What the leaf backend_ranks defines. Other leaves open devices; this one takes an open backend and adds the other ranks to it.
namespace elbowroom::detail {

/// Of rank 0: every call goes to all ranks, and of their times the greatest counts. `needed` is the most ranks that a case has.
/// `invalid_input` names a rank that differs, in what, and both values. `hub` outlives it.
Result<std::unique_ptr<Backend>> over_ranks(std::unique_ptr<Backend> own, ranks::Hub& hub, int needed, std::uint64_t seed);

/// Opens a rank's own backend for cases of so many ranks.
using OpenOwn = std::function<Result<std::unique_ptr<Backend>>(int needed)>;

/// Of any other rank: does what rank 0 asks until that ends. `interrupts` as of ranks::Spoke.
Result<ranks::End> serve_rank(ranks::Spoke& spoke, int interrupts, const OpenOwn& open, int rank, std::uint64_t seed);

}  // namespace elbowroom::detail
