#include "ranks/frame.hpp"

#include <fmt/format.h>

#include <utility>

namespace elbowroom::ranks {
namespace {

constexpr std::size_t kHeader = 5;

std::size_t length_in(std::string_view header) {
  std::size_t length = 0;
  for (std::size_t at = kHeader - 1; at > 0; --at) { length = length << 8 | static_cast<unsigned char>(header[at]); }
  return length;
}

}  // namespace

std::string bytes_of(FrameKind kind, std::string_view payload) {
  std::string bytes(1, static_cast<char>(kind));
  for (int shift = 0; shift < 32; shift += 8) { bytes.push_back(static_cast<char>(payload.size() >> shift & 0xffU)); }
  bytes += payload;
  return bytes;
}

Result<std::optional<Frame>> FrameReader::next() {
  if (bytes_.empty()) { return std::optional<Frame>(); }
  const auto kind = static_cast<FrameKind>(bytes_.front());
  if (kind < FrameKind::hello || kind > FrameKind::accepted) {
    return failed(fmt::format("a message of kind {}, expected 1 to 9", static_cast<int>(kind)));
  }
  if (bytes_.size() < kHeader) { return std::optional<Frame>(); }
  const std::size_t length = length_in(bytes_);
  if (length > longest_) { return failed(fmt::format("a message of {} bytes, expected at most {}", length, longest_)); }
  if (bytes_.size() - kHeader < length) { return std::optional<Frame>(); }
  Frame frame{kind, bytes_.substr(kHeader, length)};
  bytes_.erase(0, kHeader + length);
  return std::optional(std::move(frame));
}

}  // namespace elbowroom::ranks
