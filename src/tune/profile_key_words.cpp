#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <functional>

#include "elbowroom/tune/profile_key.hpp"
#include "model/scenario_words.hpp"
#include "run/keys.hpp"

namespace elbowroom {
namespace {

constexpr std::int64_t kGreatestNumber = 0x7fff'ffff;
constexpr int kGreatestCluster = 64;
constexpr int kGreatestExponent = 127;

constexpr std::array kKinds{KernelKind::tiled_gemm, KernelKind::library_gemm, KernelKind::elementwise};

/// Takes words from the front of a text. What it takes is checked by writing it again.
class Words {
 public:
  explicit Words(std::string_view text) : left_(text) {}

  bool skip(std::string_view expected) {
    if (!left_.starts_with(expected)) { return false; }
    left_.remove_prefix(expected.size());
    return true;
  }

  /// 0 where none stands there or it is too great.
  std::int64_t number() {
    std::int64_t value = 0;
    const auto [rest, error] = std::from_chars(left_.data(), left_.data() + left_.size(), value);
    left_.remove_prefix(static_cast<std::size_t>(rest - left_.data()));
    return error == std::errc() && value >= 0 && value <= kGreatestNumber ? value : 0;
  }

  std::string_view word() {
    const std::string_view found = left_.substr(0, left_.find(' '));
    left_.remove_prefix(found.size());
    skip(" ");
    return found;
  }

  [[nodiscard]] bool over() const { return left_.empty(); }

