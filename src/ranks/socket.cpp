#include "ranks/socket.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
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
#include <memory>
#include <random>
#include <thread>
#include <utility>

#include "elbowroom/base/environment.hpp"
#include "ranks/membership.hpp"

namespace elbowroom::ranks {
namespace {

using std::chrono::milliseconds;

constexpr int kOn = 1;
constexpr milliseconds kBetweenTries(50);

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Result<Addresses> addresses_of(const Meeting& meeting) {
  addrinfo wanted = {};
  wanted.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  const int failure = getaddrinfo(meeting.host.c_str(), std::to_string(meeting.port).c_str(), &wanted, &found);
  if (failure != 0) {
    return invalid_input(
        fmt::format("host of rank 0: '{}': {} ({} names another)", meeting.host, gai_strerror(failure), kRankHost.name));
  }
  return Addresses(found);
}

bool is_loopback(const addrinfo& address) {
  if (address.ai_family == AF_INET) {
    sockaddr_in own = {};
    std::memcpy(&own, address.ai_addr, sizeof own);
    return ntohl(own.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
  }
  sockaddr_in6 own = {};
  std::memcpy(&own, address.ai_addr, sizeof own);
  return address.ai_family == AF_INET6 && IN6_IS_ADDR_LOOPBACK(&own.sin6_addr);
}

/// The addresses, all of them of loopback where nothing else will do.
Result<Addresses> checked_addresses(const Meeting& meeting) {
  Result<Addresses> addresses = addresses_of(meeting);
  if (!addresses || !meeting.loopback_alone) { return addresses; }
  for (const addrinfo* address = addresses->get(); address != nullptr; address = address->ai_next) {
    if (is_loopback(*address)) { continue; }
    return invalid_input(
        fmt::format("{}: not set, expected a token of all ranks, because rank 0 is on {} (without one, loopback alone)",
                    kToken.name, meeting.host));
  }
  return addresses;
}

Error no_port(const Meeting& meeting) {
  return failed(
      fmt::format("{}: port {} of {} cannot be listened at: {}", kRankPort.name, meeting.port, meeting.host, std::strerror(errno)));
}

Descriptor socket_of(int family) { return Descriptor(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

Result<Descriptor> listening(Descriptor listener, const sockaddr* address, socklen_t size, const Meeting& meeting) {
  // What an earlier run's connections leave behind for a minute is no reason to refuse this one.
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &kOn, sizeof kOn);
  if (::bind(listener.get(), address, size) != 0 || listen(listener.get(), SOMAXCONN) != 0) { return no_port(meeting); }
  return listener;
}

/// A host may know its own name by another address than the others do.
Result<Descriptor> listen_everywhere(const Meeting& meeting) {
  if (Descriptor both = socket_of(AF_INET6); both.is_open()) {
    constexpr int off = 0;
    setsockopt(both.get(), IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
    sockaddr_in6 any = {};
    any.sin6_family = AF_INET6;
    any.sin6_port = htons(static_cast<std::uint16_t>(meeting.port));
    return listening(std::move(both), reinterpret_cast<const sockaddr*>(&any), sizeof any, meeting);
  }
  sockaddr_in any = {};
  any.sin_family = AF_INET;
  any.sin_port = htons(static_cast<std::uint16_t>(meeting.port));
  return listening(socket_of(AF_INET), reinterpret_cast<const sockaddr*>(&any), sizeof any, meeting);
}

/// A connection to a port of this host where nobody listens can be given that very port, and then it is one with itself.
bool with_itself(const Descriptor& connection) {
  sockaddr_storage own = {};
  sockaddr_storage other = {};
  socklen_t own_size = sizeof own;
  socklen_t other_size = sizeof other;
  getsockname(connection.get(), reinterpret_cast<sockaddr*>(&own), &own_size);
  getpeername(connection.get(), reinterpret_cast<sockaddr*>(&other), &other_size);
  return own_size == other_size && std::memcmp(&own, &other, own_size) == 0;
}

/// 0, or the errno of a connection that did not come about.
int connect_within(const Descriptor& connecting, const addrinfo& address, Deadline until) {
  if (connect(connecting.get(), address.ai_addr, address.ai_addrlen) == 0) { return 0; }
  if (errno != EINPROGRESS && errno != EINTR) { return errno; }
  pollfd event{connecting.get(), POLLOUT, 0};
  int ready = 0;
  while ((ready = poll(&event, 1, poll_limit(until))) < 0 && errno == EINTR) {}
  if (ready <= 0) { return ETIMEDOUT; }
  int failure = 0;
  socklen_t size = sizeof failure;
  getsockopt(connecting.get(), SOL_SOCKET, SO_ERROR, &failure, &size);
  return failure;
}

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

void Socket::end(Deadline until) {
  shutdown(descriptor_.get(), SHUT_WR);
  while (receive() && Clock::now() < until) {
    pollfd event{descriptor_.get(), POLLIN, 0};
    poll(&event, 1, poll_limit(until));
  }
}

Result<Descriptor> listen_at(const Meeting& meeting) {
  const Result<Addresses> addresses = checked_addresses(meeting);
  if (!addresses) { return addresses.error(); }
  const addrinfo& first = **addresses;
  if (!is_loopback(first)) { return listen_everywhere(meeting); }
  return listening(socket_of(first.ai_family), first.ai_addr, first.ai_addrlen, meeting);
}

std::optional<Socket> accept_from(const Descriptor& listener) {
  Descriptor connection(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  return connection.is_open() ? std::optional<Socket>(std::move(connection)) : std::nullopt;
}

Result<Socket> connect_to(const Meeting& meeting, milliseconds limit) {
  const Deadline until = Clock::now() + limit;
  const Result<Addresses> addresses = checked_addresses(meeting);
  if (!addresses) { return addresses.error(); }
  int failure = 0;
  do {
    for (const addrinfo* address = addresses->get(); address != nullptr; address = address->ai_next) {
      Descriptor connecting = socket_of(address->ai_family);
      failure = connect_within(connecting, *address, until);
      if (failure == 0 && !with_itself(connecting)) { return Socket(std::move(connecting)); }
    }
    std::this_thread::sleep_for(kBetweenTries);
  } while (Clock::now() < until);
  return failed(fmt::format("rank 0: not at port {} of {} within {}: {}", meeting.port, meeting.host, in_seconds(limit),
                            std::strerror(failure)));
}

Result<int> free_port() {
  // Below those that Linux gives to connections by itself.
  constexpr int first = 20'000;
  constexpr int last = 32'767;
  constexpr int most_tries = 1000;
  std::random_device random;
  std::uniform_int_distribution<int> any(first, last);
  for (int tries = 0; tries < most_tries; ++tries) {
    const int port = any(random);
    if (listen_at({std::string(kLoopback), port, true})) { return port; }
  }
  return failed(fmt::format("no free port from {} to {}", first, last));
}

}  // namespace elbowroom::ranks
