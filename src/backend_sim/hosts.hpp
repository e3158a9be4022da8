#pragma once

#include <optional>
#include <vector>

#include "elbowroom/base/result.hpp"
#include "elbowroom/model/step.hpp"
#include "elbowroom/network/machine.hpp"
#include "elbowroom/network/ring_time.hpp"

namespace elbowroom::sim {

/// By operation: how its communicators lie on hosts of `host` GPUs, that of them which has least of a host's rails; absent for
/// computations and where each is on one host. Ranks are numbered host by host.
std::vector<std::optional<RingPlace>> places_of(const Step& step, int host);

/// Fails where an operation joins hosts and nothing joins those: `machine` is absent or has no rails. `host`: GPUs of one.
Status within_hosts(const Step& step, int host, const std::optional<MachineSpec>& machine);

}  // namespace elbowroom::sim
