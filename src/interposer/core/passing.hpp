#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstddef>
#include <cstdint>

#include "interposer/core/core.hpp"
#include "interposer/core/table.hpp"

/// The short way of a launch about which nothing is to be decided. It is outside windows, or its stream waits for all that it could
/// be made to wait for, or it is too small to be made to wait for more. Later decisions depend on when it is expected to end. So
/// its thread writes down that it was made and goes on to the driver. Whoever takes the core's lock next reads what all threads
/// have written, before anything else: nothing is decided without it.
namespace elbowroom::interposer {

/// A launch, as far as its kind and its footprint depend on it.
struct LaunchShape {
  FunctionId function = 0;
  Extent grid, block;
  std::uint32_t dynamic_shared = 0, cluster = 1;

  /// Tells shapes apart; not 0. Only those that no device can launch may have one print in common: parts of them overlap.
  [[nodiscard]] constexpr std::uint64_t print(std::uint64_t era) const {
    const auto at = [](std::uint32_t part, unsigned bit) { return std::uint64_t{part} << bit; };
    const std::uint64_t blocks = at(grid.x, 0) + at(grid.y, 32) + at(grid.z, 48);
    const std::uint64_t block_of = at(block.x, 0) + at(block.y, 16) + at(block.z, 32) + at(dynamic_shared, 40) + at(cluster, 59);
    return mix(function * 0x9e3779b97f4a7c15U + blocks * 0xd1b54a32d192ed03U + block_of * 0xaef17502108ef2d9U + era) | 1U;
  }
};

/// What a shape's launches count for, in one word; never 0.
struct PassedKind {
  std::size_t kind = 0;
  bool has_kind = false;  ///< none is known where no collective was launched yet
  bool anywhere = false;  ///< also inside windows: no control but the gate could ever act on it
  std::uint16_t kernel = 0;
  std::uint16_t blocks = 0;  ///< of the grid, at least 1; kManyBlocks: so many or more

  static constexpr std::uint16_t kManyBlocks = 0xffff;
  static constexpr std::uint8_t kAnywhere = 4;  ///< the bit of `anywhere`
  static constexpr std::uint16_t blocks_of(const Extent& grid) {
    return static_cast<std::uint16_t>(std::clamp<std::uint64_t>(grid.count(), 1, kManyBlocks));
  }
  static constexpr std::uint16_t blocks_of(std::uint64_t word) { return static_cast<std::uint16_t>(word >> 48U); }
  [[nodiscard]] constexpr std::uint64_t pack() const {
    return std::uint64_t{blocks} << 48U | std::uint64_t{kernel} << 32U | std::uint64_t{kind} << 3U | (anywhere ? kAnywhere : 0U) |
           (has_kind ? 2U : 0U) | 1U;
  }
  static constexpr PassedKind unpack(std::uint64_t word) {
    return {word >> 3U & 0x1fff'ffffU, (word & 2U) != 0, (word & kAnywhere) != 0, static_cast<std::uint16_t>(word >> 32U),
            blocks_of(word)};
  }
};

/// What needs nobody's attention on a stream.
struct PassTerms {
  bool anywhere = false;                                ///< only what may pass anywhere
  std::uint16_t most_blocks = PassedKind::kManyBlocks;  ///< of a grid; kManyBlocks: any
};

/// A launch that was written down.
struct PassedLaunch {
  StreamId stream = 0;
  std::uint64_t ticks = 0;
  std::uint64_t print = 0;
  std::uint64_t word = 0;  ///< PassedKind
};

/// Shapes whose launches need nobody's attention for a time, how long each lasts, and how many were made. Written with the
/// core's lock held; every thread may `find`.
class PassingShapes {
 public:
  /// Of a round: within one a print means the same shape, and what is known of it holds.
  static constexpr std::uint64_t era(std::uint64_t round) { return round >> kEraBits; }
  /// The first round of the next era.
  static constexpr std::uint64_t next_era(std::uint64_t round) { return (era(round) + 1) << kEraBits; }

