#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <variant>

#include "elbowroom/base/result.hpp"
#include "ranks/channel.hpp"
#include "ranks/hub.hpp"
#include "ranks/membership.hpp"

namespace elbowroom::ranks {

/// Why rank 0 asks nothing more.
enum class End {
  over,         ///< it has ended
  refused,      ///< it does not take this rank, and has said why
  interrupted,  ///< a signal came, and rank 0 did not end in time
};

/// What rank 0 asks, or that it asks nothing more.
using Word = std::variant<std::string, End>;

/// The connection of any other rank to rank 0.
class Spoke {
 public:
  /// Returns once rank 0 has taken this rank, or refused it, which next() says. Whoever else is met there is left, and it is tried
  /// again.
  static Result<Spoke> join(const Membership& membership, const Credentials& credentials, std::chrono::milliseconds limit);

  /// Waits as long as rank 0 is there. `interrupts` can be read once a signal has come that rank 0 gets as well: it has a moment
  /// then to end by itself.
  Result<Word> next(int interrupts);
  void reply(std::string_view answer);

 private:
  Spoke(Channel channel, std::chrono::milliseconds limit, bool refused)
      : channel_(std::move(channel)), limit_(limit), refused_(refused) {}

  Channel channel_;
  std::chrono::milliseconds limit_;
  bool refused_;
};

}  // namespace elbowroom::ranks
