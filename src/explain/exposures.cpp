#include "explain/exposures.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "explain/clocks.hpp"
#include "explain/delays.hpp"

namespace elbowroom::explain {
namespace {

/// Which collective runs when: of several the one that ends last.
std::vector<Exposure> cut(const RankView& view, Interval step) {
  const Intervals exposed = without(within(view.communication, step), within(view.compute, step));
  std::vector<Exposure> result;
  std::size_t first = 0;
  for (const Interval& whole : exposed) {
    std::vector<std::size_t> running;
    // Collectives are in the order of their begin; a long one may still run when later ones are over.
    while (first < view.collectives.size() && view.collectives[first].time.end <= whole.begin) { ++first; }
    for (std::size_t i = first; i < view.collectives.size() && view.collectives[i].time.begin < whole.end; ++i) {
      if (view.collectives[i].time.end > whole.begin) { running.push_back(i); }
    }
    std::stable_sort(running.begin(), running.end(),
                     [&](std::size_t a, std::size_t b) { return view.collectives[a].time.end > view.collectives[b].time.end; });
    Intervals left{whole};
    for (const std::size_t i : running) {
      for (const Interval& part : within(left, view.collectives[i].time)) {
        result.push_back({i, part, 0, Cause::unknown, 0, std::nullopt});
      }
      left = without(left, {view.collectives[i].time});
    }
  }
  return result;
}

/// How long the next computation waited for the collective and for nothing else.
Time blocking_of(const RankView& view, const Exposure& exposure) {
  const Collective& collective = view.collectives[exposure.collective];
  if (!exposure.next) { return 0; }
  const std::size_t next = *exposure.next;
  const Time begin = view.trace.rows.begin[next];
  const std::optional<Time> launched = view.trace.launched(next);
  const bool follows = begin >= collective.time.end && begin - collective.time.end <= view.dispatch;
  if (!launched || !follows) { return 0; }
  Time ready = *launched;
  std::uint32_t before = view.before[next];
  // On the collective's own stream the collective itself stands before it.
  while (before != kNone && view.trace.rows.work[before] == Work::communication) { before = view.before[before]; }
  if (before != kNone) { ready = std::max(ready, view.trace.rows.end[before]); }
  return ready < collective.time.end ? overlap(exposure.time, {ready, collective.time.end}) : 0;
}

/// How much of an exposure each cause could account for.
using Shares = std::array<std::pair<Cause, Time>, 8>;

/// The next kernel was launched in time and begins soon, and the collective goes on beside it: no peer and no order would change
/// that.
bool between_kernels(const RankView& view, const Exposure& exposure) {
  if (!exposure.next || view.trace.rows.begin[*exposure.next] != exposure.time.end) { return false; }
  const std::optional<Time> launched = view.trace.launched(*exposure.next);
  return exposure.time.end < view.collectives[exposure.collective].time.end && exposure.time.length() <= view.dispatch &&
         launched && *launched <= exposure.time.begin;
}

/// How long a collective could have run that queues behind the exposed one and holds up what runs next.
Time queue_behind(const RankView& view, const Exposure& exposure) {
  if (!exposure.next) { return 0; }
  const std::size_t last = last_queued_behind(view, exposure.collective);
  const Collective& queued = view.collectives[last];
  const Time next = view.trace.rows.begin[*exposure.next];
  if (last == exposure.collective || next < queued.time.end || next - queued.time.end > view.dispatch) { return 0; }
  const Time ready = queued.time.begin - delay_of(view, last).by_collective;
  return overlap(exposure.time, {ready, exposure.time.end});
}

/// How much longer it ran beside computation than at the greatest clock, were it as much slower as the clock was.
Time lost_to_power(const RankView& view, const Collective& collective) {
  const Time beside = length_within(view.compute, collective.time);
  return static_cast<Time>(static_cast<double>(beside) * below_most_clock(view.trace, collective.time));
}

Shares shares_of(const RankView& view, const Exposure& exposure, const Split& split) {
  const Collective& collective = view.collectives[exposure.collective];
  const Time begin = collective.time.begin;
  const Time waited = view.waiting[exposure.collective].value_or(0);
  const std::optional<Time> launched = exposure.next ? view.trace.launched(*exposure.next) : std::nullopt;
  const Time host = launched ? overlap(exposure.time, {exposure.time.begin, std::max(*launched, exposure.time.begin)}) : 0;
  // Only what is exposed at the collective's end would have been hidden, had it begun earlier.
  const bool tail = exposure.time.end == collective.time.end;
  const Delay delay = tail ? delay_of(view, exposure.collective) : Delay();
  const Time most = exposure.time.length();
  const Time order = exposure.blocking;
  // Where a step has more to communicate than to compute, no order hides all of it.
  const bool too_long = split.communication - split.compute > split.exposed / 2;
  const Time copies = length_within(view.copies, exposure.time);
  const bool gap = 2 * copies < most && between_kernels(view, exposure);
  return {{{Cause::kernel_gaps, gap ? most : 0},
           {Cause::late_peer, overlap(exposure.time, {begin, begin + waited})},
           {Cause::late_host, host},
           {Cause::lost_race, std::min(delay.by_compute, most)},
           {Cause::shared_stream, std::min(std::max(delay.by_collective, tail ? queue_behind(view, exposure) : 0), most)},
           {Cause::power, tail ? std::min(lost_to_power(view, collective), most) : 0},
           {too_long ? Cause::link : Cause::program_order, order},
           {Cause::copies, copies}}};
}

}  // namespace

std::string_view to_string(Cause cause) {
  switch (cause) {
    case Cause::program_order:
      return "program_order";
    case Cause::shared_stream:
      return "shared_stream";
    case Cause::lost_race:
      return "lost_race";
    case Cause::late_peer:
      return "late_peer";
    case Cause::late_host:
      return "late_host";
    case Cause::link:
      return "link";
    case Cause::kernel_gaps:
      return "kernel_gaps";
    case Cause::copies:
      return "copies";
    case Cause::power:
      return "power";
    case Cause::unknown:
      break;
  }
  return "unknown";
}

std::vector<Exposure> exposures_of(const RankView& view, Interval step, const Split& split) {
  std::vector<Exposure> result = cut(view, step);
  for (Exposure& exposure : result) {
    exposure.next = view.work_from(exposure.time.end);  // maybe the next step's first
    exposure.blocking = blocking_of(view, exposure);
    const Shares shares = shares_of(view, exposure, split);
    const Time length = exposure.time.length();
    for (const auto& [cause, time] : shares) {
      // The first cause that accounts for half of it; those that stand first leave nothing for the others to win.
      if (2 * time >= length) {
        exposure.cause = cause;
        exposure.by_cause = time;
        break;
      }
    }
  }
  return result;
}

}  // namespace elbowroom::explain
