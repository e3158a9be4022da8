#include "interposer/nccl/ranks.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "interposer/core/policy.hpp"
#include "interposer/core/table.hpp"
#include "interposer/nccl/agreement_segment.hpp"
#include "interposer/nccl/state.hpp"

namespace elbowroom::interposer::nccl {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

/// What the communicators of this process have agreed on, for the comparison of arms, and what that wants. Written before
/// collectives, by any thread.
struct SharedWish {
  std::atomic<std::uint64_t> asked{0}, as_wanted{0}, all_ready{0};
  std::atomic<std::uint32_t> agreed{0};
  std::atomic<bool> follows{false};
  std::atomic<bool> with_processes{false};
  std::atomic<std::uint64_t> source{0};   ///< number of the process that this one follows; 0: none is known
  std::atomic<std::uint32_t> unready{0};  ///< communicators that this process leads, of which not all are ready for the same
  std::atomic<std::uint32_t> wanted{0};
  std::atomic<std::uint64_t> ready{0};

  void stop_following() {
    agreed.store(0, kRelaxed);
    source.store(0, kRelaxed);
    follows.store(false, kRelaxed);
  }
  /// What the communicators that this process leads are to have: a process that follows another one hands on what that one decided.
  [[nodiscard]] std::uint32_t to_lead_with() const { return (follows.load(kRelaxed) ? agreed : wanted).load(kRelaxed); }
};

constinit SharedWish shared;

/// A communicator, used by one thread at a time.
struct Member {
  std::uint64_t name = 0;
  std::uint32_t children = 0;
  std::uint64_t collectives = 0;
  bool unready = false;                       ///< counted in SharedWish::unready
  std::uint64_t source = 0;                   ///< the process that is followed by this communicator, as it was known last
  std::optional<AgreementSegment> agreement;  ///< from the first collective on; absent: there is nobody to agree with

  explicit Member(std::uint64_t its_name) : name(its_name) {}
  // Others that this process follows say so again with their next collective.
  ~Member() {
    if (agreement && agreement->seat().follows()) { shared.stop_following(); }
    count_unready(false);
  }
  Member(const Member&) = delete;
  Member& operator=(const Member&) = delete;

  void count_unready(bool now) {
    if (now == unready) { return; }
    unready = now;
    shared.unready.fetch_add(now ? 1 : ~0U, kRelaxed);
  }
};

/// Collectives after which ranks that have not all come to one board are on several hosts, which share no memory.
constexpr std::uint64_t kMostAlone = 1024;

/// A communicator that was destroyed keeps its place until another one gets its handle.
struct Place {
  std::atomic<Communicator> communicator{nullptr};
  Member* member = nullptr;  // owned; static objects end before the last calls of a program
};
constinit std::array<Place, 64> places;
constinit std::atomic<std::size_t> taken{0};

Place* place_of(Communicator communicator) {
  const auto end = places.begin() + static_cast<std::ptrdiff_t>(std::min(taken.load(std::memory_order_acquire), places.size()));
  const auto found = std::find_if(
      places.begin(), end, [&](const Place& place) { return place.communicator.load(std::memory_order_acquire) == communicator; });
  return found == end ? nullptr : &*found;
}

Member* member_of(Communicator communicator) {
  Place* const place = place_of(communicator);
  return place == nullptr ? nullptr : place->member;
}

Place* new_place() {
  const std::size_t index = taken.fetch_add(1, std::memory_order_acq_rel);
  return index < places.size() ? &places[index] : nullptr;
}

// A process follows one that decides. It may be led by that one in several communicators, and on the way of others that follow it
// as well.
bool follows_one(Member& member) {
  const std::uint64_t source = member.agreement->seat().source();
  std::uint64_t known = shared.source.load(kRelaxed);
  if (source != member.source || known == 0) {
    if (known == 0 || known == member.source) { shared.source.store(known = source, kRelaxed); }
    member.source = source;
  }
  return source != 0 && source == known;
}

// What the others and the comparison are to know. A process that leads others on says that it is ready when these are.
void lead(Member& member) {
  AgreementSeat& seat = member.agreement->seat();
  const std::uint64_t ready = shared.ready.load(kRelaxed);
  if (!seat.leads()) {
    if (seat.follows()) { shared.follows.store(true, kRelaxed); }
    const bool all = !seat.follows() || (follows_one(member) && shared.unready.load(kRelaxed) == 0);
    seat.tell(all ? ready : 0);
    return;
  }
  seat.tell(ready);
  const bool all_ready = ready != 0 && seat.all_told(ready);
  member.count_unready(!all_ready);
  if (all_ready) { shared.all_ready.fetch_add(1, kRelaxed); }
  seat.lead(shared.to_lead_with(), shared.follows.load(kRelaxed) ? shared.source.load(kRelaxed) : seat.process());
}

void account(const Member& member, AgreementSeat& seat) {
  const bool follows = shared.follows.load(kRelaxed);
  const bool of_source = seat.follows() ? member.source == shared.source.load(kRelaxed) : !follows;
  if (of_source) { shared.agreed.store(seat.value(), kRelaxed); }
  if (!seat.within_process()) { shared.with_processes.store(true, kRelaxed); }
  // Of a process's own ranks the leader speaks for all.
  if (seat.led_by_sibling()) { return; }
  shared.asked.fetch_add(1, kRelaxed);
  if (seat.value() == shared.to_lead_with()) { shared.as_wanted.fetch_add(1, kRelaxed); }
}

}  // namespace

std::uint64_t name_of(std::span<const UniqueId> ids) {
  std::uint64_t name = 0;
  for (const UniqueId& id : ids) {
    for (const char byte : id.bytes) { name = combine(name, static_cast<unsigned char>(byte)); }
  }
  return name;
}

std::uint64_t name_of_child(Communicator parent, int color) {
  Member* const member = member_of(parent);
  return member == nullptr ? 0 : combine(combine(member->name, ++member->children), static_cast<std::uint32_t>(color));
}

void meet(Communicator made, std::uint64_t name) {
  if (made == nullptr || !compares(rules())) { return; }
  Place* place = place_of(made);
  if (place == nullptr && name != 0) { place = new_place(); }
  if (place == nullptr) { return; }
  const std::unique_ptr<Member> before(place->member);
  place->member = name == 0 ? nullptr : new (std::nothrow) Member(name);
  place->communicator.store(made, std::memory_order_release);
}

void before_collective(Communicator communicator, std::uint32_t ranks) {
  Member* const member = member_of(communicator);
  if (member == nullptr) { return; }
  if (member->collectives++ == 0 && !member->agreement.emplace().open(member->name, ranks)) { member->agreement.reset(); }
  if (!member->agreement) { return; }
  AgreementSeat& seat = member->agreement->seat();
  lead(*member);
  seat.next();
  account(*member, seat);
  if (member->collectives == kMostAlone && !seat.is_complete()) { member->agreement.reset(); }
}

RankAgreement rank_agreement() {
  return {.standing =
              [] {
                return RankStanding{shared.asked.load(kRelaxed),     shared.as_wanted.load(kRelaxed),
                                    shared.all_ready.load(kRelaxed), shared.agreed.load(kRelaxed),
                                    shared.follows.load(kRelaxed),   shared.with_processes.load(kRelaxed)};
              },
          .agreed = [] { return shared.agreed.load(kRelaxed); },
          .want =
              [](const RankWish& wish) {
                shared.wanted.store(wish.value, kRelaxed);
                shared.ready.store(wish.ready, kRelaxed);
              },
          .several = [] { return state().several_ranks.load(kRelaxed); }};
}

}  // namespace elbowroom::interposer::nccl
