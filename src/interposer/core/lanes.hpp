#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

#include "interposer/core/core.hpp"
#include "interposer/core/table.hpp"

/// What streams and events are surely behind. A missing edge makes a clock smaller, and a smaller clock only refuses a gate. So
/// what is not followed needs no rule. A stale edge is the one thing that could hang a program: tables shrink before the driver is
/// called, and grow after it has accepted the call.
namespace elbowroom::interposer {

/// A collective's number in the order of their launches, from 1 on, and never used again; 0: none. It stands for all before it on
/// its stream.
using Serial = std::uint32_t;
inline constexpr std::uint32_t kUnknownBlocks = 0xffffffff;
inline constexpr unsigned kLanes = 16;  ///< streams whose collectives have not ended; with one more there is no gate any more
inline constexpr std::uint8_t kNoLane = kLanes;
inline constexpr std::int32_t kMaxDevices = 64;

/// Of each lane, the newest collective that something is behind.
struct VectorClock {
  std::array<Serial, kLanes> newest{};

  void join(const VectorClock& other) {
    for (unsigned lane = 0; lane < kLanes; ++lane) { newest[lane] = std::max(newest[lane], other.newest[lane]); }
  }
  bool operator==(const VectorClock&) const = default;
};

struct CollectiveFacts {
  std::uint32_t blocks = kUnknownBlocks;  ///< 0: it holds no SM; kUnknownBlocks: what it holds is not known
  std::uint32_t cluster = 1;              ///< of these begin together
  std::uint32_t sms = 0;                  ///< that these can run on; 0: unknown
  bool is_short = false;                  ///< too short to be waited for
};

/// A collective, or something that may wait for as much: a graph, a wait for the host.
struct Collective : CollectiveFacts {
  Serial serial = 0;
  Serial previous = 0;  ///< of its lane; 0: none
  Serial ends = 0;      ///< up to which one of its lane its end event tells of the end; 0: it has none
  ContextId context = 0;
  std::uint8_t lane = kNoLane;
  bool launched = false;   ///< the driver took it
  bool failed = false;     ///< the driver did not take it
  bool has_begin = false;  ///< and the event that tells of its begin
};

struct Stream {
  StreamInfo info;
  StreamId id = 0;
  VectorClock clock;
  Serial settled = 0;  ///< collectives up to this one need no question any more
  std::uint8_t lane = kNoLane;
};

/// What is known of an event around a call that records it.
struct RecordMark {
  std::uint32_t calls = 0;  ///< 0: the event is not followed
  VectorClock clock;        ///< of the stream, before the call; empty: all that it held has ended
};

/// Around a call that makes a stream wait for an event.
struct WaitMark {
  std::uint32_t calls = 0;  ///< 0: nothing is known of the event
  VectorClock clock;        ///< of the event, before the call; empty: all that it held has ended
};

/// Not thread safe.
class Lanes {
 public:
  static constexpr Serial kKept = kEventSlots;  ///< collectives whose facts and events are known

  [[nodiscard]] Stream* find_stream(StreamId stream) { return streams_.find(stream); }
  /// Where the table is full, what all streams are behind is forgotten.
  Stream& add_stream(StreamId stream, const StreamInfo& info);
  void remove_stream(StreamId stream);
  /// Of the stream's lane the newest collective, where its end was not asked for; 0: none.
  [[nodiscard]] Serial unasked_end(StreamId stream);

  // --- events: shrink before the call, grow after it ---
  RecordMark before_record(EventId event, const Stream* stream);
  void after_record(EventId event, const RecordMark& mark, bool recorded);
  WaitMark before_wait(EventId event);
  void after_wait(Stream& stream, EventId event, const WaitMark& mark);
  void remove_event(EventId event) { events_.erase(event); }
  void forget_events() { events_.clear(); }

  // --- collectives ---
  /// Whether a collective of the stream finds a lane.
  [[nodiscard]] bool has_room(const Stream& stream) const;
  /// Before the driver is called: it counts as unfinished from here on. Null where no lane is left.
  Collective* begin(Stream& stream, const CollectiveFacts& facts);
  /// After it. `taken`: the driver has it. Up to which collective of its lane all are known to be taken; 0: not this one.
  Serial tell(Serial serial, bool taken);
  /// An event of ours was recorded behind all up to there.
  void note_end(Serial serial, Serial ends);
  /// It has ended, and so has all of its lane up to what its end event tells.
  void finish(Serial serial);
  [[nodiscard]] Collective* find(Serial serial);

  [[nodiscard]] Serial newest_of(std::int32_t device) const { return newest_[static_cast<std::size_t>(device)]; }
  [[nodiscard]] bool is_over(unsigned lane, Serial serial) const { return serial <= lanes_[lane].finished; }
  [[nodiscard]] bool any_pending() const;
  /// The clock, or an empty one where all that it holds has ended: then there is no need to follow it.
  [[nodiscard]] VectorClock pending_of(const VectorClock& clock) const;
  /// Whether some collective of the device need not have ended before what has that clock.
  [[nodiscard]] bool any_beside(std::int32_t device, const VectorClock& clock) const;
  /// The first lane with something that has not ended and that the clock does not hold, beside `collective` itself. kNoLane: there
  /// is none. `serial`: what is missing.
  [[nodiscard]] unsigned missing(const Collective& collective, const VectorClock& clock, unsigned from, Serial& serial) const;
  /// Blocks of the collectives that can run at once on the device: of each lane the largest that may not have ended.
  [[nodiscard]] std::uint64_t blocks_at_once(std::int32_t device, const Stream& beside) const;
  /// Of each lane the newest whose end event can be asked for; 0: none.
  [[nodiscard]] Serial newest_end(unsigned lane);
  /// Of a lane one that is about to be forgotten, and the newest whose end event can be asked for; 0: none.
  [[nodiscard]] Serial forgotten_end();
  /// One of the first of its lane, which may be the last: streams that only a program's start uses are to end as well.
  [[nodiscard]] bool is_early(Serial serial);
  /// Several lanes have something that has not ended.
  [[nodiscard]] bool several() const;
  /// A collective may have been missed.
  void give_up() { exhausted_ = true; }
  [[nodiscard]] bool exhausted() const { return exhausted_; }
  [[nodiscard]] Serial newest() const { return serial_; }

 private:
  struct Event {
    std::uint32_t calls = 0;    ///< that were made to record it
    std::uint32_t pending = 0;  ///< of these, those that have not returned
    VectorClock clock;
  };
  struct Lane {
    StreamId stream = 0;  ///< 0: it is no more
    std::int32_t device = 0;
    Serial last = 0, finished = 0;
    Serial last_end = 0;          ///< the newest with an end event
    std::uint32_t under_way = 0;  ///< calls
    std::uint32_t begun = 0;      ///< collectives of the stream, as long as they are few
    std::uint32_t most_blocks = 0;
  };

  std::uint8_t lane_for(Stream& stream);
  [[nodiscard]] std::uint8_t free_lane() const;
  [[nodiscard]] bool has_lane(const Stream& stream) const {
    return stream.lane != kNoLane && lanes_[stream.lane].stream == stream.id;
  }

  std::array<Lane, kLanes> lanes_{};
  std::array<Collective, kKept> kept_{};
  std::array<Serial, kMaxDevices> newest_{};
  Serial serial_ = 0;
  std::uint32_t record_calls_ = 0;
  bool exhausted_ = false;
  FixedTable<Stream, 1024> streams_;
  FixedTable<Event, 2048> events_;
};

}  // namespace elbowroom::interposer
