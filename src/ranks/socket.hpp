#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/descriptor.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::ranks {

using elbowroom::detail::Descriptor;

using Clock = std::chrono::steady_clock;
using Deadline = Clock::time_point;

/// "2.5 s"
std::string in_seconds(std::chrono::milliseconds time);

/// What poll() takes for a time limit, for as long as there is until then.
int poll_limit(Deadline until);

/// One end of a connection. No call lasts longer than it is told.
class Socket {
 public:
  Socket() = default;
  /// Of a connected socket that does not block.
  explicit Socket(Descriptor descriptor);

  [[nodiscard]] int descriptor() const { return descriptor_.get(); }
  [[nodiscard]] bool is_open() const { return descriptor_.is_open(); }
  [[nodiscard]] Descriptor release() { return std::move(descriptor_); }

  /// All of it, or why not.
  Status send(std::string_view bytes, Deadline until);
  /// Whether a few bytes would be taken at once.
  [[nodiscard]] bool takes() const;
  /// Nothing more will be sent.
  void end();
  /// Waits until the other end has closed too. What it sends meanwhile is dropped: were it unread when this end closes, the other
  /// would not get what was sent last.
  void wait_for_end(Deadline until);
  /// What has come, without waiting; absent: nothing yet. `failed` where no more will come.
  Result<std::optional<std::string>> receive();

 private:
  Descriptor descriptor_;
};

}  // namespace elbowroom::ranks
