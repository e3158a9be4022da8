#pragma once

#include <array>
#include <cstdint>

#include "interposer/core/collectives.hpp"
#include "interposer/core/core.hpp"
#include "interposer/core/event_records.hpp"
#include "interposer/core/expected_time.hpp"
#include "interposer/core/place_set.hpp"
#include "interposer/core/table.hpp"
#include "interposer/core/under_way.hpp"

namespace elbowroom::interposer {

constexpr ContextId kSeveralContexts = ~ContextId{0};

/// What is ordered before the next operation of a stream, or before an event's record.
struct Order {
  Clock clock;
  std::uint64_t host_actions = 0;
  std::uint64_t as_of = 0;  ///< of the host actions
  /// Behind a blocking stream of the context with this key, and so perhaps behind all that these hold; 0: of none.
  ContextId behind_blocking = 0;
  /// Perhaps behind all collectives up to this one, by a way that is not followed. Nothing is concluded from it but that.
  Serial perhaps_behind = 0;
  Before collectives{};

  void put_perhaps_behind(Serial up_to) { perhaps_behind = perhaps_behind < up_to ? up_to : perhaps_behind; }
  void put_behind(ContextId blocking) {
    if (blocking == 0 || blocking == behind_blocking) { return; }
    behind_blocking = behind_blocking == 0 ? blocking : kSeveralContexts;
  }
};

struct Stream {
  StreamInfo info;
  StreamId id = 0;
  std::uint32_t capture = 0;  ///< of the capture that it is or was part of
  std::uint8_t host_place = PlaceSet::kNone;
  std::uint8_t chain = 0;  ///< where its last collective stood
  Asked asked;             ///< collectives whose begin it need not wait for, now or later
  Order order;
  Order captured;  ///< the same inside its capture
  Before gated{};  ///< collectives whose begin it waits for already, and those before them
};

/// The happens-before relation that the program itself asked for, as far as it concerns collectives. It says for every stream and
/// recorded event which live collectives are ordered before. Exact within the capacities of the tables and of Collectives. Not
/// thread safe.
class ProgramOrder {
 public:
  explicit ProgramOrder(Serial newest = 0) : collectives_(newest) {}
  /// Says which events are recorded anew while a thread makes a stream wait for them. Outlives this.
  void watch(const EventRecords& records) { event_records_ = &records; }

  [[nodiscard]] Stream* find_stream(StreamId stream) { return streams_.find(stream); }
  /// Fetches what the next operation of a stream will touch; of several devices the first eight.
  void prefetch(StreamId stream) const {
    __builtin_prefetch(&sequence_, 1);
    __builtin_prefetch(&host_places_, 1);
    collectives_.prefetch();
    streams_.prefetch(stream);
    if (is_legacy_stream(stream)) { contexts_.prefetch(stream); }
  }
  /// Forgets every event, every capture and what streams hold, and takes everything for finished. Any event may have been recorded
  /// unseen by then. Streams stay known: the driver is not to be asked for one that is being captured. What is told of the others
  /// later (points, places) refers to nothing then, an order that was lost stays lost, and counts go on.
  void begin_anew();

  /// Null when the table is full: `lost` from then on.
  Stream* add_stream(StreamId stream, const StreamInfo& info);
  void remove_stream(StreamId stream);
  void remove_event(EventId event) { events_.erase(event); }
  /// What its streams hold goes on until the host has waited for it: by a context_point from before.
  void remove_context(ContextId context);
  /// False: it has none.
  bool remove_thread(std::uint32_t thread);

