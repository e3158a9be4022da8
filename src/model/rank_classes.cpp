#include "elbowroom/model/rank_classes.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "model/communicator_table.hpp"

namespace elbowroom {
namespace {

using Communicators = std::vector<std::vector<int>>;

template <class Value>
void sort_once(std::vector<Value>& values) {
  std::ranges::sort(values);
  const auto rest = std::ranges::unique(values);
  values.erase(rest.begin(), rest.end());
}

std::vector<int> classes_among(const std::vector<int>& ranks, const std::vector<int>& of_rank) {
  std::vector<int> classes;
  classes.reserve(ranks.size());
  for (const int rank : ranks) { classes.push_back(of_rank[static_cast<std::size_t>(rank)]); }
  sort_once(classes);
  return classes;
}

/// Numbers what ranks have, equal where it is equal, in the order of first ranks.
std::vector<int> numbered(const std::vector<std::vector<int>>& of_rank) {
  std::map<std::vector<int>, int> numbers;
  std::vector<int> made;
  made.reserve(of_rank.size());
  for (const std::vector<int>& what : of_rank) {
    made.push_back(numbers.emplace(what, static_cast<int>(numbers.size())).first->second);
  }
  return made;
}

int count_of(const std::vector<int>& numbers) { return *std::ranges::max_element(numbers) + 1; }

/// Told apart by the classes that each communicator joins, too.
std::vector<int> told_apart(const std::vector<int>& classes, const std::vector<const Communicators*>& all) {
  std::vector<std::vector<int>> seen;
  seen.reserve(classes.size());
  for (const int one : classes) { seen.push_back({one}); }
  std::map<std::vector<int>, int> meetings;
  for (const Communicators* communicators : all) {
    for (const std::vector<int>& ranks : *communicators) {
      const int met = meetings.emplace(classes_among(ranks, classes), static_cast<int>(meetings.size())).first->second;
      for (const int rank : ranks) { seen[static_cast<std::size_t>(rank)].push_back(met); }
    }
  }
  return numbered(seen);
}

}  // namespace

RankClasses rank_classes(const Step& step, const std::vector<std::vector<int>>& apart) {
  const detail::CommunicatorTable table(step);
  const auto computing = [&](const detail::CommunicatorTable::Entry& entry) { return computes(step.operations[entry.first]); };
  std::vector<std::vector<int>> runs(static_cast<std::size_t>(step.ranks));
  std::vector<const Communicators*> joining;
  for (std::size_t at = 0; at < table.entries().size(); ++at) {
    const detail::CommunicatorTable::Entry& entry = table.entries()[at];
    for (const std::vector<int>& ranks : entry.of_ranks) {
      for (const int rank : ranks) { runs[static_cast<std::size_t>(rank)].push_back(static_cast<int>(at)); }
    }
    if (!computing(entry)) { joining.push_back(&entry.of_ranks); }
  }
  // Numbers of no operation.
  for (std::size_t at = 0; at < apart.size(); ++at) {
    for (const int rank : apart[at]) { runs[static_cast<std::size_t>(rank)].push_back(-1 - static_cast<int>(at)); }
  }
  RankClasses classes;
  classes.of_rank = numbered(runs);
  for (classes.count = 0; classes.count < count_of(classes.of_rank);) {
    classes.count = count_of(classes.of_rank);
    classes.of_rank = told_apart(classes.of_rank, joining);
  }
  std::vector<std::vector<std::vector<int>>> of_entry;
  for (const detail::CommunicatorTable::Entry& entry : table.entries()) {
    std::vector<std::vector<int>> together;
    for (const std::vector<int>& ranks : entry.of_ranks) {
      const std::vector<int> some = classes_among(ranks, classes.of_rank);
      if (!computing(entry)) {
        together.push_back(some);
        continue;
      }
      for (const int one : some) { together.push_back({one}); }
    }
    sort_once(together);
    of_entry.push_back(std::move(together));
  }
  for (std::size_t at = 0; at < step.operations.size(); ++at) { classes.of_operation.push_back(of_entry[table.entry_of(at)]); }
  return classes;
}

}  // namespace elbowroom
