#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "interposer/core/core.hpp"
#include "interposer/core/expected_time.hpp"
#include "interposer/core/table.hpp"

namespace elbowroom::interposer {

/// A collective's number in the order of their launches, from 1 on; 0: none.
using Serial = std::uint32_t;
constexpr std::int32_t kMaxDevices = 64;

/// Which collectives are ordered before something: of each chain, those up to and including this one.
using Before = std::array<Serial, kChains>;

constexpr std::uint32_t kUnknownBlocks = 0xffffffff;

/// What is known of a collective when it is launched.
struct CollectiveFacts {
  Interval expected;
  std::uint32_t blocks = 0;
  std::uint32_t sms = 0;           ///< that these can run on; 0: unknown
  std::uint32_t cluster = 1;       ///< of these begin together
  std::uint32_t first_blocks = 0;  ///< those that get the greatest priority
  std::uint32_t shape = 0;         ///< position of its kind
  bool duration_known = false;
  ContextId behind_blocking = 0;  ///< Order::behind_blocking
  Serial perhaps_behind = 0;      ///< Order::perhaps_behind
};

/// Collectives of one device run beside those of that device, and of one capture (0: eager) beside those of that capture.
struct World {
  std::int32_t device = 0;
  std::uint32_t capture = 0;
  bool operator==(const World&) const = default;
};

struct Collective : CollectiveFacts {
  ContextId context = 0;
  std::uint32_t capture = 0;
  std::uint8_t chain = 0;
  bool launched = false;   ///< the driver took it
  bool has_event = false;  ///< and its completion event
  bool withdrawn = false;
  Serial serial = 0;
  Serial previous = 0;                  ///< of its chain
  Serial far = 0;                       ///< an earlier one of its chain, from which a search goes on
  std::uint32_t leap = 0;               ///< how many stand from there to here
  Serial unknown = 0;                   ///< the youngest of unknown duration of its chain, itself included
  std::uint32_t most_blocks = 0;        ///< at least of all that are live in its chain up to itself
  std::uint32_t most_first_blocks = 0;  ///< the same of those with the greatest priority
  std::uint64_t taken = 0;              ///< at which telling it was known that the driver has it; 0: it is not known yet
  Serial overtaken = 0;                 ///< while it was under way, the driver may have put it behind all up to this one
};

/// The collectives that are not known to have finished: the last kKept that were launched, of all devices. They stand in chains, in
/// each of which every collective begins after the one before it has ended. Those of a stream make one, and so do collectives of
/// several streams that the program orders. So what is ordered before something is one number for each chain, and what has finished
/// is another. However many collectives there are, a launch or a collective looks at a few of them. Expected times of a chain
/// ascend: a search among n takes at most 2 log2 n steps. Not thread safe.
class Collectives {
 public:
  static constexpr std::size_t kKept = 8192;

  explicit Collectives(Serial newest = 0) : newest_(newest) {}

  /// A collective behind `before`, which it joins. `chain` is where the stream's last one stood, and becomes where this one stands.
  /// With every chain in use, or as many unfinished as are kept, the oldest are forgotten: nothing is asked about them again. What
  /// is behind one or beside it is known to be, until it is known to be over.
  Serial add(const CollectiveFacts& facts, const World& world, ContextId context, Before& before, std::uint8_t& chain,
             std::uint64_t now);
  /// What stands behind `before` takes SMs before its turn, if it may, and keeps so many until what it waits for is over.
  /// `first_blocks`: those with the greatest priority.
  void hold(const Before& before, std::uint64_t blocks, std::uint64_t first_blocks);
  /// Serials are used up: nobody may hold one when they begin anew.
  [[nodiscard]] bool exhausted() const { return newest_ == std::numeric_limits<Serial>::max(); }
  /// Everything has finished, and the next serial is 1.
  void begin_anew();

  /// Null where it has finished, was withdrawn or is kept no longer.
  [[nodiscard]] Collective* find(Serial serial);
  void finish(const Before& before);
  /// One collective, and so what it waited for.
  void finish(Serial serial);
  /// One that did not come to be.
  void withdraw(Serial serial);
  void finish_all();
  /// Those of a capture stop being live.
  void finish_capture(std::uint32_t capture);

  /// Whether some are not known to be over.
  [[nodiscard]] bool any() const { return (live_ | doubted_) != 0; }
  void join(Before& into, const Before& other) const;
  [[nodiscard]] bool any_unfinished(const Before& before) const;
  /// Whether the others hold one that is not known to be over and that `before` does not hold.
  [[nodiscard]] bool any_more(const Before& of_others, const Before& before) const;
  /// Of what `collective` waited for, whether there is what `before` does not hold. A forgotten one counts as well.
  [[nodiscard]] bool any_between(Serial collective, const Before& before) const;
  /// Of these others, as far as they were launched before the collective and are not of its chain, whether there is what `before`
  /// does not hold.
  [[nodiscard]] bool any_in_others(const Collective& collective, const Before& of_others, const Before& before) const;
  /// Looks at those up to `up_to` that were launched before the collective, in its capture or eagerly as it was. Says whether one
  /// of another chain is not held by `before`.
  [[nodiscard]] bool any_perhaps_before(const Collective& collective, Serial up_to, const Before& before) const;
  /// Whether some other one that the driver may have put before it, while it was under way, is not held by `before`.
  [[nodiscard]] bool any_overtaking(const Collective& collective, const Before& before) const;
  /// The driver has it.
  void take(Collective& collective) { collective.taken = ++taken_; }
  /// How often that was told.
  [[nodiscard]] std::uint64_t taken() const { return taken_; }
  /// Of each chain leaves those that the driver had at that telling. Whether there are others.
  bool leave_untaken(Before& before, std::uint64_t telling) const;
  /// Of those up to `up_to`, whether there is one that is not known to be over.
  [[nodiscard]] bool any_up_to(Serial up_to) const;
  /// At most so many blocks may run beside this one's, of collectives of its world that `before` does not hold: of one in each
  /// other chain. A forgotten one has its blocks.
  [[nodiscard]] std::uint64_t blocks_beside(const Collective& collective, const Before& before) const;
  /// At most so many with the greatest priority may run beside a collective that stands behind `before`.
  [[nodiscard]] std::uint64_t first_blocks_beside(const World& world, const Before& before) const;

