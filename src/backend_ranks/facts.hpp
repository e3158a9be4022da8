#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elbowroom/backend/backend.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::ranks {

/// What must be equal on all ranks, by name: figures of different machines would be called those of one.
using Facts = std::vector<std::pair<std::string, std::string>>;

Facts facts_of(const Backend& backend, std::uint64_t seed);

/// `invalid_input` names the first that differs, and both values.
Status same_facts(const Facts& theirs, const Facts& own);

/// Which GPU a rank has.
struct OwnGpu {
  std::string host;                   ///< that of a host until it starts again, or what the communication library takes for one
  std::optional<std::string> bus_id;  ///< absent: none that is known
};

OwnGpu gpu_of(const Backend& backend);

/// What a rank says of itself before anything runs.
struct Introduction {
  Facts facts;
  OwnGpu gpu;
};

/// `invalid_input` names the first rank that has the GPU of another. By rank, from 0 on.
Status different_gpus(std::span<const OwnGpu> gpus);

std::string bytes_of(const Introduction& introduction);
/// `failed` where they are none.
Result<Introduction> introduction_in(std::string_view bytes);

}  // namespace elbowroom::ranks
