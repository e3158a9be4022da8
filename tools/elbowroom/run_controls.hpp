#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/kernel_footprint.hpp"
#include "elbowroom/tune/profile_key.hpp"
#include "run/rules.hpp"

namespace elbowroom {

/// A cap on the residency of the kernels in whose name `kernel` is found; "*" is every kernel.
struct KernelCap {
  std::string kernel;
  BlocksPerSm blocks_per_sm;
};

/// A cap on the residency of kernels whose blocks take this of an SM, on devices with that catalog name.
struct FootprintCap {
  std::string device;
  KernelFootprint footprint;
  BlocksPerSm blocks_per_sm;
};

/// The SMs for which a library makes products of that kind, on devices as above.
struct ProductTarget {
  std::string device;
  ProductClass product;
  Sms sms;
};

/// What a run is asked to do beyond what its policy does by itself.
struct RunControls {
  std::vector<std::string> communication;                         ///< parts of names of kernels that communicate
  std::vector<KernelCap> caps;                                    ///< the first that fits a kernel counts
  std::optional<Sms> sm_target;                                   ///< of all products
  std::vector<FootprintCap> footprint_caps;                       ///< of kernels that no cap by name is for
  std::vector<ProductTarget> product_targets;                     ///< where there is no target of all
  std::vector<std::string> off;                                   ///< parts of the policy that stay out: gate, priority, ...
  std::vector<std::pair<std::string, std::string>> comm_library;  ///< environment of the communication library
  std::vector<std::pair<std::string, std::int64_t>> comm_rules;   ///< settings of --set that are the interposer's: name and value
};

/// Caps as the command line gives them: "4" or "gelu=4".
Result<std::vector<KernelCap>> parse_caps(std::span<const std::string> texts);

/// `invalid_input` for what is no part of a kernel's name, or one too many.
Status check_communication(std::span<const std::string> names);

/// Adds "comm_blocks=8", "cluster=1", "comm_threads=256" and "copy_engine=1" as the environment variables that make NCCL and RCCL
/// do so. Adds "symmetric_blocks=16" and "budget=8" as the rules by which the interposer does.
Status add_setting(std::string_view text, RunControls& controls);

/// `invalid_input` for settings that cannot act beside each other.
Status check_settings(const RunControls& controls);

/// A word of --off.
Result<std::string> parse_off(std::string_view text);

/// "256x32 0+0": threads x registers, static + dynamic bytes of shared memory.
std::string block_text(const KernelFootprint& block);
/// "bf16 GEMMs of 2^40 flop"
std::string products_text(const ProductClass& product);

/// What the program is told of them, but for the policy and what has variables of its own. `invalid_input`, which names the first
/// of them that rules cannot say.
Result<run::Rules> run_rules(const RunControls& controls);

}  // namespace elbowroom
