#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "run/limits.hpp"
#include "run/policy.hpp"
#include "run/product.hpp"

namespace elbowroom::run {

/// `cap <substring of a kernel name or *> <blocks per SM>`; the first that matches a kernel counts.
struct CapRule {
  std::array<char, kLongestKernelName + 1> name;  ///< zero-terminated; "*" matches every kernel
  std::uint32_t blocks_per_sm;

  bool operator==(const CapRule&) const = default;
};

/// `communication <substring of a kernel name>`: what has it communicates, by a library that is not known.
using CommunicationName = std::array<char, kLongestKernelName + 1>;  // zero-terminated

/// Bit per name of a device that rules are for: `device h200` begins the rules for devices in whose name that is a word. Rules
/// before the first such line are for every device.
using DeviceNames = std::uint32_t;
constexpr DeviceNames kEveryDevice = 1;
constexpr DeviceNames kAnyName = ~DeviceNames{0};

/// What a block of a launch takes of an SM, and `blocks_per_sm`: `footprint 256x32 0+0 1 cap 4` (threads x registers, static +
/// dynamic bytes of shared memory, blocks per cluster). What the same block takes is the same launch to an SM, whatever its name.
struct FootprintRule {
  std::uint32_t threads, registers, static_shared, dynamic_shared, cluster;
  std::uint32_t blocks_per_sm;
  DeviceNames on;

  bool operator==(const FootprintRule&) const = default;
};

/// `product bf16 2^40 sm_target 108`.
struct ProductRule {
  Product product;
  std::uint32_t sms;
  DeviceNames on;

  bool operator==(const ProductRule&) const = default;
};

/// What kPolicyVariable and the file of kRulesVariable say.
struct Rules {
  Policy policy = Policy::automatic;
  bool gate = true;
  bool priority = true;
  bool trial = true;            ///< `ab off`: auto applies its controls without comparing them
  std::uint32_t sm_target = 0;  ///< of all products; 0: of those that a rule names
  std::size_t communication_count = 0;
  std::size_t cap_count = 0;
  std::size_t footprint_count = 0;
  std::size_t product_count = 0;
  std::size_t device_count = 0;
  std::array<std::array<char, kLongestDeviceWord + 1>, kMostDevices> device_names{};  ///< zero-terminated
  std::array<FootprintRule, kMostFootprints> footprints{};
  std::array<ProductRule, kMostProducts> products{};
  std::array<CommunicationName, kMostCommunication> communication{};
  std::array<CapRule, kMostCaps> caps{};  // last: what every launch reads stays together

  bool operator==(const Rules&) const = default;

  // False: no rule, or no place is left for it; nothing changes then.
  /// A name without blanks at its ends, of one line; blocks from 1 to kGreatestResidency.
  bool add_cap(std::string_view name, std::uint32_t blocks_per_sm);
  /// Such a name.
  bool add_communication(std::string_view name);
  /// A word of letters and digits, which what is added from now on is for. Repeated names take a place each: whoever writes the
  /// rules puts those of a device together.
  bool add_device(std::string_view word);
  /// For the newest device, whatever `rule.on` says.
  bool add_footprint(FootprintRule rule);
  bool add_product(ProductRule rule);     ///< SMs up to kGreatestSms
  bool set_sm_target(std::uint32_t sms);  ///< the same
  /// One of kParts.
  bool leave_out(std::string_view part);

  /// Whether a rule says that such a kernel communicates.
  [[nodiscard]] bool is_communication(const char* kernel_name) const;
  [[nodiscard]] bool has_targets() const { return sm_target > 0 || product_count > 0; }
  [[nodiscard]] bool has_caps() const { return cap_count > 0 || footprint_count > 0; }
  /// Which of the names a device has, by what its driver calls it ("NVIDIA H200"); `kEveryDevice` is one of them.
  [[nodiscard]] DeviceNames names_of(const char* device) const;
  /// On a device with one of these names. 0: the library is left as it is.
  [[nodiscard]] std::uint32_t target_of(const Product& product, DeviceNames names) const;
};

/// What a rule `<word> off` leaves out of a policy.
struct Part {
  const char* word;
  bool Rules::* included;
};
inline constexpr std::array<Part, 3> kParts = {{{"gate", &Rules::gate}, {"priority", &Rules::priority}, {"ab", &Rules::trial}}};

/// Adds the rules of a text (one a line; blank lines and lines that begin with # are skipped) to `rules`. Returns the number of the
/// first line that is not a rule, counted from 1, or 0; the lines before it count. Allocates nothing.
std::size_t parse_rules(std::string_view text, Rules& rules);

/// A text of which parse_rules makes the same rules again, the policy aside, which has a variable of its own; empty where there are
/// none.
std::string rules_text(const Rules& rules);

}  // namespace elbowroom::run
