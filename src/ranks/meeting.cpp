#include "ranks/meeting.hpp"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <thread>
#include <utility>

#include "base/text_hash.hpp"
#include "elbowroom/base/environment.hpp"

namespace elbowroom::ranks {
namespace {

using std::chrono::milliseconds;

constexpr int kReuse = 1;
constexpr milliseconds kBetweenTries(50);
// Names that others have taken are passed over.
constexpr int kMostNames = 64;

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

/// A host may know its own name by a loopback address, at which no other host comes.
bool names_loopback(const std::string& host) {
  in_addr four = {};
  in6_addr six = {};
  if (inet_pton(AF_INET, host.c_str(), &four) == 1) { return ntohl(four.s_addr) >> 24 == IN_LOOPBACKNET; }
  return host == "localhost" || (inet_pton(AF_INET6, host.c_str(), &six) == 1 && IN6_IS_ADDR_LOOPBACK(&six));
}

Error no_port(const Meeting& meeting) {
  return failed(
      fmt::format("{}: port {} of {} cannot be listened at: {}", kRankPort.name, meeting.port, meeting.host, std::strerror(errno)));
}

Descriptor socket_of(int family) { return Descriptor(socket(family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)); }

Result<Descriptor> listening(Descriptor listener, const sockaddr* address, socklen_t size, const Meeting& meeting) {
  // What an earlier run's connections leave behind for a minute is no reason to refuse this one.
  setsockopt(listener.get(), SOL_SOCKET, SO_REUSEADDR, &kReuse, sizeof kReuse);
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
int connect_within(const Descriptor& connecting, const sockaddr* address, socklen_t size, Deadline until) {
  if (connect(connecting.get(), address, size) == 0) { return 0; }
  if (errno != EINPROGRESS && errno != EINTR) { return errno; }
  pollfd event{connecting.get(), POLLOUT, 0};
  int ready = 0;
  while ((ready = poll(&event, 1, poll_limit(until))) < 0 && errno == EINTR) {}
  if (ready <= 0) { return ETIMEDOUT; }
  int failure = 0;
  socklen_t failure_size = sizeof failure;
  getsockopt(connecting.get(), SOL_SOCKET, SO_ERROR, &failure, &failure_size);
  return failure;
}

/// Of Linux's abstract names: no file system has them, and they are gone with their process.
struct LocalAddress {
  sockaddr_un address = {};
  socklen_t size = 0;

  LocalAddress(const std::string& name, int number) {
    const std::string full = fmt::format("{}-{}", name, number);
    address.sun_family = AF_UNIX;
    const std::size_t length = std::min(full.size(), sizeof address.sun_path - 1);
    std::copy_n(full.begin(), length, address.sun_path + 1);
    size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + length);
  }
  [[nodiscard]] const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&address); }
};

/// 0 and a connection to a process of this user, or why there is none.
std::pair<int, Descriptor> connect_locally(const std::string& name) {
  int failure = ECONNREFUSED;
  for (int number = 0; number < kMostNames; ++number) {
    Descriptor connecting = socket_of(AF_UNIX);
    const LocalAddress at(name, number);
    if (connect(connecting.get(), at.get(), at.size) != 0) {
      if (errno != ECONNREFUSED) { failure = errno; }
      continue;
    }
    Socket socket(std::move(connecting));
    if (of_this_user(socket)) { return {0, socket.release()}; }
  }
  return {failure, Descriptor()};
}

Result<Descriptor> listen_locally(const Meeting& meeting) {
  for (int number = 0; number < kMostNames; ++number) {
    Descriptor listener = socket_of(AF_UNIX);
    const LocalAddress at(meeting.name, number);
    if (::bind(listener.get(), at.get(), at.size) == 0 && listen(listener.get(), SOMAXCONN) == 0) { return listener; }
    if (errno != EADDRINUSE) { return failed(fmt::format("no socket of this host: {}", std::strerror(errno))); }
    if (connect_locally(meeting.name).first != 0) { continue; }
    return failed(fmt::format(
        "{}: not set, expected a word of this job alone, because another run of this user waits for the same ranks", kJob.name));
  }
  return failed(fmt::format("no socket of this host: its {} names are taken by another user", kMostNames));
}

}  // namespace

std::string Meeting::in_words() const { return name.empty() ? fmt::format("port {} of {}", port, host) : "a socket of this host"; }

Result<Meeting> meeting_of(const Membership& membership, bool has_token) {
  if (membership.here && !membership.job.empty() && !(has_token && membership.named)) {
    const auto job = detail::hash_of(membership.job);
    return Meeting{membership.host, membership.port, fmt::format("elbowroom-ranks-{}-{:016x}", geteuid(), job)};
  }
  if (has_token) { return Meeting{membership.host, membership.port}; }
  if (membership.here) {
    return invalid_input(fmt::format("{}: not set, expected a word that no other job has, because {} tells its jobs by none",
                                     kJob.name, membership.launcher));
  }
  return invalid_input(
      fmt::format("{}: not set, expected a token of all ranks, because rank 0 is on {} (without one, one host alone)", kToken.name,
                  membership.host));
}

Result<Descriptor> listen_at(const Meeting& meeting) {
  if (!meeting.name.empty()) { return listen_locally(meeting); }
  const Result<Addresses> addresses = addresses_of(meeting);
  if (!addresses) { return addresses.error(); }
  const addrinfo& first = **addresses;
  if (!names_loopback(meeting.host)) { return listen_everywhere(meeting); }
  return listening(socket_of(first.ai_family), first.ai_addr, first.ai_addrlen, meeting);
}

std::optional<Socket> accept_from(const Descriptor& listener) {
  Descriptor connection(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  return connection.is_open() ? std::optional<Socket>(std::move(connection)) : std::nullopt;
}

bool of_this_user(const Socket& socket) {
  sockaddr_storage own = {};
  socklen_t size = sizeof own;
  if (getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&own), &size) != 0) { return false; }
  if (own.ss_family != AF_UNIX) { return true; }
  ucred other = {};
  socklen_t other_size = sizeof other;
  return getsockopt(socket.descriptor(), SOL_SOCKET, SO_PEERCRED, &other, &other_size) == 0 && other.uid == geteuid();
}

Result<Socket> connect_to(const Meeting& meeting, Deadline until) {
  const Result<Addresses> addresses = meeting.name.empty() ? addresses_of(meeting) : Result<Addresses>(Addresses());
  if (!addresses) { return addresses.error(); }
  int failure = 0;
  while (true) {
    if (!meeting.name.empty()) {
      auto [local_failure, connection] = connect_locally(meeting.name);
      if (local_failure == 0) { return Socket(std::move(connection)); }
      failure = local_failure;
    }
    for (const addrinfo* address = addresses->get(); address != nullptr; address = address->ai_next) {
      Descriptor connecting = socket_of(address->ai_family);
      failure = connect_within(connecting, address->ai_addr, address->ai_addrlen, until);
      if (failure == 0 && !with_itself(connecting)) { return Socket(std::move(connecting)); }
    }
    if (Clock::now() >= until) { break; }
    std::this_thread::sleep_for(std::clamp(std::chrono::ceil<milliseconds>(until - Clock::now()), milliseconds(0), kBetweenTries));
  }
  return failed(std::strerror(failure));
}

}  // namespace elbowroom::ranks
