#include "preload/xla_buffers.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "elbowroom/model/comm_environment.hpp"

namespace elbowroom::preload {
namespace {

constexpr const char* kFlagsVariable = "XLA_FLAGS";
constexpr std::string_view kBlanks = " \t\n\v\f\r";

constexpr std::array<XlaFlag, 2> kFlags = {XlaFlag{"xla_gpu_experimental_enable_nccl_symmetric_buffers", "true"},
                                           XlaFlag{"xla_enable_nccl_symmetric_buffers_for_collectives", "all"}};
/// A name with the zero before it and the one behind it.
constexpr std::size_t kLongestText = std::max(kFlags[0].name.size(), kFlags[1].name.size()) + 2;

std::string flags_of(const Variables& environment) { return value_of(environment, kFlagsVariable).value_or(""); }

bool is_flag(std::string_view word, std::string_view name) {
  if (!word.starts_with("--")) { return false; }
  word.remove_prefix(2);
  return word.substr(0, word.find('=')) == name;
}

/// A text of its own: between zeros.
bool has_text(std::string_view bytes, std::string_view name) {
  for (std::size_t at = bytes.find(name); at != std::string_view::npos; at = bytes.find(name, at + 1)) {
    const std::size_t end = at + name.size();
    if (at > 0 && bytes[at - 1] == '\0' && end < bytes.size() && bytes[end] == '\0') { return true; }
  }
  return false;
}

}  // namespace

std::span<const XlaFlag> xla_buffer_flags() { return kFlags; }

void XlaFlagSearch::add(std::string_view piece) {
  // What lies across the border of two pieces is looked for by itself, so that a piece is not copied.
  const std::string border = last_ + std::string(piece.substr(0, kLongestText));
  for (std::size_t i = 0; i < kFlags.size(); ++i) {
    seen_.at(i) = seen_.at(i) || has_text(border, kFlags.at(i).name) || has_text(piece, kFlags.at(i).name);
  }
  last_ += piece.substr(piece.size() - std::min(piece.size(), kLongestText));
  last_.erase(0, last_.size() - std::min(last_.size(), kLongestText));
}

bool XlaFlagSearch::has(const XlaFlag& flag) const {
  const auto found = std::ranges::find(kFlags, flag.name, &XlaFlag::name);
  return found != kFlags.end() && seen_.at(static_cast<std::size_t>(found - kFlags.begin()));
}

Status check_xla_buffers(const Variables& environment) {
  // With multicast NCCL takes other kernels for these buffers, which nobody has measured here.
  if (value_of(environment, kMulticastVariable) != "0") {
    return invalid_input(fmt::format("--set: {} is not there with NVLink multicast, expected {}=0 in the environment", kXlaBuffers,
                                     kMulticastVariable));
  }
  const std::string flags = flags_of(environment);
  const std::size_t begin = flags.find_first_not_of(kBlanks);
  if (begin != std::string::npos && flags[begin] != '-') {
    return invalid_input(fmt::format("--set: {}: {} names the file '{}', expected flags", kXlaBuffers, kFlagsVariable, flags));
  }
  return {};
}

bool names_xla_buffers(const Variables& environment) {
  const std::string flags = flags_of(environment);
  std::string_view rest = flags;
  while (true) {
    rest.remove_prefix(std::min(rest.find_first_not_of(kBlanks), rest.size()));
    if (rest.empty()) { return false; }
    const std::string_view word = rest.substr(0, rest.find_first_of(kBlanks));
    if (std::ranges::any_of(kFlags, [&](const XlaFlag& flag) { return is_flag(word, flag.name); })) { return true; }
    rest.remove_prefix(word.size());
  }
}

std::string xla_flags(const XlaFlag& flag, const Variables& environment) {
  const std::string before = flags_of(environment);
  return fmt::format("--{}={}{}{}", flag.name, flag.value, before.empty() ? "" : " ", before);
}

std::optional<std::string> xla_symmetric_blocks(const Variables& environment) {
  constexpr const char* measured = "32";
  return value_of(environment, kSymmetricBlocksVariable) ? std::nullopt : std::optional<std::string>(measured);
}

}  // namespace elbowroom::preload
