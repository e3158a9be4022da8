#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "interposer/core/collectives.hpp"
#include "interposer/core/core.hpp"

namespace elbowroom::interposer {

/// A launch that may put its stream behind what others hold; 0: none that does.
using JoinId = std::uint32_t;

/// Which streams may come to stand behind one another by a call for one of them.
struct CalledFor {
  StreamId stream = 0;
  ContextId blocking = 0;  ///< key of the context whose blocking streams it is among; 0: it does not block

  [[nodiscard]] bool concerns(const CalledFor& other) const {
    return stream == other.stream || (blocking != 0 && blocking == other.blocking);
  }
};

/// A call that makes a stream wait, and has not returned. The driver may have taken it already.
struct WaitingCall {
  WaitId id = 0;
  CalledFor on;
  EventId event = 0;          ///< that it is to wait for; kSomeEvent: it may wait for whatever was launched before
  std::uint64_t records = 0;  ///< of the event before the call
  Serial up_to = 0;           ///< if it was not recorded anew since, the stream may come to stand behind all up to this one
};

/// A collective that a thread is about to launch, or has launched and not yet told how that went.
struct LaunchingCall {
  Serial id = 0;
  CalledFor on;
  JoinId join = 0;
};

/// What a stream held at a time.
struct HeldThen {
  std::uint64_t host_actions = 0;
  std::uint64_t as_of = 0;  ///< of the host actions
  Before collectives{};
};

/// A launch that may put its stream behind what other streams hold, by the legacy default one. The driver may not have taken it
/// yet.
struct JoiningLaunch {
  JoinId id = 0;
  StreamId stream = 0;
  HeldThen before;  ///< the launch
  HeldThen with;    ///< it
};

/// What threads are in the middle of. Few are at a time.
template <class Call>
class UnderWay {
 public:
  [[nodiscard]] bool any() const { return count_ != 0; }
  /// False: there are too many.
  bool begin(const Call& call) {
    if (count_ == calls_.size()) { return false; }
    calls_[count_++] = call;
    return true;
  }
  template <class Id>
  [[nodiscard]] Call* find(Id id) {
    const auto end = calls_.begin() + static_cast<std::ptrdiff_t>(count_);
    const auto found = std::find_if(calls_.begin(), end, [=](const Call& call) { return call.id == id; });
    return found == end ? nullptr : &*found;
  }
  /// Nothing where there is none of that id.
  template <class Id>
  std::optional<Call> end(Id id) {
    Call* const call = find(id);
    if (call == nullptr) { return std::nullopt; }
    const Call ended = *call;
    *call = calls_[--count_];
    return ended;
  }
  template <class Visit>
  void for_each(Visit visit) {
    for (std::size_t i = 0; i < count_; ++i) { visit(calls_[i]); }
  }
  void clear() { count_ = 0; }

 private:
  std::size_t count_ = 0;
  std::array<Call, 64> calls_{};
};

}  // namespace elbowroom::interposer
