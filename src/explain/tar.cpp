#include "explain/tar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace elbowroom::explain {
namespace {

constexpr std::size_t kNameBytes = 100;
constexpr std::size_t kModeAt = 100;
constexpr std::size_t kOwnerAt = 108;
constexpr std::size_t kGroupAt = 116;
constexpr std::size_t kSizeAt = 124;
constexpr std::size_t kSizeBytes = 12;
constexpr std::size_t kTimeAt = 136;
constexpr std::size_t kSumAt = 148;
constexpr std::size_t kTypeAt = 156;
constexpr std::size_t kMagicAt = 257;
constexpr std::size_t kPrefixAt = 345;
constexpr std::size_t kPrefixBytes = 155;
constexpr std::uint64_t kLongestName = 4096;

/// Up to its first zero.
std::string_view text_at(std::string_view block, std::size_t at, std::size_t most) {
  const std::string_view field = block.substr(at, most);
  return field.substr(0, std::min(field.find('\0'), field.size()));
}

/// Octal digits, or where the first bit is set a number of the base 256.
std::optional<std::uint64_t> size_in(std::string_view block) {
  const std::string_view field = block.substr(kSizeAt, kSizeBytes);
  std::uint64_t size = 0;
  if (static_cast<unsigned char>(field[0]) == 0x80) {
    for (const char c : field.substr(4)) { size = size << 8U | static_cast<unsigned char>(c); }
    return size < std::uint64_t{1} << 50 ? std::optional(size) : std::nullopt;
  }
  for (const char c : field) {
    if (c == '\0' || c == ' ') { continue; }
    if (c < '0' || c > '7') { return std::nullopt; }
    size = size * 8 + static_cast<std::uint64_t>(c - '0');
  }
  return size;
}

}  // namespace

bool is_tar(std::string_view first) { return first.size() == kTarBlock && first.substr(kMagicAt, 5) == "ustar"; }

std::string tar_header(std::string_view name, std::uint64_t size) {
  std::string block(kTarBlock, '\0');
  const auto put = [&](std::size_t at, std::string_view text) { block.replace(at, text.size(), text); };
  put(0, name.substr(0, kNameBytes));
  for (const std::size_t at : {kModeAt, kOwnerAt, kGroupAt}) { put(at, at == kModeAt ? "0000644" : "0000000"); }
  put(kSizeAt, fmt::format("{:011o}", size));
  put(kTimeAt, "00000000000");
  put(kTypeAt, "0");
  put(kMagicAt, std::string_view("ustar\00000", 8));
  put(kSumAt, "        ");
  unsigned sum = 0;
  for (const char c : block) { sum += static_cast<unsigned char>(c); }
  put(kSumAt, fmt::format("{:06o}", sum) + std::string("\0 ", 2));
  return block;
}

Result<std::optional<std::string>> TarFiles::next() {
  std::string long_name;
  for (;;) {
    if (Status skipped = skip(left_ + padding_); !skipped) { return skipped.error(); }
    left_ = padding_ = 0;
    Result<std::string> block = TextSource::first_of(archive_, kTarBlock);
    if (!block) { return block.error(); }
    if (block->size() < kTarBlock || (*block)[0] == '\0') { return std::optional<std::string>(); }
    const std::optional<std::uint64_t> size = size_in(*block);
    if (!is_tar(*block) || !size) { return invalid_input("a damaged archive"); }
    left_ = *size;
    padding_ = (kTarBlock - *size % kTarBlock) % kTarBlock;
    const char type = (*block)[kTypeAt];
    if (type == 'L' && *size <= kLongestName) {
      Result<std::string> name = rest_of_entry();
      if (!name) { return name.error(); }
      long_name = text_at(*name, 0, name->size());
      continue;
    }
    if (type == '0' || type == '\0') {
      if (!long_name.empty()) { return std::optional(long_name); }
      const std::string_view prefix = block->substr(kMagicAt, 6) == std::string_view("ustar\0", 6)
                                          ? text_at(*block, kPrefixAt, kPrefixBytes)
                                          : std::string_view();
      const std::string_view name = text_at(*block, 0, kNameBytes);
      return std::optional(prefix.empty() ? std::string(name) : std::string(prefix) + "/" + std::string(name));
    }
    long_name.clear();
  }
}

Result<std::size_t> TarFiles::read(std::span<char> into) {
  if (left_ == 0) { return std::size_t{0}; }
  Result<std::size_t> got = archive_.read(into.first(std::min<std::uint64_t>(into.size(), left_)));
  if (!got) { return got; }
  if (*got == 0) { return invalid_input("an archive that is cut off"); }
  left_ -= *got;
  return *got;
}

Status TarFiles::skip(std::uint64_t bytes) {
  std::array<char, 4096> dropped{};
  while (bytes > 0) {
    const Result<std::size_t> got = archive_.read(std::span(dropped).first(std::min<std::uint64_t>(dropped.size(), bytes)));
    if (!got) { return got.error(); }
    if (*got == 0) { break; }
    bytes -= *got;
  }
  return {};
}

Result<std::string> TarFiles::rest_of_entry() {
  Result<std::string> text = TextSource::first_of(*this, left_);
  return text;
}

}  // namespace elbowroom::explain
