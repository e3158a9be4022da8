#include "backend_sim/hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "model/communicator_table.hpp"

namespace elbowroom::sim {
namespace {

using Communicators = std::vector<std::vector<int>>;

bool crosses(const std::vector<int>& ranks, int host) {
  const auto [first, last] = std::ranges::minmax(ranks);
  return first / host != last / host;
}

std::optional<RingPlace> place_of(const Communicators& all, int host) {
  std::map<int, int> leaving;  // communicators that leave a host
  RingPlace place;
  for (const std::vector<int>& ranks : all) {
    if (!crosses(ranks, host)) { continue; }
    std::map<int, int> on_host;
    for (const int rank : ranks) { ++on_host[rank / host]; }
    for (const auto& [where, count] : on_host) {
      place.per_host = std::max(place.per_host, count);
      place.rings_of_host = std::max(place.rings_of_host, ++leaving[where]);
    }
    place.ranks = std::max(place.ranks, static_cast<int>(ranks.size()));
  }
  return leaving.empty() ? std::nullopt : std::optional(place);
}

}  // namespace

std::vector<std::optional<RingPlace>> places_of(const Step& step, int host) {
  std::vector<std::optional<RingPlace>> places(step.operations.size());
  if (step.ranks <= host) { return places; }
  const detail::CommunicatorTable table(step);
  std::vector<std::optional<RingPlace>> of_entry;
  for (const detail::CommunicatorTable::Entry& entry : table.entries()) {
    of_entry.push_back(computes(step.operations[entry.first]) ? std::nullopt : place_of(entry.of_ranks, host));
  }
  for (std::size_t at = 0; at < places.size(); ++at) {
    if (!computes(step.operations[at])) { places[at] = of_entry[table.entry_of(at)]; }
  }
  return places;
}

Status within_hosts(const Step& step, int host, const std::optional<MachineSpec>& machine) {
  if (step.ranks <= host || (machine && machine->rails.count > 0)) { return {}; }
  const detail::CommunicatorTable table(step);
  for (const auto& [at, of_ranks] : table.entries()) {
    const Operation& operation = step.operations[at];
    if (computes(operation)) { continue; }
    for (const std::vector<int>& ranks : of_ranks) {
      if (!crosses(ranks, host)) { continue; }
      const auto [first, last] = std::ranges::minmax(ranks);
      return invalid_input(
          fmt::format("{}: joins ranks {} and {}, expected ranks of one host of {} GPUs (nothing joins hosts of such "
                      "devices; --machine names some that are joined)",
                      operation.name, first, last, host));
    }
  }
  return {};
}

}  // namespace elbowroom::sim
