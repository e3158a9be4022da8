#pragma once

#include <poll.h>

#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "elbowroom/base/result.hpp"
#include "ranks/frame.hpp"
#include "ranks/socket.hpp"

namespace elbowroom::ranks {

/// A connection over which frames go.
class Channel {
 public:
  Channel() = default;
  Channel(Socket socket, std::size_t longest) : socket_(std::move(socket)), reader_(longest) {}

  [[nodiscard]] int descriptor() const { return socket_.descriptor(); }
  [[nodiscard]] bool is_open() const { return socket_.is_open(); }
  void allow(std::size_t longest) { reader_.allow(longest); }

  Status send(FrameKind kind, std::string_view payload, Deadline until) { return socket_.send(bytes_of(kind, payload), until); }

  [[nodiscard]] bool takes() const { return socket_.takes(); }
  /// With a last word, which waits for nobody.
  void end(FrameKind kind) {
    if (send(kind, {}, Clock::now())) { socket_.end(); }
  }
  void wait_for_end(Deadline until) { socket_.wait_for_end(until); }

  /// A frame; absent: none came until then.
  Result<std::optional<Frame>> wait_for_frame(Deadline until) {
    while (true) {
      Result<std::optional<Frame>> frame = poll_frame();
      if (!frame || *frame || Clock::now() >= until) { return frame; }
      pollfd event{descriptor(), POLLIN, 0};
      poll(&event, 1, poll_limit(until));
    }
  }

  /// A frame, if all of it has come, without waiting. `failed` where no more will come.
  Result<std::optional<Frame>> poll_frame() {
    while (true) {
      Result<std::optional<Frame>> frame = reader_.next();
      if (!frame || *frame) { return frame; }
      const Result<std::optional<std::string>> bytes = socket_.receive();
      if (!bytes) { return bytes.error(); }
      if (!*bytes) { return std::optional<Frame>(); }
      reader_.add(**bytes);
    }
  }

 private:
  Socket socket_;
  FrameReader reader_{kLongestHello};
};

/// Tells all at once, and gives them that time together to close their ends.
template <class Channels>
void end_all(Channels& channels, FrameKind kind, Deadline until) {
  for (Channel& channel : channels) {
    if (channel.is_open()) { channel.end(kind); }
  }
  for (Channel& channel : channels) {
    if (channel.is_open()) { channel.wait_for_end(until); }
  }
}

}  // namespace elbowroom::ranks