  /// What is known of the shape of that print; 0: nothing.
  [[nodiscard]] std::uint64_t find(std::uint64_t print) const {
    const Shape& shape = shapes_[place(print)];
    if (shape.print.load(std::memory_order_acquire) != print) { return 0; }
    const std::uint64_t word = shape.word.load(std::memory_order_acquire);
    return shape.print.load(std::memory_order_relaxed) == print ? word : 0;  // it may have become another's meanwhile
  }
  /// Takes the place of another now and then, which is then asked about again; `tell` is told what that one counted.
  template <class Tell>
  void remember(std::uint64_t print, std::uint64_t word, std::uint64_t expected_ns, Tell tell) {
    Shape& shape = shapes_[place(print)];
    if (shape.print.load(std::memory_order_relaxed) != print) {
      tell_count(shape, tell);
      shape.print.store(0, std::memory_order_relaxed);
      shape.word.store(word, std::memory_order_release);
      shape.print.store(print, std::memory_order_release);
    }
    shape.expected_ns = expected_ns;
  }
  /// Counts a launch, and says how long it is expected to last. Null: the shape had to make room meanwhile.
  const std::uint64_t* count(std::uint64_t print) {
    Shape& shape = shapes_[place(print)];
    if (shape.print.load(std::memory_order_relaxed) != print) { return nullptr; }
    ++shape.launches;
    return &shape.expected_ns;
  }
  void prefetch(std::uint64_t print) const { __builtin_prefetch(&shapes_[place(print)], 1); }
  template <class Tell>
  void tell_counts(Tell tell) {
    for (Shape& shape : shapes_) { tell_count(shape, tell); }
  }

 private:
  static constexpr unsigned kPlaceBits = 12;
  static constexpr unsigned kEraBits = 40;
  struct Shape {
    std::atomic<std::uint64_t> print{0}, word{0};
    std::uint64_t expected_ns = 0;
    std::uint64_t launches = 0;  ///< since they were told
  };
  static std::size_t place(std::uint64_t print) { return print >> (64 - kPlaceBits); }
  template <class Tell>
  static void tell_count(Shape& shape, Tell tell) {
    if (shape.launches != 0) { tell(PassedKind::unpack(shape.word.load(std::memory_order_relaxed)), shape.launches); }
    shape.launches = 0;
  }

  alignas(kCacheLine) std::array<Shape, std::size_t{1} << kPlaceBits> shapes_{};
};

/// What one thread has written down and nobody has read yet. One writes, and whoever holds the core's lock reads.
struct alignas(kCacheLine) PassedLaunches {
  static constexpr std::uint32_t kMost = 64;

  std::atomic<std::uint32_t> begin{0}, end{0};  ///< numbers of launches
  std::array<PassedLaunch, kMost> launches;

  [[nodiscard]] PassedLaunch& at(std::uint32_t number) { return launches[number % kMost]; }
  [[nodiscard]] bool any() const { return begin.load(std::memory_order_relaxed) != end.load(std::memory_order_acquire); }
  void drop_all() { begin.store(end.load(std::memory_order_acquire), std::memory_order_release); }
};

/// A thread's side of it: what it was told, in one cache line of its own. A handler that interrupts the thread may launch as well.
class alignas(kCacheLine) PassingThread {
 public:
  constexpr PassingThread() = default;
  /// Where it writes down what it launches; null: it always goes the long way.
  void use(PassedLaunches* launches) {
    forget_told();
    room_ = 0;
    end_ = launches == nullptr ? 0 : launches->end.load(std::memory_order_relaxed);
    launches_ = launches;
  }

