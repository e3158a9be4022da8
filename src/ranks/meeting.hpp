#pragma once

#include <chrono>
#include <optional>
#include <string>

#include "elbowroom/base/result.hpp"
#include "ranks/membership.hpp"
#include "ranks/socket.hpp"

namespace elbowroom::ranks {

/// Where rank 0 is met: at a port of a host, or at a name that only this host has, whose other processes are known by their user.
struct Meeting {
  std::string host;
  int port = 0;
  std::string name = {};  ///< of this host; empty: the port is it

  /// "port 29417 of 127.0.0.1", "a socket of this host"
  [[nodiscard]] std::string in_words() const;
};

/// The name where all ranks are on one host and nobody said otherwise. A port needs a token: `invalid_input` without one.
Result<Meeting> meeting_of(const Membership& membership, bool has_token);

/// Listens there: at all of a host's addresses, or at its loopback's where the user named that. `failed` where somebody else does.
Result<Descriptor> listen_at(const Meeting& meeting);

/// A connection that somebody has asked for; absent: nobody has, or errno says why none can be had.
std::optional<Socket> accept_from(const Descriptor& listener);

/// Whether the other end is a process of this user, as the kernel says it. Where connections come over a network: true, as the
/// proofs say it then.
bool of_this_user(const Socket& socket);

/// Connects to rank 0, which may not be there yet.
Result<Socket> connect_to(const Meeting& meeting, Deadline until);

}  // namespace elbowroom::ranks
