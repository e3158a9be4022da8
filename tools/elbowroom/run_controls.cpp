#include "run_controls.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <span>

#include "elbowroom/model/comm_environment.hpp"
#include "elbowroom/plan/controls.hpp"
#include "number_of.hpp"
#include "run/limits.hpp"

namespace elbowroom {
namespace {

// Parts that a profile adds, the hook into Python programs, and NCCL's questions. The interposer never hears of them.
constexpr std::array<std::string_view, 4> kOffElsewhereWords = {"shape", "sm_target", "symmetric", "budget"};

bool is_part_of_policy(std::string_view text) {
  return std::ranges::find(run::kParts, text, &run::Part::word) != run::kParts.end();
}

constexpr std::string_view kSymmetricBlocksRule = "symmetric_blocks";
constexpr std::string_view kBudget = "budget";

// Settings for the interposer, communicator by communicator.
constexpr std::array kOfInterposer{kSymmetricBlocksRule, kBudget};
constexpr ProcessSetting kBlocksOfInterposer{{}, run::kGreatestCommBlocks};

/// A setting of the communication library, which takes it from the environment before any of its own choices; one without variables
/// is for the interposer.
struct CommSetting {
  std::string_view name;
  const ProcessSetting* process;

  [[nodiscard]] bool allows(std::int64_t number) const {
    if (process->allowed.empty()) return number >= 1 && number <= process->greatest;
    return std::ranges::find(process->allowed, number) != process->allowed.end();
  }
  [[nodiscard]] std::string expected() const {
    if (process->allowed.empty()) return fmt::format("a whole number from 1 to {}", process->greatest);
    return fmt::format("one of {}", fmt::join(process->allowed, ", "));
  }
  [[nodiscard]] std::string word_for(std::int64_t number) const {
    if (process->words.empty()) return std::to_string(number);
    return std::string(
        process->words[static_cast<std::size_t>(std::ranges::find(process->allowed, number) - process->allowed.begin())]);
  }
};

std::vector<CommSetting> comm_settings() {
  std::vector<CommSetting> settings;
  for (const Control& control : controls()) {
    if (control.of_process != nullptr) settings.push_back({control.name, control.of_process});
  }
  for (const std::string_view name : kOfInterposer) settings.push_back({name, &kBlocksOfInterposer});
  return settings;
}

/// "comm_blocks=N, cluster=N or budget=N"
std::string expected_settings(const std::vector<CommSetting>& settings) {
  std::string words;
  for (const CommSetting& setting : settings) {
    const bool last = &setting == &settings.back();
    words += fmt::format("{}{}=N", words.empty() ? "" : (last ? " or " : ", "), setting.name);
  }
  return words;
}

/// Rules are split at blanks, and a name is matched as it is written. What is no visible ASCII would never match or break the line.
/// No name has a comma; who writes one means two caps.
bool is_kernel_name(std::string_view name) {
  const auto good = [](char c) { return c > ' ' && c < '\x7f' && c != ','; };
  return !name.empty() && name.size() <= run::kLongestKernelName && std::ranges::all_of(name, good);
}

Result<KernelCap> parse_cap(std::string_view text) {
  const std::size_t equals = text.rfind('=');
  const std::string_view name = equals == std::string_view::npos ? "*" : text.substr(0, equals);
  const std::optional<std::int64_t> blocks =
      number_of<std::int64_t>(equals == std::string_view::npos ? text : text.substr(equals + 1));
  if (!is_kernel_name(name)) {
    return invalid_input(
        fmt::format("--cap: '{}', expected part of a kernel's name before '=': 1 to {} visible characters without a comma", text,
                    run::kLongestKernelName));
  }
  if (!blocks || *blocks < 1 || *blocks > run::kGreatestResidency) {
    return invalid_input(
        fmt::format("--cap: '{}', expected [NAME=]N with N from 1 to {} blocks per SM", text, run::kGreatestResidency));
  }
  return KernelCap{std::string(name), BlocksPerSm(*blocks)};
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
    if (rule.device == device && !add(rule, rules)) return refused(rule);
  }
  return {};
}

Status add_profile_rules(const RunControls& controls, run::Rules& rules) {
  std::set<std::string> devices;
  for (const FootprintCap& cap : controls.footprint_caps) devices.insert(cap.device);
  for (const ProductTarget& target : controls.product_targets) devices.insert(target.device);
  for (const std::string& device : devices) {
    if (!rules.add_device(device)) {
      return invalid_input(
          fmt::format("profile: choices on '{}', expected at most {} devices, each a word of at most {} letters and digits", device,
                      run::kMostDevices, run::kLongestDeviceWord));
    }
    if (Status added = add_those_on(device, controls.footprint_caps, rules); !added) return added;
    if (Status added = add_those_on(device, controls.product_targets, rules); !added) return added;
  }
  return {};
}

bool add_comm_rule(const std::string& name, std::int64_t value, run::Rules& rules) {
  const auto blocks = static_cast<std::uint8_t>(value);
  if (name == kBudget) return rules.set_budgets({.blocks = {blocks}, .count = 1, .every = 0});
  return name == kSymmetricBlocksRule && rules.set_symmetric_blocks(blocks);
}

}  // namespace

