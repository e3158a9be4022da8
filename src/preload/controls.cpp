#include "preload/controls.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "base/number_of.hpp"
#include "elbowroom/model/comm_environment.hpp"
#include "elbowroom/plan/controls.hpp"
#include "plan/control_name.hpp"
#include "preload/xla_buffers.hpp"
#include "run/limits.hpp"
#include "run/rules.hpp"

namespace elbowroom::preload {
namespace {

// Parts that a profile adds, and the hook into Python programs. The interposer never hears of them.
constexpr std::array<std::string_view, 3> kOffElsewhereWords = {"shape", "sm_target", "symmetric"};

constexpr std::array kSymmetricVariables{kSymmetricBlocksVariable};
constexpr ProcessSetting kSymmetricBlocksOfProcess{kSymmetricVariables, run::kGreatestCommBlocks, 16};
// A number of blocks at most, beside comm_blocks, which is that and the least one.
constexpr std::array kMostBlocks{kMostCommBlocksVariable};
constexpr ProcessSetting kBudget{kMostBlocks, run::kGreatestCommBlocks, 8};
constexpr std::array<std::int64_t, 2> kSwitch = {0, 1};
constexpr ProcessSetting kXlaSwitch{{}, 1, 1, kSwitch};

/// A setting of the communication library, which takes it from the environment before any of its own choices, or of XLA.
struct CommSetting {
  std::string_view name;
  const ProcessSetting* process;

  [[nodiscard]] bool allows(std::int64_t number) const {
    if (process->allowed.empty()) { return number >= 1 && number <= process->greatest; }
    return std::ranges::find(process->allowed, number) != process->allowed.end();
  }
  [[nodiscard]] std::string expected() const {
    if (process->allowed.empty()) { return fmt::format("a whole number from 1 to {}", process->greatest); }
    return fmt::format("one of {}", fmt::join(process->allowed, ", "));
  }
  [[nodiscard]] std::string word_for(std::int64_t number) const {
    if (process->words.empty()) { return std::to_string(number); }
    return std::string(
        process->words[static_cast<std::size_t>(std::ranges::find(process->allowed, number) - process->allowed.begin())]);
  }
};

std::vector<CommSetting> known_settings() {
  std::vector<CommSetting> settings;
  for (const Control& control : controls()) {
    if (control.of_process != nullptr) { settings.push_back({control.name, control.of_process}); }
  }
  settings.push_back({kSymmetricBlocks, &kSymmetricBlocksOfProcess});
  settings.push_back({"budget", &kBudget});
  settings.push_back({kXlaBuffers, &kXlaSwitch});
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
      detail::number_of<std::int64_t>(equals == std::string_view::npos ? text : text.substr(equals + 1));
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

Status check_settings(const Controls& controls) {
  if (!value_of(controls.comm_library, kMostCommBlocksVariable) || !value_of(controls.comm_library, kSymmetricBlocksVariable)) {
    return {};
  }
  return invalid_input(fmt::format("--set: {} beside {}, which is the number for all kernels; expected one of them",
                                   kSymmetricBlocks, detail::name_of<&OverlapPlan::comm_blocks>()));
}

Result<std::vector<KernelCap>> parse_caps(std::span<const std::string> texts) {
  if (texts.size() > run::kMostCaps) {
    return invalid_input(fmt::format("--cap: given {} times, expected at most {}", texts.size(), run::kMostCaps));
  }
  std::vector<KernelCap> caps;
  for (const std::string& text : texts) {
    Result<KernelCap> cap = parse_cap(text);
    if (!cap) { return cap.error(); }
    caps.push_back(*std::move(cap));
  }
  return caps;
}

Status check_communication(std::span<const std::string> names) {
  if (names.size() > run::kMostCommunication) {
    return invalid_input(fmt::format("--communication: {} names, expected at most {}", names.size(), run::kMostCommunication));
  }
  const auto wrong = std::ranges::find_if_not(names, is_kernel_name);
  if (wrong == names.end()) { return {}; }
  return invalid_input(fmt::format("--communication: '{}', expected part of a kernel's name: 1 to {} visible characters", *wrong,
                                   run::kLongestKernelName));
}

Result<std::string> parse_off(std::string_view text) {
  std::vector<std::string_view> words;
  words.reserve(run::kParts.size() + kOffElsewhereWords.size());
  for (const run::Part& part : run::kParts) { words.emplace_back(part.word); }
  words.insert(words.end(), kOffElsewhereWords.begin(), kOffElsewhereWords.end());
  if (std::ranges::find(words, text) != words.end()) { return std::string(text); }
  return invalid_input(fmt::format("--off: '{}', expected one of {}", text, fmt::join(words, ", ")));
}

}  // namespace

bool Controls::leaves_out(std::string_view part) const { return std::ranges::find(off, part) != off.end(); }

Status add_setting(std::string_view text, Controls& controls) {
  const std::string_view name = text.substr(0, text.find('='));
  const std::vector<CommSetting> settings = known_settings();
  const auto setting = std::ranges::find(settings, name, &CommSetting::name);
  if (setting == settings.end() || name.size() == text.size()) {
    return invalid_input(fmt::format("--set: '{}', expected {}", text, expected_settings(settings)));
  }
  const std::optional<std::int64_t> number = detail::number_of<std::int64_t>(text.substr(name.size() + 1));
  if (!number || !setting->allows(*number)) {
    return invalid_input(fmt::format("--set: '{}', expected {}", text, setting->expected()));
  }
  const std::span<const std::string_view> variables = setting->process->variables;
  const auto is_set = [&](std::string_view variable) { return value_of(controls.comm_library, variable).has_value(); };
  const bool of_xla = name == kXlaBuffers;
  if (std::ranges::any_of(variables, is_set) || (of_xla && controls.xla_buffers)) {
    return invalid_input(fmt::format("--set: '{}' sets what another one sets, expected one", text));
  }
  for (const std::string_view variable : variables) { controls.comm_library.emplace_back(variable, setting->word_for(*number)); }
  if (of_xla) { controls.xla_buffers = *number != 0; }
  return {};
}

std::string example_settings() {
  std::string words;
  for (const CommSetting& setting : known_settings()) {
    words += fmt::format("{}{}={}", words.empty() ? "" : ", ", setting.name, setting.process->example);
  }
  return words;
}

Result<Controls> read_controls(const ControlTexts& texts) {
  Controls controls;
  if (Status named = check_communication(texts.communication); !named) { return named.error(); }
  controls.communication = texts.communication;
  Result<std::vector<KernelCap>> caps = parse_caps(texts.caps);
  if (!caps) { return caps.error(); }
  controls.caps = *std::move(caps);
  for (const std::string& text : texts.settings) {
    if (Status added = add_setting(text, controls); !added) { return added.error(); }
  }
  if (Status possible = check_settings(controls); !possible) { return possible.error(); }
  for (const std::string& text : texts.off) {
    Result<std::string> part = parse_off(text);
    if (!part) { return part.error(); }
    controls.off.push_back(*std::move(part));
  }
  if (texts.sm_target) { controls.sm_target = Sms(*texts.sm_target); }
  return controls;
}

}  // namespace elbowroom::preload
