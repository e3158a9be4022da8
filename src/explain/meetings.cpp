#include "explain/meetings.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <limits>
#include <map>
#include <string>
#include <tuple>

namespace elbowroom::explain {
namespace {

/// Collectives of one group on one rank, in their order.
using Sequence = std::vector<std::size_t>;

/// What most collectives of each stream do.
std::map<std::uint32_t, std::string> main_operations(const RankView& view) {
  std::map<std::uint32_t, std::map<std::string, std::size_t>> counts;
  for (const Collective& one : view.collectives) { ++counts[one.stream][one.op]; }
  std::map<std::uint32_t, std::string> result;
  for (const auto& [stream, of_stream] : counts) {
    const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
    result[stream] = std::max_element(of_stream.begin(), of_stream.end(), fewer)->first;
  }
  return result;
}

/// A group by its name and ranks. Where the trace names none, each stream of collectives is a group: by what it mostly does, then
/// in the order of first use. The order alone differs among ranks whose recordings begin in the middle of a step.
std::map<std::string, Sequence> groups_of(const RankView& view) {
  const std::map<std::uint32_t, std::string> operations = main_operations(view);
  std::map<std::uint32_t, std::size_t> ordinals;
  std::map<std::string, std::size_t> used;
  std::map<std::string, Sequence> groups;
  for (std::size_t i = 0; i < view.collectives.size(); ++i) {
    const Collective& one = view.collectives[i];
    const std::string& operation = operations.at(one.stream);
    const auto [ordinal, fresh] = ordinals.try_emplace(one.stream, used[operation]);
    if (fresh) { ++used[operation]; }
    groups[one.group.empty() ? operation + " " + std::to_string(ordinal->second) : one.group].push_back(i);
  }
  return groups;
}

bool alike(const Collective& a, const Collective& b) { return a.op == b.op; }

/// How well `other` fits where its first element meets the one at `shift` of `reference`.
struct Fit {
  std::size_t alike = 0;
  Time spread = std::numeric_limits<Time>::max();  ///< of the differences of ends
  Time apart = 0;                                  ///< the sum of these differences

