#include "preload/rules.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <string_view>
#include <vector>

#include "run/limits.hpp"

namespace elbowroom::preload {
namespace {

bool is_part_of_policy(std::string_view text) {
  return std::ranges::find(run::kParts, text, &run::Part::word) != run::kParts.end();
}

template <class Unit>
std::uint32_t word(const Quantity<Unit>& value) {
  return static_cast<std::uint32_t>(value.count());
}

bool add(const FootprintCap& cap, run::Rules& rules) {
  const KernelFootprint& block = cap.footprint;
  return rules.add_footprint({.threads = word(block.threads),
                              .registers = word(block.registers_per_thread),
                              .static_shared = word(block.static_shared),
                              .dynamic_shared = word(block.dynamic_shared),
                              .cluster = static_cast<std::uint32_t>(block.cluster),
                              .blocks_per_sm = word(cap.blocks_per_sm),
                              .on = {}});
}

bool add(const ProductTarget& target, run::Rules& rules) {
  const run::ProductType type = target.product.dtype == DataType::f32 ? run::ProductType::f32 : run::ProductType::bf16;
  return rules.add_product({{type, static_cast<std::uint8_t>(target.product.flop_exponent)}, word(target.sms), {}});
}

Error refused(const FootprintCap& cap) {
  return invalid_input(fmt::format("profile: {} blocks per SM for kernels of {} on {}, expected 1 to {} for at most {} kernels",
                                   cap.blocks_per_sm.count(), block_text(cap.footprint), cap.device, run::kGreatestResidency,
                                   run::kMostFootprints));
}

Error refused(const ProductTarget& target) {
  return invalid_input(fmt::format("profile: {} SMs for {} on {}, expected 1 to {} for at most {} kinds of GEMM",
                                   target.sms.count(), products_text(target.product), target.device, run::kGreatestSms,
                                   run::kMostProducts));
}

template <class Rule>
Status add_those_on(const std::string& device, const std::vector<Rule>& all, run::Rules& rules) {
  for (const Rule& rule : all) {
    if (rule.device == device && !add(rule, rules)) { return refused(rule); }
  }
  return {};
}

Status add_profile_rules(const Controls& controls, run::Rules& rules) {
  std::set<std::string> devices;
  for (const FootprintCap& cap : controls.footprint_caps) { devices.insert(cap.device); }
  for (const ProductTarget& target : controls.product_targets) { devices.insert(target.device); }
  for (const std::string& device : devices) {
    if (!rules.add_device(device)) {
      return invalid_input(
          fmt::format("profile: choices on '{}', expected at most {} devices, each a word of at most {} letters and digits", device,
                      run::kMostDevices, run::kLongestDeviceWord));
    }
    if (Status added = add_those_on(device, controls.footprint_caps, rules); !added) { return added; }
    if (Status added = add_those_on(device, controls.product_targets, rules); !added) { return added; }
  }
  return {};
}

}  // namespace

std::string block_text(const KernelFootprint& block) {
  return fmt::format("{}x{} {}+{}", block.threads.count(), block.registers_per_thread.count(), block.static_shared.count(),
                     block.dynamic_shared.count());
}

std::string products_text(const ProductClass& product) {
  return fmt::format("{} GEMMs of 2^{} flop", to_string(product.dtype), product.flop_exponent);
}

Result<run::Rules> rules_of(const Controls& controls) {
  run::Rules rules;
  for (const std::string& name : controls.communication) {
    if (rules.add_communication(name)) { continue; }
    return invalid_input(fmt::format("--communication: '{}', expected at most {} names", name, run::kMostCommunication));
  }
  for (const KernelCap& cap : controls.caps) {
    if (rules.add_cap(cap.kernel, word(cap.blocks_per_sm))) { continue; }
    return invalid_input(fmt::format("--cap: '{}={}', expected at most {} names of 1 to {} bytes, each with 1 to {} blocks per SM",
                                     cap.kernel, cap.blocks_per_sm.count(), run::kMostCaps, run::kLongestKernelName,
                                     run::kGreatestResidency));
  }
  if (controls.sm_target && !rules.set_sm_target(word(*controls.sm_target))) {
    return invalid_input(fmt::format("--sm-target: {}, expected 1 to {} SMs", controls.sm_target->count(), run::kGreatestSms));
  }
  for (const std::string& part : controls.off) {
    if (is_part_of_policy(part) && !rules.leave_out(part)) {
      return invalid_input(fmt::format("--off: '{}', expected a part of the policy", part));
    }
  }
  if (Status added = add_profile_rules(controls, rules); !added) { return added.error(); }
  return rules;
}

}  // namespace elbowroom::preload
