#include "model/communicator_table.hpp"

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

}  // namespace elbowroom::detail
