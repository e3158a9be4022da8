#pragma once

#include "elbowroom/base/result.hpp"
#include "elbowroom/model/step.hpp"

namespace elbowroom::sim {

/// Hosts have `host` ranks each, in the ranks' order. `invalid_input` names the first operation whose communicators join ranks of
/// two hosts: what is known of links is known within one.
Status within_hosts(const Step& step, int host);

}  // namespace elbowroom::sim