  /// Opens the next operation of the stream: what precedes it, implicit synchronisation with the legacy default stream included.
  /// The caller may advance the clock of what it gets, then calls `close`.
  Order& open(Stream& stream);
  /// The same for a launch that the driver has yet to take. `join` is not 0 where it puts the stream, or those that wait for it,
  /// behind more than they hold. The launch is then under way until end_launch or end_join. Until then, others are not behind it.
  Order& open_launch(Stream& stream, JoinId& join);
  void end_join(JoinId join, bool taken);
  /// What would precede the next operation of a stream that is not captured. A question is no operation: nothing changes by it.
  [[nodiscard]] Order ahead(const Stream& stream);
  void close_launch(const Stream& stream, const Order& order, JoinId launch);
  /// The same for one that was written down and that the driver may not have yet. Nothing new is before it, and nothing new behind
  /// what it is behind: `published` says when a launch must not be written down.
  Order& open_passed(Stream& stream);
  void close_passed(const Stream& stream, const Order& order);
  /// Live collectives that can run beside an operation with this order on this stream, and are expected to.
  [[nodiscard]] Beside beside(const Stream& stream, const Order& order, const Span& span) const;
  /// Of these, those whose begin the stream does not wait for, without what was asked for already.
  [[nodiscard]] Beside not_waited_for(const Stream& stream, const Order& order, const Span& span, const Asked& asked = {}) const;
  /// Of these, those whose begin it may still be asked to wait for.
  [[nodiscard]] Beside ungated(const Stream& stream, const Order& order, const Span& span) const;
  /// A launch that is about to be made may take SMs before its turn.
  void hold(const Order& order, std::uint64_t blocks) { collectives_.hold(order.collectives, blocks, 0); }
  /// Some of these have the greatest priority.
  void hold_first(const Order& order, std::uint64_t blocks) { collectives_.hold(order.collectives, 0, blocks); }
  /// At most so many with the greatest priority may run beside one that is about to be added, outside captures.
  [[nodiscard]] std::uint64_t first_blocks_beside(const Stream& stream, const Before& before) const {
    return collectives_.first_blocks_beside(world_of(stream, false), before);
  }
  /// Makes the opened operation a collective, which is under way until end_launch.
  Serial add_collective(Stream& stream, Order& order, const CollectiveFacts& facts, std::uint64_t now, JoinId join = 0);
  /// The driver took the collective, or it was withdrawn. Until then what other threads order on its stream is before it or after
  /// it.
  void end_launch(Serial serial, bool taken);
  /// The point is that the action is over; empty where it took the place of an older one of the stream, or is captured.
  SyncPoint add_host_action(Stream& stream);
  [[nodiscard]] std::uint64_t host_actions_told() const { return sequence_; }
  void close(const Stream& stream, const Order& order);
  /// How often blocking streams, or the legacy default one, got more to stand behind by each other. Their next launches need the
  /// long way: only there it is seen when the driver has them.
  [[nodiscard]] std::uint64_t published() const { return published_; }
  /// An operation that the driver took after `before`, and maybe long before it is told: behind nothing that came in between.
  Order& open_told(Stream& stream, const RecordPoint& before);
  /// The same for a record or a wait. On the legacy stream it is an operation. On others it waits for what they hold alone, and the
  /// legacy stream does not wait for it.
  Order& open_mark(Stream& stream, const RecordPoint& before);
  void close_mark(const Stream& stream, const Order& order);

  /// Behind no host action and no collective that was told after `before`. `alone`: it is the last record of the event. Where
  /// another one may be, or a stream came to stand behind another since `before`, the event is surely behind nothing.
  void record(EventId event, Stream& stream, const RecordPoint& before, bool alone);
  /// How often it was told so far that a stream stands behind another: by a wait for an event, or by a launch that joins.
  [[nodiscard]] std::uint64_t streams_joined() const { return streams_joined_; }
  /// `sure`: it is the record that is known here which the stream waits for. Otherwise the stream is surely behind nothing of it.
  void wait(Stream& stream, EventId event, bool sure, const RecordPoint& before);
  /// What the stream does next may stand behind all collectives up to this one.
  void suspect(Stream& stream, Serial up_to);
  /// A thread is about to make the stream wait: WaitingCall's event, records and up_to. Not 0: which call it is.
  WaitId begin_wait(const Stream& stream, EventId event, std::uint64_t records, Serial up_to);
  void end_wait(WaitId wait);
  /// Up to which collective what waits for the event may stand behind those that are not known to be over; 0: behind none.
  [[nodiscard]] Serial may_hold_up_to(EventId event, bool sure);
  /// Whether the event may stand behind a collective, not known to be over, that its point does not name.
  bool may_hold_more(EventId event);
  /// A collective or a wait for the host that is not known to be over.
  [[nodiscard]] bool any_pending() const { return host_actions_pending() || collectives_.any_up_to(collectives_.newest()); }
  /// The event, or with kSomeEvent each, may be recorded unseen now: what is known of it is forgotten. That it has passed says of
  /// an older record neither that a wait for the host is over nor that a collective is. A launch that seems to be behind that
  /// record would wait for a collective which it may hold up. A stream that waits for an event of which nothing is known may stand
  /// behind all that was launched so far.
  void distrust(EventId event);

