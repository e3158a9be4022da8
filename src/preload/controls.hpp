#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/model/kernel_footprint.hpp"
#include "elbowroom/tune/profile_key.hpp"
#include "preload/variables.hpp"

namespace elbowroom::preload {

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

/// By its name in `--set`: the blocks of kernels on symmetric memory.
inline constexpr std::string_view kSymmetricBlocks = "symmetric_blocks";

/// What a run is asked to do beyond what its policy does by itself.
struct Controls {
  std::vector<std::string> communication;      ///< parts of names of kernels that communicate
  std::vector<KernelCap> caps;                 ///< the first that fits a kernel counts
  std::optional<Sms> sm_target;                ///< of all products
  std::vector<FootprintCap> footprint_caps;    ///< of kernels that no cap by name is for
  std::vector<ProductTarget> product_targets;  ///< where there is no target of all
  std::vector<std::string> off;                ///< parts of the policy that stay out: gate, priority, ...
  Variables comm_library;                      ///< environment of the communication library
  std::optional<bool> xla_buffers;             ///< XLA's, on symmetric memory; absent: nobody asked

  [[nodiscard]] bool leaves_out(std::string_view part) const;
};

/// Controls as a command line gives them.
struct ControlTexts {
  std::vector<std::string> communication = {};
  std::vector<std::string> caps = {};      ///< "4" or "gelu=4"
  std::vector<std::string> settings = {};  ///< "comm_blocks=8"
  std::vector<std::string> off = {};       ///< words
  std::optional<int> sm_target = {};
};

/// `invalid_input`, in one line that names the option, for the first that is none or cannot act beside the others.
Result<Controls> read_controls(const ControlTexts& texts);

/// Each that there is, with a value that it may have: "comm_blocks=8, cluster=1, ..., budget=8".
std::string example_settings();

/// Adds a setting of the communication library as the environment variables that make NCCL and RCCL do so, and one of the
/// interposer as the rule by which that does.
Status add_setting(std::string_view text, Controls& controls);

}  // namespace elbowroom::preload
