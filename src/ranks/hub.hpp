#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "elbowroom/base/result.hpp"
#include "ranks/channel.hpp"
#include "ranks/handshake.hpp"
#include "ranks/membership.hpp"

namespace elbowroom::ranks {

// However short a time limit is, a process that the scheduler forgot for a moment is not dead.
inline constexpr std::chrono::milliseconds kLeastPatience(5000);

/// Rank 0's end of the connections to all others. Errors name the rank.
class Hub {
 public:
  /// Waits until all ranks have come and proved themselves, and tells those that came when one is missing or is none of this run's.
  static Result<std::unique_ptr<Hub>> gather(const Membership& membership, const Credentials& credentials,
                                             std::chrono::milliseconds limit);
  /// Tells the others that it is over.
  ~Hub();
  Hub(const Hub&) = delete;
  Hub& operator=(const Hub&) = delete;

  [[nodiscard]] const Membership& membership() const { return membership_; }

  /// To all others. After an error every further call answers it.
  Status ask(std::string_view request);
  /// One of each other rank, from rank 1 on.
  Result<std::vector<std::string>> replies();

 private:
  Hub(const Membership& membership, std::chrono::milliseconds limit) : membership_(membership), limit_(limit) {}

  void keep_alive();
  Result<std::string> reply_of(std::size_t other);
  Status lose(std::size_t other, std::string_view why);

  Membership membership_;
  std::chrono::milliseconds limit_;
  std::vector<Channel> others_;  ///< from rank 1 on
  Deadline asked_;
  Status lost_;
  std::mutex mutex_;  ///< of what is sent, and of over_
  std::condition_variable changed_;
  bool over_ = false;
  std::thread alive_;
};

}  // namespace elbowroom::ranks
