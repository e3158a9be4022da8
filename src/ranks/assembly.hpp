#pragma once

#include <chrono>
#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "elbowroom/base/result.hpp"
#include "ranks/channel.hpp"
#include "ranks/handshake.hpp"
#include "ranks/hello.hpp"
#include "ranks/meeting.hpp"
#include "ranks/membership.hpp"

namespace elbowroom::ranks {

/// How rank 0 gets its connections. Who does not prove to be a rank of this job is sent away, counted and not waited for.
class Assembly {
 public:
  Assembly(const Membership& membership, const Credentials& credentials) : membership_(membership), credentials_(credentials) {}

  /// Of all other ranks, from rank 1 on.
  Result<std::vector<Channel>> all_within(std::chrono::milliseconds limit);

 private:
  struct Stranger {
    Channel channel;
    Deadline until;
    std::optional<Hello> hello = {};  ///< what it has said
    std::string expected = {};        ///< its proof, once it was asked for
  };
  /// Why a connection was none of a rank.
  enum class Refusal { no_rank, token, job, user, too_many, no_descriptor };

  Status wait(const Descriptor& listener, Deadline until);
  void accept_all(const Descriptor& listener);
  void make_room(Refusal why);
  /// Whether it is a stranger no longer, or gone.
  Result<bool> heard(Stranger& stranger);
  Result<bool> challenged(Stranger& stranger, const Frame& frame);
  Status take(const Hello& hello, Channel& channel);
  [[nodiscard]] Status fits(const Hello& hello) const;
  bool refuse(Refusal why);
  [[nodiscard]] std::size_t present() const;
  /// For who looks for a rank that is missing.
  [[nodiscard]] std::string refusals() const;
  [[nodiscard]] Error missing(std::chrono::milliseconds limit) const;

  const Membership& membership_;
  const Credentials& credentials_;
  Meeting meeting_;
  std::vector<Channel> others_;
  std::vector<Stranger> strangers_;  ///< the oldest first
  std::map<Refusal, int> refused_;
  std::optional<Deadline> rests_;  ///< until then nobody is let in: there was no descriptor
};

}  // namespace elbowroom::ranks