  [[nodiscard]] bool told(const PassGate& gate) const { return gate.round.load(std::memory_order_acquire) == round_; }
  /// Only where it was told. False: the launch must go the long way. Nothing that is written here is read by others, but for what
  /// is written down; no atomic operation both reads and writes.
  [[gnu::always_inline]] bool take(const PassGate& gate, const LaunchShape& shape, StreamId stream, std::uint64_t ticks) {
    if (busy_ != 0) { return false; }
    busy_ = 1;  // what a handler is told from here on changes nothing
    std::atomic_signal_fence(std::memory_order_seq_cst);
    const std::uint64_t print = shape.print(PassingShapes::era(round_));
    const std::uint64_t word = gate.shapes.load(std::memory_order_relaxed)->find(print);
    const bool may = word != 0 && (word & needed_) == needed_ && PassedKind::blocks_of(word) <= most_blocks_on(stream);
    const bool room = may && (room_ != 0 || find_room());
    if (room) {
      --room_;
      launches_->at(end_) = {stream, ticks, print, word};
      launches_->end.store(++end_, std::memory_order_release);
    }
    std::atomic_signal_fence(std::memory_order_seq_cst);
    busy_ = 0;
    return room;
  }
  /// With the core's lock held: for as long as the round lasts, nothing needs what the thread launches on the stream on these
  /// terms. A handler that interrupts `take` is told nothing.
  void tell(std::uint64_t round, StreamId stream, const PassTerms& terms) {
    if (launches_ == nullptr || busy_ != 0) { return; }
    if (round_ != round) {
      forget_told();
      streams_.fill(0);
      needed_ = 0;
    }
    if (terms.anywhere) { needed_ = PassedKind::kAnywhere; }
    const auto known = static_cast<std::size_t>(std::find(streams_.begin(), streams_.end(), stream) - streams_.begin());
    const std::size_t at = known < streams_.size() ? known : next_++ % streams_.size();
    // A handler that interrupts this knows the stream by neither the old terms of the place nor half of the new ones.
    streams_[at] = 0;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    most_blocks_[at] = terms.most_blocks;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    streams_[at] = stream;
    std::atomic_signal_fence(std::memory_order_seq_cst);
    round_ = round;
  }

 private:
  // A handler that interrupts what follows goes the long way.
  void forget_told() {
    round_ = kNone;
    std::atomic_signal_fence(std::memory_order_seq_cst);
  }
  /// 0: the thread was told nothing of the stream.
  [[nodiscard]] std::uint16_t most_blocks_on(StreamId stream) const {
    if (stream == streams_[0]) { return most_blocks_[0]; }
    if (stream == streams_[1]) { return most_blocks_[1]; }
    return stream == streams_[2] ? most_blocks_[2] : std::uint16_t{0};
  }
  bool find_room() {
    room_ = static_cast<std::uint8_t>(PassedLaunches::kMost - (end_ - launches_->begin.load(std::memory_order_acquire)));
    return room_ != 0;
  }

  static constexpr std::uint64_t kNone = ~std::uint64_t{0};

  std::uint64_t round_ = kNone;
  std::array<StreamId, 3> streams_{};
  PassedLaunches* launches_ = nullptr;
  std::uint32_t end_ = 0;  ///< as in `launches_`
  volatile std::sig_atomic_t busy_ = 0;
  std::array<std::uint16_t, 3> most_blocks_{};  ///< on each of the streams
  std::uint8_t room_ = 0;                       ///< for so many more at least
  std::uint8_t needed_ = 0;                     ///< bits of the word of a shape
  std::uint8_t next_ = 0;
};
static_assert(sizeof(PassingThread) == kCacheLine);

/// All threads that may take the short way, and what they may take it with.
class Passing {
 public:
  static constexpr std::uint32_t kThreads = 32;

  /// `gate`: where the hooks read it; null: nobody takes the short way.
  explicit Passing(PassGate* gate) : gate_(gate == nullptr ? own_gate_ : *gate) {
    gate_.shapes.store(&shapes_, std::memory_order_relaxed);
  }

  /// Of the thread of that number, which no other has at the same time; null: there are more threads than places.
  PassedLaunches* of(std::uint32_t thread) {
    if (thread >= kThreads) { return nullptr; }
    std::uint32_t seen = threads_.load(std::memory_order_relaxed);
    while (seen <= thread && !threads_.compare_exchange_weak(seen, thread + 1, std::memory_order_release)) {}
    return &launches_[thread];
  }

