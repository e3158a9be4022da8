#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <future>
#include <string>
#include <string_view>
#include <utility>

#include "base/text_hash.hpp"
#include "ranks/channel.hpp"
#include "ranks/handshake.hpp"
#include "ranks/hello.hpp"
#include "ranks/hub.hpp"
#include "ranks/meeting.hpp"
#include "ranks/spoke.hpp"

// The other end of a connection, as tests of rank 0 and of other ranks need it.

namespace elbowroom::ranks {

using namespace std::chrono_literals;

inline constexpr int kNoInterrupts = -1;

inline constexpr const char* kJobOfTest = "a job";

inline Membership membership_of_rank(int rank, int size, int port) {
  return {"a test", rank, size, rank, std::string(kLoopback), port, true, true, kJobOfTest};
}

/// In the place of the keyed hash: what it keeps to itself does not matter here.
inline std::string mac(std::string_view key, std::string_view text) {
  return std::to_string(detail::hash_of(std::string(key) + "|" + std::string(text)));
}

inline const Credentials& credentials() {
  static const Credentials known{"1.0", "0123456789abcdef", mac};
  return known;
}

/// A port of loopback where nobody listens, below those that Linux gives to connections by itself.
inline int free_port() {
  static std::atomic<int> next = 20'000 + getpid() % 5000;
  while (!listen_at({std::string(kLoopback), ++next})) {}
  return next;
}

/// A rank that answers each request with its number and the request, and how it ended.
inline std::future<std::string> echo(Membership membership, Credentials own = credentials()) {
  return std::async(std::launch::async, [membership = std::move(membership), own = std::move(own)]() -> std::string {
    Result<Spoke> spoke = Spoke::join(membership, own, 10s);
    if (!spoke) { return spoke.error().message; }
    while (true) {
      const Result<Word> word = spoke->next(kNoInterrupts);
      if (!word) { return word.error().message; }
      if (const auto* end = std::get_if<End>(&*word)) { return *end == End::over ? "over" : "refused"; }
      spoke->reply(std::to_string(membership.rank) + std::get<std::string>(*word));
    }
  });
}

/// A connection that says what it is given.
inline Socket saying(int port, std::string_view bytes) {
  Result<Socket> socket = connect_to({std::string(kLoopback), port}, Clock::now() + 10s);
  EXPECT_TRUE(socket && socket->send(bytes, Clock::now() + 1s));
  return socket ? *std::move(socket) : Socket();
}

inline Hello hello_of(int rank, int size) { return {"1.0", rank, size, detail::hash_of(kJobOfTest), "0123456789abcdef"}; }

/// A rank that has proved itself, and then does what the test says.
inline Channel arriving(int port, const Hello& hello) {
  Channel channel(saying(port, bytes_of(FrameKind::hello, bytes_of(hello))), kLongestHello);
  const auto asked = channel.wait_for_frame(Clock::now() + 10s);
  const auto challenge = asked && *asked ? challenge_in((*asked)->payload) : std::nullopt;
  EXPECT_TRUE(challenge);
  if (challenge) {
    EXPECT_TRUE(channel.send(FrameKind::answer, ranks_proof(credentials(), hello, challenge->number), Clock::now() + 1s));
  }
  return channel;
}

}  // namespace elbowroom::ranks