  SyncPoint point_of(EventId event);
  SyncPoint point_of(Stream& stream);
  SyncPoint context_point(ContextId context);
  void finish(const SyncPoint& point);

  void begin_capture(Stream& stream, std::uint64_t of_driver);
  /// The captured collectives of the capture that this stream began stop being live. False: it began none.
  bool end_capture(const Stream& stream, GraphFacts& held);
  /// 0: not being captured.
  [[nodiscard]] std::uint32_t active_capture(const Stream& stream) const;
  /// The driver's number of the capture that the stream is part of; 0: it is not known.
  [[nodiscard]] std::uint64_t driver_capture(const Stream& stream) const;
  void count_captured(const Stream& stream, const GraphFacts& nodes);
  /// Whether a wait for the host was captured so far, or what may be behind one, in the capture that the stream is part of.
  [[nodiscard]] bool waits_captured(const Stream& stream) const;
  [[nodiscard]] unsigned captures_active() const { return captures_active_; }

  [[nodiscard]] Collectives& collectives() { return collectives_; }
  /// How often the numbers of collectives began anew: one of another era means nothing.
  [[nodiscard]] std::uint32_t era() const { return era_; }
  [[nodiscard]] bool host_actions_pending() const { return host_places_.live() != 0; }
  /// A table overflowed: an order that the program asked for may be missing here.
  [[nodiscard]] bool lost() const { return lost_for_good() || collectives_.mixed() || doubted_contexts_ != 0; }
  /// Not only until everything counts as over.
  [[nodiscard]] bool lost_for_good() const { return lost_; }
  /// From here on, or what stands where cannot be known.
  void lose() { lost_ = true; }
  /// An operation of the stream, which was opened and closed, did not come to be. What blocking streams do next seems to be behind
  /// it, and so behind more than it is. All that is over once the host has waited for their context.
  void doubt_context(const Stream& stream);
  /// Whether the collective may stand behind another one that `before` does not hold. Not every operation of a legacy default
  /// stream is followed. Each puts what blocking streams do next, and what waits for that, behind all that they hold. Records and
  /// waits on these do it as well, though not reliably.
  [[nodiscard]] bool may_queue(const Collective& collective, const Before& before);
  /// The stream waits for the collective's begin: of its chain, nothing up to it needs a question any more.
  static void mark_gated(Stream& stream, const Collective& collective);
  /// The stream will never wait for this one.
  static void mark_asked(Stream& stream, const Collective& collective);

 private:
  struct Event {
    Order order;
    std::uint64_t forgettings = 0;  ///< until it was recorded
    std::uint32_t capture = 0;
  };
  /// A legacy default stream waits for every blocking stream of its context, and they for it.
  struct Context {
    Order legacy;
    Order blocking;
    Order held;                 ///< by any of them, records and waits included: no more is before what they do next
    std::uint64_t doubted = 0;  ///< which doubt was the last one; 0: none
    Order destroyed;            ///< of all streams that are no more: a host synchronisation of the context waits for them as well
    bool has_blocking = false;  ///< a blocking stream that is not the legacy one had an operation
  };
  struct Capture {
    std::uint32_t id = 0;  ///< 0: free
    StreamId origin = 0;
    std::uint64_t of_driver = 0;
    GraphFacts held;
  };