Status add_setting(std::string_view text, RunControls& controls) {
  const std::string_view name = text.substr(0, text.find('='));
  const std::vector<CommSetting> settings = comm_settings();
  const auto setting = std::ranges::find(settings, name, &CommSetting::name);
  if (setting == settings.end() || name.size() == text.size()) {
    return invalid_input(fmt::format("--set: '{}', expected {}", text, expected_settings(settings)));
  }
  const std::optional<std::int64_t> number = number_of<std::int64_t>(text.substr(name.size() + 1));
  if (!number || !setting->allows(*number)) {
    return invalid_input(fmt::format("--set: '{}', expected {}", text, setting->expected()));
  }
  for (const std::string_view variable : setting->process->variables) {
    const bool repeated = std::ranges::any_of(controls.comm_library, [&](const auto& set) { return set.first == variable; });
    if (repeated) return invalid_input(fmt::format("--set: '{}' is the second of its name, expected one", text));
    controls.comm_library.emplace_back(variable, setting->word_for(*number));
  }
  if (!setting->process->variables.empty()) return {};
  const bool repeated = std::ranges::any_of(controls.comm_rules, [&](const auto& set) { return set.first == name; });
  if (repeated) return invalid_input(fmt::format("--set: '{}' is the second of its name, expected one", text));
  controls.comm_rules.emplace_back(name, *number);
  return {};
}

Status check_settings(const RunControls& controls) {
  const bool fixes_blocks =
      std::ranges::any_of(controls.comm_library, [](const auto& setting) { return setting.first == kMostCommBlocksVariable; });
  const bool symmetric =
      std::ranges::any_of(controls.comm_rules, [](const auto& rule) { return rule.first == kSymmetricBlocksRule; });
  if (!fixes_blocks || !symmetric) return {};
  return invalid_input("--set: symmetric_blocks beside comm_blocks, which is the number for all kernels; expected one of them");
}

Result<std::vector<KernelCap>> parse_caps(std::span<const std::string> texts) {
  if (texts.size() > run::kMostCaps)
    return invalid_input(fmt::format("--cap: given {} times, expected at most {}", texts.size(), run::kMostCaps));
  std::vector<KernelCap> caps;
  for (const std::string& text : texts) {
    Result<KernelCap> cap = parse_cap(text);
    if (!cap) return cap.error();
    caps.push_back(*std::move(cap));
  }
  return caps;
}

Status check_communication(std::span<const std::string> names) {
  if (names.size() > run::kMostCommunication)
    return invalid_input(fmt::format("--communication: {} names, expected at most {}", names.size(), run::kMostCommunication));
  const auto wrong = std::ranges::find_if_not(names, is_kernel_name);
  if (wrong == names.end()) return {};
  return invalid_input(fmt::format("--communication: '{}', expected part of a kernel's name: 1 to {} visible characters", *wrong,
                                   run::kLongestKernelName));
}

Result<std::string> parse_off(std::string_view text) {
  std::vector<std::string_view> words;
  words.reserve(run::kParts.size() + kOffElsewhereWords.size());
  for (const run::Part& part : run::kParts) words.emplace_back(part.word);
  words.insert(words.end(), kOffElsewhereWords.begin(), kOffElsewhereWords.end());
  if (std::ranges::find(words, text) != words.end()) return std::string(text);
  return invalid_input(fmt::format("--off: '{}', expected one of {}", text, fmt::join(words, ", ")));
}

std::string block_text(const KernelFootprint& block) {
  return fmt::format("{}x{} {}+{}", block.threads.count(), block.registers_per_thread.count(), block.static_shared.count(),
                     block.dynamic_shared.count());
}

std::string products_text(const ProductClass& product) {
  return fmt::format("{} GEMMs of 2^{} flop", to_string(product.dtype), product.flop_exponent);
}

Result<run::Rules> run_rules(const RunControls& controls) {
  run::Rules rules;
  for (const std::string& name : controls.communication) {
    if (rules.add_communication(name)) continue;
    return invalid_input(fmt::format("--communication: '{}', expected at most {} names", name, run::kMostCommunication));
  }
  for (const KernelCap& cap : controls.caps) {
    if (rules.add_cap(cap.kernel, word(cap.blocks_per_sm))) continue;
    return invalid_input(fmt::format("--cap: '{}={}', expected at most {} names of 1 to {} bytes, each with 1 to {} blocks per SM",
                                     cap.kernel, cap.blocks_per_sm.count(), run::kMostCaps, run::kLongestKernelName,
                                     run::kGreatestResidency));
  }
  if (controls.sm_target && !rules.set_sm_target(word(*controls.sm_target))) {
    return invalid_input(fmt::format("--sm-target: {}, expected 1 to {} SMs", controls.sm_target->count(), run::kGreatestSms));
  }
  for (const auto& [name, value] : controls.comm_rules) {
    if (add_comm_rule(name, value, rules)) continue;
    return invalid_input(fmt::format("--set: '{}={}', expected 1 to {} blocks", name, value, run::kGreatestCommBlocks));
  }
  for (const std::string& part : controls.off) {
    if (is_part_of_policy(part) && !rules.leave_out(part))
      return invalid_input(fmt::format("--off: '{}', expected a part of the policy", part));
  }
  if (Status added = add_profile_rules(controls, rules); !added) return added.error();
  return rules;
}

}  // namespace elbowroom