  // With the core's lock held:
  /// What was told is void.
  void close() { gate_.round.store(gate_.round.load(std::memory_order_relaxed) + 1, std::memory_order_release); }
  /// What is known of shapes as well.
  void forget_shapes() {
    gate_.round.store(PassingShapes::next_era(gate_.round.load(std::memory_order_relaxed)), std::memory_order_release);
  }
  [[nodiscard]] std::uint64_t round() const { return gate_.round.load(std::memory_order_relaxed); }
  PassingShapes& shapes() { return shapes_; }
  [[nodiscard]] bool any_unread() const {
    const std::uint32_t threads = threads_.load(std::memory_order_acquire);
    return std::any_of(launches_.begin(), launches_.begin() + threads, [](const PassedLaunches& each) { return each.any(); });
  }
  /// Nothing is written down before. What is read later lies between two moments at which both clocks were read.
  void begin(HostTime (*host_time)()) {
    if (before_.nanoseconds == 0) { before_ = host_time(); }
  }
  /// Of all threads, the earliest first, as if one had launched it all. What is written down meanwhile waits for the next time.
  template <class Visit>
  void read(const HostTime& now, Visit visit);
  /// Fetches what tells whether there is anything to read; of many threads the first two. Needs no lock.
  void prefetch() const {
    __builtin_prefetch(&threads_);
    __builtin_prefetch(launches_.data());
    __builtin_prefetch(launches_.data() + 1);
  }
  void forget_unread() {
    for (PassedLaunches& each : launches_) { each.drop_all(); }
  }

 private:
  /// When the host was at that count; between two moments at which both clocks were read these are taken to run alike.
  class Times {
   public:
    Times(const HostTime& from, const HostTime& to) : from_(from), to_(to) {
      const bool apart = to.ticks > from.ticks && to.nanoseconds > from.nanoseconds;
      scale_ = apart ? static_cast<double>(to.nanoseconds - from.nanoseconds) / static_cast<double>(to.ticks - from.ticks) : 0.0;
    }
    [[nodiscard]] std::uint64_t at(std::uint64_t ticks) const {
      if (ticks >= to_.ticks) { return to_.nanoseconds; }
      if (ticks <= from_.ticks) { return from_.nanoseconds; }
      return from_.nanoseconds + static_cast<std::uint64_t>(static_cast<double>(ticks - from_.ticks) * scale_);
    }

   private:
    HostTime from_, to_;
    double scale_ = 0.0;
  };

  PassGate own_gate_;
  PassGate& gate_;
  HostTime before_;
  std::atomic<std::uint32_t> threads_{0};  ///< the greatest number so far, and one
  std::array<PassedLaunches, kThreads> launches_{};
  PassingShapes shapes_;
};

template <class Visit>
void Passing::read(const HostTime& now, Visit visit) {
  struct Unread {
    PassedLaunches* launches;
    std::uint32_t begin, end;
    [[nodiscard]] const PassedLaunch& next() const { return launches->at(begin); }
  };
  std::array<Unread, kThreads> unread;
  std::uint32_t threads = 0;
  for (std::uint32_t i = 0; i < threads_.load(std::memory_order_acquire); ++i) {
    Unread each{&launches_[i], launches_[i].begin.load(std::memory_order_relaxed),
                launches_[i].end.load(std::memory_order_acquire)};
    if (each.begin == each.end) { continue; }
    for (std::uint32_t at = each.begin; at != each.end; ++at) { shapes_.prefetch(each.launches->at(at).print); }
    unread[threads++] = each;
  }
  const Times times(before_, now);
  while (threads > 0) {
    std::uint32_t first = 0;
    for (std::uint32_t i = 1; i < threads; ++i) {
      if (unread[i].next().ticks < unread[first].next().ticks) { first = i; }
    }
    Unread& earliest = unread[first];
    visit(earliest.next(), times.at(earliest.next().ticks));
    if (++earliest.begin != earliest.end) { continue; }
    earliest.launches->begin.store(earliest.end, std::memory_order_release);
    earliest = unread[--threads];
  }
  before_ = now;
}

}  // namespace elbowroom::interposer