  /// What stands behind blocking streams may stand behind a collective that they hold, though that is not known.
  [[nodiscard]] bool blocking_may_hold_more(const Order& order);
  /// Null where nothing is known of it.
  [[nodiscard]] const Event* find_event(EventId event);
  void join_event(Stream& stream, const Event& event, const RecordPoint& before);
  template <class IsGone>
  bool remove_streams(IsGone is_gone);
  void refresh(Order& order);
  void join(Order& into, const Order& other);
  static ContextId key_of(ContextId context) { return context | 1U; }
  Context& context_of(const Stream& stream);
  static void put_behind_blocking(Order& order, const Stream& stream, const Context& context) {
    order.put_behind(key_of(stream.info.context));
    order.put_behind(context.held.behind_blocking);
  }
  Order order_of(ContextId context);
  static CalledFor called_for(const Stream& stream);
  [[nodiscard]] Serial up_to(const WaitingCall& wait) const;
  /// By waits under way alone.
  [[nodiscard]] Serial behind_waits(const CalledFor& on);
  /// The driver may put collectives that are under way there behind all up to this one.
  void overtake(const CalledFor& on, Serial up_to);
  /// Of what it says is before, leaves what the driver had surely taken at the telling. False: that was all.
  bool leave_untaken(Before& before, std::uint64_t telling);
  /// Something not known to be over that `order` does not hold.
  [[nodiscard]] bool holds_more(const Order& published, const Order& order) const;
  /// Whether streams that wait for this one do not hold all that it holds.
  [[nodiscard]] bool publishes_more(const Stream& stream, const Order& order, const Context& context) const;
  /// What the stream holds becomes what others stand behind.
  void note_published(const Stream& stream, const Order& order, Context& context);
  /// What the legacy default stream holds for a blocking one, and these for it.
  static const Order& published_to(const Stream& stream, const Context& context) {
    return is_legacy_stream(stream.id) ? context.blocking : context.legacy;
  }
  /// Where what the stream holds is kept for them.
  static Order& published_by(const Stream& stream, Context& context) {
    return is_legacy_stream(stream.id) ? context.legacy : context.blocking;
  }
  /// Contexts behind whose blocking streams an order is: Order::behind_blocking.
  template <class Visit>
  void for_each_behind(ContextId behind_blocking, Visit visit) {
    if (behind_blocking == kSeveralContexts) {
      contexts_.for_each([&](ContextId, const Context& context) { visit(context); });
    } else if (const Context* context = contexts_.find(behind_blocking)) {
      visit(*context);
    }
  }
  /// Opens what waits for what its stream holds alone. It can be told before the driver has it.
  Order& open_alone(Stream& stream);
  /// What blocking streams and the legacy one have before each other. A thread that is about to launch may be late.
  void join_published(Order& into, const Stream& stream);
  /// A launch of that stream is under way.
  [[nodiscard]] bool is_joining(const Stream& stream);
  /// What the stream is surely behind: without its launches that are under way.
  [[nodiscard]] Order taken_of(const Stream& stream);
  /// The stream's wait for the host.
  void publish_wait(const Stream& stream, const Order& order);
  static HeldThen held_by(const Order& order) { return {order.host_actions, order.as_of, order.collectives}; }
  /// Leaves what was held then. What others have added since goes too.
  void leave_held(Order& order, const HeldThen& then) const;
  Capture* find_capture(std::uint32_t id);
  [[nodiscard]] const Capture* find_capture(std::uint32_t id) const;
  SyncPoint point_of(const Order& order);
  static World world_of(const Stream& stream, bool captured);
  void renumber();
  void forget_calls();
  void free_capture(Capture& capture);

  // What every launch touches comes first, in few cache lines.
  alignas(kCacheLine) std::uint64_t sequence_ = 0;
  unsigned captures_active_ = 0;
  std::uint32_t last_capture_ = 0;
  std::uint32_t era_ = 0;
  bool lost_ = false;
  bool recorded_unseen_ = false;   ///< some event, ever
  std::uint64_t forgettings_ = 0;  ///< how often all events were forgotten at once
  unsigned doubted_contexts_ = 0;
  std::uint64_t doubts_ = 0;
  PlaceSet host_places_;
  Collectives collectives_;
  const EventRecords* event_records_ = nullptr;
  UnderWay<LaunchingCall> launches_;
  UnderWay<WaitingCall> waits_;
  UnderWay<JoiningLaunch> joins_;
  WaitId last_wait_ = 0;
  JoinId last_join_ = 0;
  std::uint64_t streams_joined_ = 0;
  std::uint64_t published_ = 0;
  std::uint32_t unlisted_waits_ = 0;  ///< for which there was no room
  std::array<Capture, 16> captures_{};
  Context overflow_;
  FixedTable<Context, 256> contexts_;
  FixedTable<Stream, 2048> streams_;
  FixedTable<Event, 32768> events_;
};

}  // namespace elbowroom::interposer
