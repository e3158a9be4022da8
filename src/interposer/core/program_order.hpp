#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "interposer/core/core.hpp"
#include "interposer/core/expected_time.hpp"
#include "interposer/core/table.hpp"

namespace elbowroom::interposer {

/// Sixty-four places for things that are under way (collectives, waits for the host). A place that becomes free is used again, so a mask
/// of places is only meaningful with the sequence number at which it was written: `valid` drops the bits that meant something older.
class PlaceSet {
 public:
  /// Takes a free place, or the oldest when there is none (its thing counts as finished from then on). Places are taken in turn.
  unsigned take(std::uint64_t sequence);
  void renew(unsigned place, std::uint64_t sequence) { born_[place] = newest_ = sequence; }
  void release(std::uint64_t mask) { live_ &= ~mask; }
  [[nodiscard]] std::uint64_t live() const { return live_; }
  [[nodiscard]] std::uint64_t born(unsigned place) const { return born_[place]; }
  [[nodiscard]] std::uint64_t dropped() const { return dropped_; }
  /// The place of a nonempty mask that was taken last, or nearly: one that outlived a whole turn may come too early.
  [[nodiscard]] unsigned youngest(std::uint64_t mask) const {
    const auto distance = static_cast<unsigned>(std::countl_zero(std::rotr(mask, static_cast<int>(next_))));
    return (next_ + 63 - distance) % 64;
  }
  [[nodiscard]] std::uint64_t valid(std::uint64_t mask, std::uint64_t as_of) const {
    mask &= live_;
    if (as_of >= newest_) { return mask; }
    return drop_younger(mask, as_of);
  }

 private:
  [[nodiscard]] std::uint64_t drop_younger(std::uint64_t mask, std::uint64_t as_of) const;

  std::uint64_t live_ = 0;
  unsigned next_ = 0;
  std::uint64_t newest_ = 0;
  std::uint64_t dropped_ = 0;
  std::array<std::uint64_t, 64> born_{};
};

/// What is ordered before the next operation of a stream, or before an event's record.
struct Order {
  std::uint64_t collectives = 0;
  std::uint64_t host_actions = 0;
  std::uint64_t as_of = 0;
  Clock clock;
};

struct Collective {
  StreamId stream = 0;
  ContextId context = 0;
  std::int32_t device = 0;
  std::uint32_t capture = 0;  ///< 0: not captured
  std::uint64_t before = 0;   ///< collectives ordered before it, as of its own launch
  Interval expected;
  std::uint32_t blocks = 0;
  std::uint32_t shape = 0;
  bool duration_known = false;
  bool queued = false;     ///< expected to wait for another collective when it was launched
  bool launched = false;   ///< the driver took it
  bool has_event = false;  ///< and its completion event
};

struct Stream {
  StreamInfo info;
  StreamId id = 0;
  std::uint32_t capture = 0;  ///< of the capture that it is or was part of
  std::uint8_t host_place = 0xff;
  Order order;
  Order captured;           ///< the same inside its capture
  std::uint64_t gated = 0;  ///< collectives whose begin it waits for already, or need not be asked about again
  std::uint64_t gated_as_of = 0;
};

/// The happens-before relation that the program itself asked for, as far as it concerns collectives: for every stream and recorded event,
/// which live collectives are ordered before. Exact up to 64 live collectives and the tables' capacities. Not thread safe.
class ProgramOrder {
 public:
  static constexpr std::int32_t kMaxDevices = 64;

  [[nodiscard]] Stream* find_stream(StreamId stream) { return streams_.find(stream); }
  /// Fetches what the next operation of a stream will touch; of several devices the first eight.
  void prefetch(StreamId stream) const {
    __builtin_prefetch(&sequence_, 1);
    __builtin_prefetch(&host_places_, 1);
    __builtin_prefetch(live_on_device_.data(), 1);
    streams_.prefetch(stream);
    if (is_legacy_stream(stream)) { contexts_.prefetch(stream); }
  }
  /// Forgets every stream, event and capture, and takes everything for finished. What is told of them later (points, places) refers to
  /// nothing then, an order that was lost stays lost, and counts go on.
  void begin_anew();

  /// Null when the table is full: `lost` from then on.
  Stream* add_stream(StreamId stream, const StreamInfo& info);
  void remove_stream(StreamId stream);
  void remove_event(EventId event) { events_.erase(event); }
  void remove_context(ContextId context);