  [[nodiscard]] bool better_than(const Fit& b) const { return std::tuple(b.alike, spread) < std::tuple(alike, b.spread); }
  /// On one clock participants end together, to a few microseconds.
  [[nodiscard]] bool nearer_than(const Fit& b) const {
    return alike > 0 && (b.alike == 0 || apart / static_cast<Time>(alike) < b.apart / static_cast<Time>(b.alike));
  }
};

struct Side {
  const RankView& view;
  const Sequence& sequence;
};

Fit fit(const Side& reference, const Side& other, std::ptrdiff_t shift) {
  Fit result;
  Time least = std::numeric_limits<Time>::max();
  Time most = std::numeric_limits<Time>::min();
  for (std::size_t i = 0; i < other.sequence.size(); ++i) {
    const std::ptrdiff_t at = shift + static_cast<std::ptrdiff_t>(i);
    if (at < 0 || at >= static_cast<std::ptrdiff_t>(reference.sequence.size())) { continue; }
    const Collective& a = reference.view.collectives[reference.sequence[static_cast<std::size_t>(at)]];
    const Collective& b = other.view.collectives[other.sequence[i]];
    if (!alike(a, b)) { continue; }
    ++result.alike;
    result.apart += std::abs(a.time.end - b.time.end);
    least = std::min(least, a.time.end - b.time.end);
    most = std::max(most, a.time.end - b.time.end);
  }
  if (result.alike > 0) { result.spread = most - least; }
  return result;
}

std::ptrdiff_t best_shift(const Side& reference, const Side& other) {
  std::ptrdiff_t best = 0;
  Fit most = fit(reference, other, 0);
  // Equal counts of equal collectives are the same ones; traces of one run differ by a few steps' collectives at most. Recorders
  // begin and end in the middle of a step, on each rank in another.
  const std::string& clock = reference.view.trace.clock;
  const bool one_clock = !clock.empty() && clock == other.view.trace.clock;
  if (clock.empty() && reference.sequence.size() == other.sequence.size() && most.alike == other.sequence.size()) { return 0; }
  constexpr std::ptrdiff_t kFarthest = 2000;
  const auto few = static_cast<std::ptrdiff_t>(std::min(other.sequence.size(), reference.sequence.size()));
  const std::ptrdiff_t from =
      -std::min(static_cast<std::ptrdiff_t>(other.sequence.size()) - 1, std::max<std::ptrdiff_t>(kFarthest - few, 1));
  const std::ptrdiff_t to = std::min(static_cast<std::ptrdiff_t>(reference.sequence.size()) - 1, kFarthest);
  for (std::ptrdiff_t shift = from; shift <= to; ++shift) {
    const Fit one = fit(reference, other, shift);
    if (one_clock ? one.nearer_than(most) : one.better_than(most)) {
      most = one;
      best = shift;
    }
  }
  return best;
}

/// A key for each element: equal keys of different ranks are one collective.
std::vector<std::ptrdiff_t> keys_of(const Side& reference, const Side& other) {
  const auto numbered = [](const Side& side) {
    return std::all_of(side.sequence.begin(), side.sequence.end(),
                       [&](std::size_t i) { return side.view.collectives[i].sequence.has_value(); });
  };
  std::vector<std::ptrdiff_t> keys;
  if (numbered(reference) && numbered(other)) {
    for (const std::size_t i : other.sequence) { keys.push_back(static_cast<std::ptrdiff_t>(*other.view.collectives[i].sequence)); }
    return keys;
  }
  const std::ptrdiff_t shift = best_shift(reference, other);
  for (std::size_t i = 0; i < other.sequence.size(); ++i) { keys.push_back(shift + static_cast<std::ptrdiff_t>(i)); }
  return keys;
}

void judge(Meeting& meeting, const std::vector<RankView>& ranks) {
  std::vector<Time> lengths;
  lengths.reserve(meeting.participants.size());
  for (const Participant& one : meeting.participants) {
    lengths.push_back(ranks[one.rank].collectives[one.collective].time.length());
  }
  const auto shortest = std::min_element(lengths.begin(), lengths.end());
  meeting.transfer = *shortest;
  meeting.last = meeting.participants[static_cast<std::size_t>(shortest - lengths.begin())].rank;
  lengths.erase(shortest);
  std::sort(lengths.begin(), lengths.end());
  meeting.waited = lengths[lengths.size() / 2] - meeting.transfer;
}

}  // namespace

std::vector<Meeting> meet(const std::vector<RankView>& ranks) {
  std::vector<std::map<std::string, Sequence>> groups;
  std::map<std::string, std::size_t> longest;  // the rank whose traces has most of a group
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    groups.push_back(groups_of(ranks[rank]));
    for (const auto& [name, sequence] : groups.back()) {
      const auto [found, fresh] = longest.try_emplace(name, rank);
      if (!fresh && groups[found->second].at(name).size() < sequence.size()) { found->second = rank; }
    }
  }
  std::vector<Meeting> result;
  for (const auto& [name, reference] : longest) {
    std::map<std::pair<std::ptrdiff_t, std::string>, Meeting> meetings;  // ranks that do different things do not meet
    for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
      const auto own = groups[rank].find(name);
      if (own == groups[rank].end()) { continue; }
      const std::vector<std::ptrdiff_t> keys = keys_of({ranks[reference], groups[reference].at(name)}, {ranks[rank], own->second});
      for (std::size_t i = 0; i < keys.size(); ++i) {
        const std::size_t collective = own->second[i];
        auto& participants = meetings[{keys[i], ranks[rank].collectives[collective].op}].participants;
        if (participants.empty() || participants.back().rank != rank) { participants.push_back({rank, collective}); }
      }
    }
    for (auto& [key, meeting] : meetings) {
      if (meeting.participants.size() < 2) { continue; }
      judge(meeting, ranks);
      result.push_back(std::move(meeting));
    }
  }
  return result;
}

void add_waiting(const std::vector<Meeting>& meetings, std::vector<RankView>& ranks) {
  for (const Meeting& meeting : meetings) {
    for (const Participant& one : meeting.participants) {
      RankView& view = ranks[one.rank];
      view.waiting[one.collective] = view.collectives[one.collective].time.length() - meeting.transfer;
    }
  }
}

}  // namespace elbowroom::explain
