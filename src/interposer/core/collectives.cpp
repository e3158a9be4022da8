#include "interposer/core/collectives.hpp"

#include <algorithm>
#include <bit>

namespace elbowroom::interposer {

void Collectives::note_over(unsigned chain) {
  if (!is_over(chain)) { return; }
  live_ &= ~bit_at(chain);
  captured_ &= ~bit_at(chain);
  eager_[static_cast<std::size_t>(worlds_[chain].device)] &= ~bit_at(chain);
}

std::uint64_t Collectives::chains_of(const World& world) const {
  if (world.capture == 0) { return eager_[static_cast<std::size_t>(world.device)]; }
  std::uint64_t chains = 0;
  for_each_bit(captured_, [&](unsigned chain) { chains |= worlds_[chain] == world ? bit_at(chain) : 0; });
  return chains;
}

// The stream's own where its last collective is still the last there. Then one that is free, as long as that makes no order longer
// to write; then one whose last collective is ordered before this one.
unsigned Collectives::chain_for(const World& world, const Before& before, unsigned last) {
  const auto fits = [&](unsigned chain) {
    return tails_[chain] <= std::max(finished_[chain], before[chain]) && doubts_[chain].up_to <= before[chain];
  };
  if (worlds_[last] == world && fits(last)) { return last; }
  const unsigned free = static_cast<unsigned>(std::countr_one(live_ | doubted_));
  if (free < width_) { return free; }
  for (std::uint64_t chains = chains_of(world); chains != 0; chains &= chains - 1) {
    const auto chain = static_cast<unsigned>(std::countr_zero(chains));
    if (fits(chain)) { return chain; }
  }
  return free;
}

void Collectives::forget(unsigned chain, Serial up_to, std::uint64_t now) {
  for (Serial serial = up_to; serial > finished_[chain]; serial = at(serial).previous) {
    const Collective& gone = at(serial);
    const bool over = gone.withdrawn || (gone.duration_known && gone.expected.end <= now);
    forgotten_ += over ? 0 : 1;
    if (!gone.withdrawn) { doubt(chain, serial, std::max(serial, doubts_[chain].up_to)); }
  }
  finished_[chain] = std::max(finished_[chain], up_to);
  note_over(chain);
}

void Collectives::doubt(unsigned chain, Serial from, Serial up_to) {
  Doubt& known = doubts_[chain];
  known.from = known.up_to == 0 ? from : std::min(known.from, from);
  known.up_to = up_to;
  known.blocks = std::max(known.blocks, at(from).most_blocks);  // with what is held behind it
  known.first_blocks = std::max(known.first_blocks, at(from).most_first_blocks);
  doubted_ |= bit_at(chain);
}

void Collectives::settle(unsigned chain, Serial up_to) {
  Doubt& known = doubts_[chain];
  if (up_to < known.from) { return; }
  known.from = up_to + 1;
  if (up_to < known.up_to) { return; }
  known = {};
  doubted_ &= ~bit_at(chain);
}

// The place of the next collective may hold one that is live: the oldest of all, and so of its chain.
void Collectives::forget_oldest(std::uint64_t now) {
  if (newest_ < kKept) { return; }
  const Serial oldest = newest_ + 1 - static_cast<Serial>(kKept);
  const Collective& gone = at(oldest);
  if (gone.serial == oldest && oldest > finished_[gone.chain]) { forget(gone.chain, oldest, now); }
}

Serial Collectives::add(const CollectiveFacts& facts, const World& world, ContextId context, Before& before, std::uint8_t& last,
                        std::uint64_t now) {
  forget_oldest(now);
  unsigned chain = chain_for(world, before, last);
  if (chain == kChains) {
    chain = static_cast<unsigned>(std::min_element(tails_.begin(), tails_.end()) - tails_.begin());
    forget(chain, tails_[chain], now);
    mixed_ = true;
  }
  while (chain >= width_) { width_ += kCacheLine / sizeof(Serial); }
  worlds_[chain] = world;
  last = static_cast<std::uint8_t>(chain);
  const Serial serial = ++newest_;
  std::copy_n(before.begin(), width_, before_[serial % kKept].begin());
  Collective& collective = at(serial);
  collective = Collective{};
  static_cast<CollectiveFacts&>(collective) = facts;
  // Nothing that is captured happens at a time.
  collective.duration_known = facts.duration_known && world.capture == 0;
  collective.context = context;
  collective.capture = world.capture;
  collective.serial = serial;
  link(collective, chain);
  before[chain] = serial;
  live_ |= bit_at(chain);
  (world.capture != 0 ? captured_ : eager_[static_cast<std::size_t>(world.device)]) |= bit_at(chain);
  return serial;
}

// Of each chain, as whoever it is behind ends last is not known.
void Collectives::hold(const Before& before, std::uint64_t blocks, std::uint64_t first_blocks) {
  const auto add = [](std::uint32_t& to, std::uint64_t more) {
    to = static_cast<std::uint32_t>(std::min<std::uint64_t>(to + std::min<std::uint64_t>(more, kUnknownBlocks), kUnknownBlocks));
  };
  for_each_bit(live_, [&](unsigned chain) {
    if (before[chain] <= finished_[chain]) { return; }
    add(at(tails_[chain]).most_blocks, blocks);
    add(most_blocks_[chain].behind, blocks);
    add(at(tails_[chain]).most_first_blocks, first_blocks);
    add(most_first_blocks_[chain].behind, first_blocks);
  });
  for_each_bit(doubted_, [&](unsigned chain) {
    Doubt& doubt = doubts_[chain];
    if (before[chain] < doubt.from) { return; }
    add(doubt.blocks, blocks);
    add(doubt.first_blocks, first_blocks);
  });
}

std::uint32_t Collectives::note_blocks(MostBlocks& most, unsigned chain, std::uint32_t blocks) const {
  if (finished_[chain] >= most.mark) { most = {tails_[chain], is_over(chain) ? 0 : most.behind, 0}; }
  most.behind = std::max(most.behind, blocks);
  return std::max(most.before, most.behind);
}

// Leaps as in a skew-binary list: two of one length before it make one of both and itself.
void Collectives::link(Collective& collective, unsigned chain) {
  collective.chain = static_cast<std::uint8_t>(chain);
  const Serial tail = is_over(chain) ? 0 : tails_[chain];
  collective.previous = tail;
  collective.far = tail;
  collective.leap = 1;
  collective.most_blocks = note_blocks(most_blocks_[chain], chain, collective.blocks);
  collective.most_first_blocks = note_blocks(most_first_blocks_[chain], chain, collective.first_blocks);
  if (tail != 0) {
    const Collective& previous = at(tail);
    const Serial beyond = previous.far > finished_[chain] ? previous.far : 0;
    if (beyond != 0 && at(beyond).leap == previous.leap) {
      collective.far = at(beyond).far;
      collective.leap = 1 + 2 * previous.leap;
    }
    collective.unknown = previous.unknown;
  }
  if (!collective.duration_known) { collective.unknown = collective.serial; }
  tails_[chain] = collective.serial;
}

Collective* Collectives::find(Serial serial) {
  Collective& found = at(serial);
  const bool live = serial != 0 && found.serial == serial && serial > finished_[found.chain] && !found.withdrawn;
  return live ? &found : nullptr;
}

void Collectives::finish(const Before& before) {
  for (unsigned chain = 0; chain < width_; ++chain) { finished_[chain] = std::max(finished_[chain], before[chain]); }
  for_each_bit(live_, [&](unsigned chain) { note_over(chain); });
  for_each_bit(doubted_, [&](unsigned chain) { settle(chain, before[chain]); });
}

void Collectives::finish(Serial serial) {
  const Collective* collective = find(serial);
  if (collective == nullptr) { return; }
  const unsigned chain = collective->chain;
  finished_[chain] = serial;
  if ((doubted_ & bit_at(chain)) != 0) { settle(chain, serial); }
  finish(before_[serial % kKept]);
}

void Collectives::withdraw(Serial serial) {
  Collective* collective = find(serial);
  if (collective == nullptr) { return; }
  const unsigned chain = collective->chain;
  collective->withdrawn = true;
  if (tails_[chain] != serial) { return; }
  tails_[chain] = collective->previous;
  if (collective->previous != 0) {
    Collective& previous = at(collective->previous);
    previous.most_blocks = std::max(previous.most_blocks, collective->most_blocks);  // with what is held since
    previous.most_first_blocks = std::max(previous.most_first_blocks, collective->most_first_blocks);
  }
  note_over(chain);
}

void Collectives::finish_all() {
  finished_ = tails_;
  for_each_bit(live_, [&](unsigned chain) { note_over(chain); });
  doubts_.fill({});
  doubted_ = 0;
  mixed_ = false;
}

void Collectives::begin_anew() {
  finish_all();
  newest_ = 0;
  tails_.fill(0);
  finished_.fill(0);
  most_blocks_.fill({});
  most_first_blocks_.fill({});
  for (Collective& kept : kept_) { kept.serial = 0; }
}

void Collectives::finish_capture(std::uint32_t capture) {
  for_each_bit(captured_, [&](unsigned chain) {
    if (worlds_[chain].capture != capture) { return; }
    finished_[chain] = tails_[chain];
    note_over(chain);
  });
  for_each_bit(doubted_, [&](unsigned chain) {
    if (worlds_[chain].capture == capture) { settle(chain, doubts_[chain].up_to); }
  });
}

void Collectives::join(Before& into, const Before& other) const {
  for (unsigned chain = 0; chain < width_; ++chain) { into[chain] = std::max(into[chain], other[chain]); }
}

bool Collectives::any_unfinished(const Before& before) const {
  bool any = false;
  for_each_bit(live_, [&](unsigned chain) { any = any || before[chain] > finished_[chain]; });
  for_each_bit(doubted_, [&](unsigned chain) { any = any || before[chain] >= doubts_[chain].from; });
  return any;
}

bool Collectives::any_more(const Before& of_others, const Before& before) const {
  bool any = false;
  const auto more = [&](unsigned chain, Serial over) { any = any || of_others[chain] > std::max(over, before[chain]); };
  for_each_bit(live_, [&](unsigned chain) { more(chain, finished_[chain]); });
  for_each_bit(doubted_, [&](unsigned chain) { more(chain, doubts_[chain].from - 1); });
  return any;
}

bool Collectives::any_between(Serial collective, const Before& before) const {
  const Before& waited_for = before_[collective % kKept];
  bool any = false;
  for_each_bit(live_, [&](unsigned chain) {
    const Serial least = std::max(finished_[chain], before[chain]);
    any = any || std::min(waited_for[chain], tails_[chain]) > least;
  });
  for_each_bit(doubted_, [&](unsigned chain) { any = any || is_between(doubts_[chain], waited_for[chain], before[chain]); });
  return any;
}

bool Collectives::any_in_others(const Collective& collective, const Before& of_others, const Before& before) const {
  const std::uint64_t others = ~bit_at(collective.chain);
  bool any = false;
  for_each_bit(live_ & others, [&](unsigned chain) {
    const Serial least = std::max(finished_[chain], before[chain]);
    any = any || std::min(of_others[chain], youngest_before(chain, collective.serial)) > least;
  });
  for_each_bit(doubted_ & others,
               [&](unsigned chain) { any = any || is_between(doubts_[chain], of_others[chain], before[chain]); });
  return any;
}

bool Collectives::any_perhaps_before(const Collective& collective, Serial up_to, const Before& before) const {
  const Serial last = std::min(up_to, collective.serial - 1);
  bool any = false;
  for_each_bit((live_ | doubted_) & ~bit_at(collective.chain), [&](unsigned chain) {
    if (worlds_[chain].capture != collective.capture) { return; }
    const Serial least = std::max(finished_[chain], before[chain]);
    any = any || youngest_before(chain, last + 1) > least || is_between(doubts_[chain], last, before[chain]);
  });
  return any;
}

// Also of those that were launched after it: the driver may have taken them before.
bool Collectives::any_overtaking(const Collective& collective, const Before& before) const {
  if (collective.overtaken == 0) { return false; }
  bool any = false;
  for_each_bit(live_ | doubted_, [&](unsigned chain) {
    if (worlds_[chain].capture != collective.capture) { return; }
    Serial least = std::max(finished_[chain], before[chain]);
    if (chain == collective.chain) { least = std::max(least, collective.serial); }
    any = any || youngest_before(chain, collective.overtaken + 1) > least ||
          is_between(doubts_[chain], collective.overtaken, before[chain]);
  });
  return any;
}

bool Collectives::leave_untaken(Before& before, std::uint64_t telling) const {
  bool any = false;
  for_each_bit(live_, [&](unsigned chain) {
    const auto untaken = [&](const Collective& each) { return each.taken == 0 || each.taken > telling; };
    Serial last = youngest_before(chain, before[chain] + 1);
    bool left = false;
    // A chain's were told in their order: none stands there behind one that was under way.
    while (last > finished_[chain] && (at(last).withdrawn || untaken(at(last)))) {
      left = left || !at(last).withdrawn;
      last = at(last).previous;
    }
    if (left) { before[chain] = last; }
    any = any || left;
  });
  return any;
}

bool Collectives::any_up_to(Serial up_to) const {
  bool any = false;
  for_each_bit(live_, [&](unsigned chain) { any = any || youngest_before(chain, up_to + 1) > finished_[chain]; });
  for_each_bit(doubted_, [&](unsigned chain) { any = any || doubts_[chain].from <= up_to; });
  return any;
}

bool Collectives::is_between(const Doubt& doubt, Serial waited_for, Serial before) {
  return std::max(doubt.from, before + 1) <= std::min(waited_for, doubt.up_to);
}

Serial Collectives::youngest_before(unsigned chain, Serial serial) const {
  Serial found = tails_[chain];
  while (found >= serial && found > finished_[chain]) { found = at(found).far >= serial ? at(found).far : at(found).previous; }
  return found;
}

std::uint64_t Collectives::blocks_beside(const Collective& collective, const Before& before) const {
  const World& world = worlds_[collective.chain];
  const std::uint64_t live = chains_of(world);
  std::uint64_t blocks = 0;
  for_each_bit((live | doubted_) & ~bit_at(collective.chain), [&](unsigned chain) {
    const bool runs = (live & bit_at(chain)) != 0 && tails_[chain] > std::max(finished_[chain], before[chain]);
    const bool may_run = worlds_[chain] == world && doubts_[chain].up_to > before[chain];
    blocks += std::max(runs ? at(tails_[chain]).most_blocks : 0, may_run ? doubts_[chain].blocks : 0);
  });
  return blocks;
}

std::uint64_t Collectives::first_blocks_beside(const World& world, const Before& before) const {
  const std::uint64_t live = chains_of(world);
  std::uint64_t blocks = 0;
  for_each_bit(live | doubted_, [&](unsigned chain) {
    const bool runs = (live & bit_at(chain)) != 0 && tails_[chain] > std::max(finished_[chain], before[chain]);
    const bool may_run = worlds_[chain] == world && doubts_[chain].up_to > before[chain];
    blocks += std::max(runs ? at(tails_[chain]).most_first_blocks : 0, may_run ? doubts_[chain].first_blocks : 0);
  });
  return blocks;
}

Beside::Beside(const Collectives& all, std::uint64_t chains, const Before& before, const Span& span, const Before* passed,
               const Asked& asked)
    : all_(all), span_(span), asked_(asked) {
  for (; chains != 0; chains &= chains - 1) {
    const auto chain = static_cast<unsigned>(std::countr_zero(chains));
    Serial least = std::max(all.finished_[chain], before[chain]);
    if (passed != nullptr) { least = std::max(least, (*passed)[chain]); }
    if (all.tails_[chain] <= least) { continue; }
    unordered_ = true;
    const Serial serial = youngest_unasked(all.tails_[chain], least);
    if (serial != 0) { head_[heads_++] = {serial, least}; }
  }
}

Serial Beside::next() {
  if (heads_ == 0) { return 0; }
  unsigned youngest_at = 0;
  for (unsigned i = 1; i < heads_; ++i) {
    if (head_[i].serial > head_[youngest_at].serial) { youngest_at = i; }
  }
  Head& head = head_[youngest_at];
  const Serial serial = head.serial;
  head.serial = youngest_unasked(all_.at(serial).previous, head.least);
  if (head.serial == 0) { head = head_[--heads_]; }
  return serial;
}

Serial Beside::youngest_unasked(Serial from, Serial least) const {
  const Serial found = youngest(from, least);
  if (found == 0 || found < asked_.from || found > asked_.to || all_.at(found).chain != asked_.chain) { return found; }
  return youngest(asked_.before_first, least);
}

Serial Beside::youngest(Serial from, Serial least) const {
  while (from > least && all_.at(from).withdrawn) { from = all_.at(from).previous; }
  if (from <= least) { return 0; }
  Serial unknown = all_.at(from).unknown;
  while (unknown > least && all_.at(unknown).withdrawn) {
    const Serial previous = all_.at(unknown).previous;
    unknown = previous > least ? all_.at(previous).unknown : 0;
  }
  if (unknown == from) { return from; }
  // Of those with a known time the youngest that begins before the span ends: all older ones end earlier.
  const auto begins_too_late = [&](Serial serial) { return all_.at(serial).expected.start >= span_.end; };
  Serial known = from;
  while (known > least && begins_too_late(known)) {
    const Collective& collective = all_.at(known);
    known = collective.far > least && begins_too_late(collective.far) ? collective.far : collective.previous;
  }
  while (known > least && all_.at(known).withdrawn) { known = all_.at(known).previous; }
  const bool meets = known > least && all_.at(known).expected.end > span_.start;
  return std::max(meets ? known : 0, unknown > least ? unknown : 0);
}

}  // namespace elbowroom::interposer
