#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "elbowroom/base/result.hpp"

namespace elbowroom::ranks {

enum class FrameKind : std::uint8_t {
  hello = 1,  ///< a rank says who it is
  request,    ///< of rank 0, to all others
  reply,
  alive,      ///< rank 0 is there and has nothing to ask
  over,       ///< rank 0 has ended
  refused,    ///< rank 0 does not take this rank, and says why to its user
  challenge,  ///< rank 0 shows that it has the token, and asks the rank to show the same
  answer,     ///< the rank's proof
  accepted,   ///< rank 0 has taken this rank
};

/// What ranks send each other.
struct Frame {
  FrameKind kind = FrameKind::alive;
  std::string payload;

  bool operator==(const Frame&) const = default;
};

/// As it is sent: a byte of its kind, four of its length with the least first, the payload.
std::string bytes_of(FrameKind kind, std::string_view payload);

// Until a rank has shown that it is one it may send no more than a hello.
inline constexpr std::size_t kLongestHello = 1024;
inline constexpr std::size_t kLongestFrame = std::size_t{256} << 20;

/// Frames out of bytes as they come, in whatever pieces.
class FrameReader {
 public:
  explicit FrameReader(std::size_t longest) : longest_(longest) {}

  /// Of a payload, from now on.
  void allow(std::size_t longest) { longest_ = longest; }
  void add(std::string_view bytes) { bytes_ += bytes; }

  /// The next one; absent: not all of it has come. `failed` where no frame begins so; then none follows.
  Result<std::optional<Frame>> next();

 private:
  std::size_t longest_;
  std::string bytes_;
};

}  // namespace elbowroom::ranks
