#pragma once

#include <string>

#include "elbowroom/base/result.hpp"
#include "elbowroom/model/kernel_footprint.hpp"
#include "elbowroom/tune/profile_key.hpp"
#include "preload/controls.hpp"
#include "run/rules.hpp"

namespace elbowroom::preload {

/// "256x32 0+0": threads x registers, static + dynamic bytes of shared memory.
std::string block_text(const KernelFootprint& block);
/// "bf16 GEMMs of 2^40 flop"
std::string products_text(const ProductClass& product);

/// What the program is told of the controls, but for the policy and what has variables of its own. `invalid_input`, which names the
/// first of them that rules cannot say.
Result<run::Rules> rules_of(const Controls& controls);

}  // namespace elbowroom::preload
