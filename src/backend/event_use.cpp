#include "backend/event_use.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "elbowroom/plan/launch_settings.hpp"
#include "elbowroom/plan/program.hpp"

namespace elbowroom::detail {
namespace {

/// By launch the last one that waits for its end, or its begin; absent: none does.
std::vector<std::optional<int>> last_waits(const Program& program, std::vector<int> Launch::* edges) {
  std::vector<std::optional<int>> last(program.launches.size());
  for (std::size_t at = 0; at < program.launches.size(); ++at) {
    for (const int before : program.launches[at].*edges) { last[static_cast<std::size_t>(before)] = static_cast<int>(at); }
  }
  return last;
}

/// By launch its event, from `first` on; absent: it needs none. One is free again when the last launch that waits for it is
/// enqueued.
std::vector<std::optional<int>> shared_events(const std::vector<std::optional<int>>& last_waits, int first, int& events) {
  std::vector<std::optional<int>> taken(last_waits.size());
  std::set<int> free;
  std::multimap<int, int> busy;  // by the launch until which it is
  for (std::size_t at = 0; at < last_waits.size(); ++at) {
    const auto done = busy.equal_range(static_cast<int>(at));
    for (auto event = done.first; event != done.second; ++event) { free.insert(event->second); }
    busy.erase(done.first, done.second);
    if (!last_waits[at]) { continue; }
    const int event = free.empty() ? first + events++ : free.extract(free.begin()).value();
    taken[at] = event;
    busy.emplace(*last_waits[at], event);
  }
  return taken;
}

}  // namespace

EventUse event_use(const Program& program) {
  EventUse use;
  int ended = 0;
  int begun = 0;
  use.ended = shared_events(last_waits(program, &Launch::after), 0, ended);
  // Events of begins are of their own: they are recorded in another way.
  use.begun = shared_events(last_waits(program, &Launch::after_begun), ended, begun);
  use.events = ended + begun;
  return use;
}

Program kinds_of(const Program& program) {
  const std::vector<std::optional<int>> begun = last_waits(program, &Launch::after_begun);
  Program kinds;
  kinds.lanes = program.lanes;
  std::set<std::tuple<int, int, bool, LaunchSettings>> known;
  std::map<int, int> number_of;  // among the kinds
  for (std::size_t at = 0; at < program.launches.size(); ++at) {
    Launch launch = program.launches[at];
    if (!known.emplace(launch.operation, launch.lane, begun[at].has_value(), launch.settings).second) { continue; }
    for (std::vector<int>* edges : {&launch.after, &launch.after_begun}) {
      std::erase_if(*edges, [&](int before) { return !number_of.contains(before); });
      for (int& before : *edges) { before = number_of.at(before); }
    }
    number_of.emplace(static_cast<int>(at), static_cast<int>(kinds.launches.size()));
    kinds.launches.push_back(std::move(launch));
  }
  return kinds;
}

}  // namespace elbowroom::detail