 private:
  std::string_view left_;
};

/// `read`, if it is written as `words`.
template <class Read>
std::optional<Read> if_written(const Read& read, std::string_view words) {
  return in_words(read) == words ? std::optional(read) : std::nullopt;
}

bool is_exponent(int exponent) { return exponent >= 0 && exponent <= kGreatestExponent; }

std::optional<KernelFootprint> parse_block(std::string_view text) {
  Words words(text);
  KernelFootprint block;
  block.threads = Threads(words.number());
  words.skip("x");
  block.registers_per_thread = Registers(words.number());
  words.skip(" ");
  block.static_shared = Bytes(words.number());
  words.skip("+");
  block.dynamic_shared = Bytes(words.number());
  words.skip(" ");
  block.cluster = static_cast<int>(words.number());
  return block.cluster >= 1 && block.cluster <= kGreatestCluster ? std::optional(block) : std::nullopt;
}

bool all_equal(const std::vector<int>& shares) {
  return std::ranges::adjacent_find(shares, std::ranges::not_equal_to()) == shares.end();
}

std::vector<int> parse_shares(Words& words) {
  std::vector<int> shares;
  do { shares.push_back(static_cast<int>(words.number())); } while (words.skip(":"));
  return shares;
}

}  // namespace

std::string_view to_string(KernelKind kind) {
  switch (kind) {
    case KernelKind::tiled_gemm:
      return "tiled_gemm";
    case KernelKind::library_gemm:
      return "library_gemm";
    case KernelKind::elementwise:
      break;
  }
  return "elementwise";
}

std::string in_words(const CommLibrary& library) {
  std::string words = library.name;
  if (library.version) { words += fmt::format(" {}", *library.version); }
  for (const auto& [variable, value] : library.settings) { words += fmt::format(" {}={}", variable, value); }
  return words;
}

std::string in_words(const KernelKey& kernel) {
  if (const auto* block = std::get_if<KernelFootprint>(&kernel)) {
    return fmt::format("{}x{} {}+{} {}", block->threads.count(), block->registers_per_thread.count(), block->static_shared.count(),
                       block->dynamic_shared.count(), block->cluster);
  }
  const auto& named = std::get<NamedKernel>(kernel);
  return fmt::format("{}{}{}", to_string(named.kind), named.dtype ? " " : "", named.dtype ? to_string(*named.dtype) : "");
}

std::string in_words(const ComputeClass& size) {
  if (size.unit == ComputeClass::Unit::bytes) { return fmt::format("2^{} B", size.exponent); }
  return fmt::format("2^{} flop{}", size.exponent, size.blocks ? fmt::format(" 2^{} blocks", *size.blocks) : "");
}

std::string in_words(const CollectiveKey& collective) {
  std::string words = fmt::format("{} {}", to_string(collective.op), to_string(collective.dtype));
  if (collective.comm_blocks) { words += fmt::format(" {} blocks", collective.comm_blocks->count()); }
  if (collective.cluster) { words += fmt::format(" cluster {}", *collective.cluster); }
  if (collective.root) { words += fmt::format(" root {}", *collective.root); }
  if (!collective.shares.empty()) { words += fmt::format(" shares {}", fmt::join(collective.shares, ":")); }
  return words;
}

std::string in_words(const ByteClass& size) { return fmt::format("2^{} B", size.exponent); }

CommLibrary parse_comm_library(std::string_view text) {
  CommLibrary library;
  std::size_t blank = text.find(' ');
  library.name = text.substr(0, blank);
  while (blank != std::string_view::npos) {
    const std::size_t end = text.find(' ', blank + 1);
    const std::string_view word = text.substr(0, end).substr(blank + 1);
    blank = end;
    const std::size_t equals = word.find('=');
    if (equals != std::string_view::npos) {
      library.settings.emplace_back(word.substr(0, equals), word.substr(equals + 1));
    } else if (!library.settings.empty()) {
      library.settings.back().second.append(" ").append(word);
    } else {
      library.version = library.version ? fmt::format("{} {}", *library.version, word) : std::string(word);
    }
  }
  return library;
}

std::optional<KernelKey> parse_kernel(std::string_view text) {
  if (const auto block = parse_block(text)) {
    if (in_words(*block) == text) { return *block; }
  }
  Words words(text);
  const auto kind = detail::word_of(kKinds)(std::string(words.word()));
  if (!kind) { return std::nullopt; }
  return if_written<KernelKey>(NamedKernel{*kind, detail::word_of(detail::kDataTypes)(std::string(words.word()))}, text);
}

std::optional<ComputeClass> parse_compute_class(std::string_view text) {
  Words words(text);
  ComputeClass size;
  words.skip("2^");
  size.exponent = static_cast<int>(words.number());
  size.unit = words.skip(" B") ? ComputeClass::Unit::bytes : ComputeClass::Unit::flop;
  words.skip(" flop");
  if (words.skip(" 2^")) { size.blocks = static_cast<int>(words.number()); }
  const bool possible = is_exponent(size.exponent) && is_exponent(size.blocks.value_or(0));
  return possible ? if_written(size, text) : std::nullopt;
}

std::optional<CollectiveKey> parse_collective(std::string_view text) {
  Words words(text);
  const auto op = detail::collective_of(words.word());
  const auto dtype = detail::word_of(detail::kCollectiveTypes)(std::string(words.word()));
  if (!op || !dtype) { return std::nullopt; }
  CollectiveKey collective{*op, *dtype, std::nullopt, std::nullopt};
  while (!words.over()) {
    if (words.skip("cluster ")) {
      collective.cluster = static_cast<int>(words.number());
    } else if (words.skip("root ")) {
      collective.root = static_cast<int>(words.number());
    } else if (words.skip("shares ")) {
      collective.shares = parse_shares(words);
    } else {
      collective.comm_blocks = Blocks(words.number());
      if (!words.skip(" blocks")) { return std::nullopt; }
    }
    words.skip(" ");
  }
  // Rank 0 and equal shares are what no words mean: a second way to say it would be another key.
  if (collective.root == 0 || (!collective.shares.empty() && all_equal(collective.shares))) { return std::nullopt; }
  return if_written(collective, text);
}

std::string in_words(const StepKey& step) { return run::key_text(step.print); }

std::optional<StepKey> parse_step_key(std::string_view text) {
  const std::optional<run::Key> print = run::parse_key(text);
  return print ? std::optional(StepKey{*print}) : std::nullopt;
}

std::optional<ByteClass> parse_byte_class(std::string_view text) {
  Words words(text);
  words.skip("2^");
  const ByteClass size{static_cast<int>(words.number())};
  return is_exponent(size.exponent) ? if_written(size, text) : std::nullopt;
}

}  // namespace elbowroom
