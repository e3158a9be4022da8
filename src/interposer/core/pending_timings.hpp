#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace elbowroom::interposer {

/// The pairs of events whose times are awaited, oldest first. A stream's pairs end in their order, so only the oldest of each
/// stream is worth a question. Where the host runs far ahead all of them are pending, and a question costs a call of the driver.
template <std::size_t kPairs>
class PendingTimings {
 public:
  /// Bounds of what one look costs whatever is pending: questions that are answered with "not yet", and times that are told.
  static constexpr std::size_t kMostStreams = 4;
  static constexpr std::size_t kMostTold = 8;

  void add(std::size_t pair, const void* stream) { entries_[count_++] = {stream, static_cast<std::uint16_t>(pair)}; }

  /// One look: what was found out in it.
  struct Look {
    std::array<const void*, kMostStreams> busy{};
    std::size_t streams = 0;
    std::size_t told = 0;

    [[nodiscard]] bool is_busy(const void* stream) const {
      return std::find(busy.begin(), busy.begin() + streams, stream) != busy.begin() + streams;
    }
  };
  static constexpr std::size_t kNone = kPairs;

  /// The next pair to ask for; kNone: it is enough, or there is none. It is told by `tell`, or its stream is noted as busy by
  /// `leave`.
  [[nodiscard]] std::size_t next(const Look& look) const {
    if (look.streams == kMostStreams || look.told == kMostTold) { return kNone; }
    for (std::size_t i = 0; i < count_; ++i) {
      if (!look.is_busy(entries_[i].stream)) { return entries_[i].pair; }
    }
    return kNone;
  }
  void leave(Look& look, std::size_t pair) const {
    for (std::size_t i = 0; i < count_; ++i) {
      if (entries_[i].pair == pair) { look.busy[look.streams++] = entries_[i].stream; }
    }
  }
  /// It is awaited no more.
  void tell(Look& look, std::size_t pair) {
    ++look.told;
    drop([pair](std::size_t each) { return each == pair; });
  }

  /// Those that `gone(pair)` says true of are awaited no more.
  template <class Gone>
  void drop(Gone&& gone) {
    remove([&](const Entry& entry) { return gone(std::size_t{entry.pair}); });
  }

 private:
  struct Entry {
    const void* stream;
    std::uint16_t pair;
  };

  template <class Over>
  void remove(Over&& over) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count_; ++i) {
      const Entry entry = entries_[i];
      if (!over(entry)) { entries_[kept++] = entry; }
    }
    count_ = kept;
  }

  std::array<Entry, kPairs> entries_{};
  std::size_t count_ = 0;
};

}  // namespace elbowroom::interposer
