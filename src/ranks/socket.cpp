#include "ranks/socket.hpp"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

namespace elbowroom::ranks {
namespace {

using std::chrono::milliseconds;

constexpr int kOn = 1;

}  // namespace

std::string in_seconds(milliseconds time) { return fmt::format("{:.1f} s", std::chrono::duration<double>(time).count()); }

int poll_limit(Deadline until) {
  // Rounded up, so that no deadline is waited for in a loop that does not wait.
  const auto left = std::chrono::ceil<milliseconds>(until - Clock::now()).count();
  return static_cast<int>(std::clamp<std::int64_t>(left, 0, std::numeric_limits<int>::max()));
}

Socket::Socket(Descriptor descriptor) : descriptor_(std::move(descriptor)) {
  setsockopt(descriptor_.get(), IPPROTO_TCP, TCP_NODELAY, &kOn, sizeof kOn);
}

Status Socket::send(std::string_view bytes, Deadline until) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(descriptor_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(sent));
      continue;
    }
    if (errno == EINTR) { continue; }
    if (errno != EAGAIN && errno != EWOULDBLOCK) { return failed("its connection has ended"); }
    pollfd event{descriptor_.get(), POLLOUT, 0};
    const int ready = poll(&event, 1, poll_limit(until));
    if (ready == 0 && Clock::now() >= until) { return failed("it does not take what it is sent"); }
  }
  return {};
}

Result<std::optional<std::string>> Socket::receive() {
  constexpr std::size_t piece = 1 << 16;
  std::string bytes(piece, '\0');
  while (true) {
    const ssize_t received = recv(descriptor_.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    if (received > 0) {
      bytes.resize(static_cast<std::size_t>(received));
      return std::optional(std::move(bytes));
    }
    if (received < 0 && errno == EINTR) { continue; }
    if (received < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) { return std::optional<std::string>(); }
    return failed("its connection has ended");
  }
}

bool Socket::takes() const {
  pollfd event{descriptor_.get(), POLLOUT, 0};
  return poll(&event, 1, 0) == 1 && (event.revents & POLLOUT) != 0;
}

void Socket::end() { shutdown(descriptor_.get(), SHUT_WR); }

void Socket::wait_for_end(Deadline until) {
  while (receive() && Clock::now() < until) {
    pollfd event{descriptor_.get(), POLLIN, 0};
    poll(&event, 1, poll_limit(until));
  }
}

}  // namespace elbowroom::ranks
