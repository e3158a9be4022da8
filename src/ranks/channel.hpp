#pragma once

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
  /// With a last word.
  void end(FrameKind kind, Deadline until) {
    if (send(kind, {}, until)) { socket_.end(until); }
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

}  // namespace elbowroom::ranks