  /// Opens the next operation of the stream: what precedes it, implicit synchronisation with the legacy default stream included. The
  /// caller may advance the clock of what it gets, then calls `close`.
  Order& open(Stream& stream);
  /// Live collectives that can run beside an operation with this order on this stream.
  [[nodiscard]] std::uint64_t unordered(const Stream& stream, const Order& order) const;
  /// Makes the opened operation a collective.
  unsigned add_collective(const Stream& stream, Order& order);
  void add_host_action(Stream& stream);
  void close(const Stream& stream, const Order& order);

  void record(EventId event, Stream& stream);
  void wait(Stream& stream, EventId event);

  SyncPoint point_of(EventId event);
  SyncPoint point_of(Stream& stream);
  SyncPoint context_point(ContextId context);
  void finish(const SyncPoint& point);
  /// One collective is known finished, and so is what it waited for.
  void finish(unsigned place);
  /// A collective did not come to be.
  void withdraw(unsigned place);

  void begin_capture(Stream& stream);
  /// The captured collectives of the capture that this stream began stop being live. False: it began none.
  bool end_capture(const Stream& stream, GraphFacts& held);
  /// 0: not being captured.
  [[nodiscard]] std::uint32_t active_capture(const Stream& stream) const;
  void count_captured(const Stream& stream, const GraphFacts& nodes);
  [[nodiscard]] unsigned captures_active() const { return captures_active_; }

  [[nodiscard]] Collective& collective(unsigned place) { return collectives_[place]; }
  /// Whether the place still holds what it held when its sequence number had these low bits.
  [[nodiscard]] bool is_live(unsigned place, std::uint64_t born, std::uint64_t low_bits) const {
    return ((places_.live() >> place) & 1U) != 0 && (places_.born(place) & low_bits) == born;
  }
  [[nodiscard]] std::uint64_t born(unsigned place) const { return places_.born(place); }
  [[nodiscard]] unsigned youngest(std::uint64_t collectives) const { return places_.youngest(collectives); }
  /// Of the collectives ordered before this one, those not known finished.
  [[nodiscard]] std::uint64_t unfinished_before(unsigned place) const {
    return places_.valid(collectives_[place].before, places_.born(place));
  }
  [[nodiscard]] std::uint64_t dropped() const { return places_.dropped(); }
  [[nodiscard]] bool host_actions_pending() const { return host_places_.live() != 0; }
  /// A table overflowed: an order that the program asked for may be missing here.
  [[nodiscard]] bool lost() const { return lost_; }
  void mark_gated(Stream& stream, unsigned place);
  [[nodiscard]] std::uint64_t gated(const Stream& stream) const { return places_.valid(stream.gated, stream.gated_as_of); }

 private:
  struct Event {
    Order order;
    std::uint32_t capture = 0;
  };
  /// A legacy default stream waits for every blocking stream of its context, and they for it.
  struct Context {
    Order legacy;
    Order blocking;
    Order destroyed;  ///< of all streams that are no more: a host synchronisation of the context waits for them as well
  };
  struct Capture {
    std::uint32_t id = 0;  ///< 0: free
    StreamId origin = 0;
    std::uint64_t collectives = 0;
    GraphFacts held;
  };

  void refresh(Order& order);
  void join(Order& into, const Order& other);
  Context& context_of(const Stream& stream);
  Capture* find_capture(std::uint32_t id);
  [[nodiscard]] const Capture* find_capture(std::uint32_t id) const;
  SyncPoint point_of(const Order& order) const;
  void unlist(std::uint64_t collectives);
  void release(std::uint64_t collectives);
  void free_capture(Capture& capture);

  // What every launch touches comes first, in few cache lines.
  alignas(kCacheLine) std::uint64_t sequence_ = 0;
  unsigned captures_active_ = 0;
  std::uint32_t last_capture_ = 0;
  bool lost_ = false;
  PlaceSet places_;
  PlaceSet host_places_;
  std::array<std::uint64_t, kMaxDevices> live_on_device_{};  ///< captured ones excluded
  std::array<Collective, 64> collectives_{};
  std::array<Capture, 16> captures_{};
  Context overflow_;
  FixedTable<Context, 256> contexts_;
  FixedTable<Stream, 2048> streams_;
  FixedTable<Event, 32768> events_;
};

}  // namespace elbowroom::interposer