  /// Chains in which there are live collectives of the world, a bit each.
  [[nodiscard]] std::uint64_t chains_of(const World& world) const;
  [[nodiscard]] Serial newest() const { return newest_; }
  /// Fetches what the next question touches; of several devices the first eight.
  void prefetch() const {
    __builtin_prefetch(&newest_, 1);
    __builtin_prefetch(eager_.data(), 1);
    __builtin_prefetch(tails_.data(), 1);
    __builtin_prefetch(finished_.data(), 1);
  }
  /// There were more unordered collectives than chains, so that one chain holds some that nothing orders. Nobody knows what is
  /// behind what, until everything counts as over.
  [[nodiscard]] bool mixed() const { return mixed_; }
  /// Of the forgotten, those that could still have met a launch.
  [[nodiscard]] std::uint64_t forgotten() const { return forgotten_; }

 private:
  friend class Beside;

  /// The most blocks of a chain's collectives up to the mark, and behind it. What is up to the mark is forgotten once that is over.
  struct MostBlocks {
    Serial mark = 0;
    std::uint32_t before = 0, behind = 0;
  };

  [[nodiscard]] Collective& at(Serial serial) { return kept_[serial % kKept]; }
  [[nodiscard]] const Collective& at(Serial serial) const { return kept_[serial % kKept]; }
  /// Nothing of it is live.
  [[nodiscard]] bool is_over(unsigned chain) const { return tails_[chain] <= finished_[chain]; }
  void note_over(unsigned chain);
  [[nodiscard]] unsigned chain_for(const World& world, const Before& before, unsigned last);
  void forget_oldest(std::uint64_t now);
  void forget(unsigned chain, Serial up_to, std::uint64_t now);
  /// Of a chain, launched before that serial; at most finished: none that is live.
  [[nodiscard]] Serial youngest_before(unsigned chain, Serial serial) const;
  void doubt(unsigned chain, Serial from, Serial up_to);
  /// Of the chain, all up to this one are over.
  void settle(unsigned chain, Serial up_to);
  void link(Collective& collective, unsigned chain);
  [[nodiscard]] std::uint32_t note_blocks(MostBlocks& most, unsigned chain, std::uint32_t blocks) const;

  alignas(kCacheLine) Serial newest_ = 0;
  unsigned width_ = 16;  ///< chains used so far, in whole cache lines of numbers
  std::uint64_t forgotten_ = 0;
  std::uint64_t taken_ = 0;
  std::uint64_t live_ = 0;                          ///< chains with something live, a bit each
  std::uint64_t captured_ = 0;                      ///< those of captures
  std::array<std::uint64_t, kMaxDevices> eager_{};  ///< the others, by device
  alignas(kCacheLine) Before tails_{};
  alignas(kCacheLine) Before finished_{};
  std::array<World, kChains> worlds_{};
  std::array<MostBlocks, kChains> most_blocks_{}, most_first_blocks_{};
  /// What was forgotten of a chain and is not known to be over: from the oldest to the youngest, with the most blocks of one.
  struct Doubt {
    Serial from = 0, up_to = 0;  ///< 0: nothing
    std::uint32_t blocks = 0, first_blocks = 0;
  };
  [[nodiscard]] static bool is_between(const Doubt& doubt, Serial waited_for, Serial before);
  std::array<Doubt, kChains> doubts_{};
  std::uint64_t doubted_ = 0;  ///< chains with such, a bit each: no other collective may stand there as if it were behind
  bool mixed_ = false;
  std::array<Collective, kKept> kept_{};
  std::array<Before, kKept> before_{};  ///< what each waited for, as of its launch
};

/// When something is expected to run.
struct Span {
  std::uint64_t start = 0;
  std::uint64_t end = std::numeric_limits<std::uint64_t>::max();
};

/// Collectives of one chain that need no question again.
struct Asked {
  std::uint8_t chain = 0;
  Serial from = 0, to = 0;  ///< 0: none
  Serial before_first = 0;  ///< of its chain, the one before `from`
};

/// The live collectives of some chains that are not ordered before something and are expected to run beside it: whoever's duration
/// is not known is. The youngest first, as many as are asked for.
class Beside {
 public:
  /// `before` and `span` are the something's; `passed`: collectives up to these are left out as well.
  Beside(const Collectives& all, std::uint64_t chains, const Before& before, const Span& span, const Before* passed = nullptr,
         const Asked& asked = {});
  [[nodiscard]] bool any() const { return heads_ > 0; }
  /// Whether some are not ordered before it, expected or not.
  [[nodiscard]] bool any_unordered() const { return unordered_; }
  /// 0: no more.
  Serial next();

 private:
  struct Head {
    Serial serial;
    Serial least;  ///< of its chain, to be left out with all before it
  };
  [[nodiscard]] Serial youngest(Serial from, Serial least) const;
  [[nodiscard]] Serial youngest_unasked(Serial from, Serial least) const;

  const Collectives& all_;
  const Span span_;
  const Asked asked_;
  bool unordered_ = false;
  unsigned heads_ = 0;
  std::array<Head, kChains> head_;
};

}  // namespace elbowroom::interposer
