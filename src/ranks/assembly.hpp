#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "elbowroom/base/result.hpp"
#include "ranks/channel.hpp"
#include "ranks/hello.hpp"
#include "ranks/hub.hpp"
#include "ranks/membership.hpp"

namespace elbowroom::ranks {

/// How rank 0 gets its connections. Who does not speak as a rank does is sent away and not waited for.
class Assembly {
 public:
  Assembly(const Membership& membership, const Credentials& credentials) : membership_(membership), credentials_(credentials) {}

  /// Of all other ranks, from rank 1 on.
  Result<std::vector<Channel>> all_within(std::chrono::milliseconds limit);

 private:
  struct Stranger {
    Channel channel;
    Deadline until;
  };

  Status wait(const Descriptor& listener, Deadline until);
  /// Whether it is a stranger no longer, or gone.
  Result<bool> heard(Stranger& stranger);
  Status take(const Hello& hello, Channel& channel);
  [[nodiscard]] Status fits(const Hello& hello) const;
  [[nodiscard]] std::size_t present() const;
  [[nodiscard]] Error missing(std::chrono::milliseconds limit) const;
  /// To those who came.
  void end();

  const Membership& membership_;
  const Credentials& credentials_;
  std::vector<Channel> others_;
  std::vector<Stranger> strangers_;
};

}  // namespace elbowroom::ranks
