#include "model/communicator_table.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace elbowroom::detail {
namespace {

/// What communicators_of() follows from, and whether the operation computes.
auto who_runs(const Operation& operation) {
  std::vector<std::pair<int, int>> at;
  at.reserve(operation.at.size());
  for (const Coordinate& coordinate : operation.at) { at.emplace_back(coordinate.axis, coordinate.at); }
  const auto* transfer = std::get_if<SendRecv>(&operation.what);
  const std::pair<int, int> ends = transfer == nullptr ? std::pair(-1, -1) : std::pair(transfer->from, transfer->to);
  return std::tuple(computes(operation), operation.along, operation.group, std::move(at), operation.at_group, ends);
}

}  // namespace

CommunicatorTable::CommunicatorTable(const Step& step) {
  std::map<decltype(who_runs(Operation())), std::size_t> known;
  for (std::size_t at = 0; at < step.operations.size(); ++at) {
    const Operation& operation = step.operations[at];
    const auto [found, added] = known.try_emplace(who_runs(operation), entries_.size());
    if (added) { entries_.push_back({at, communicators_of(step, operation)}); }
    of_operation_.push_back(found->second);
  }
}

std::vector<bool> CommunicatorTable::has_part(int rank) const {
  std::vector<bool> of_entry;
  of_entry.reserve(entries_.size());
  for (const Entry& entry : entries_) {
    of_entry.push_back(std::ranges::any_of(
        entry.of_ranks, [&](const std::vector<int>& ranks) { return std::ranges::find(ranks, rank) != ranks.end(); }));
  }
  std::vector<bool> has;
  has.reserve(of_operation_.size());
  for (const std::size_t entry : of_operation_) { has.push_back(of_entry[entry]); }
  return has;
}

}  // namespace elbowroom::detail
