#include "backend_sim/hosts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "model/communicator_table.hpp"

namespace elbowroom::sim {

Status within_hosts(const Step& step, int host) {
  if (step.ranks <= host) { return {}; }
  const detail::CommunicatorTable table(step);
  for (const auto& [at, of_ranks] : table.entries()) {
    const Operation& operation = step.operations[at];
    if (computes(operation)) { continue; }
    for (const std::vector<int>& ranks : of_ranks) {
      const auto [first, last] = std::ranges::minmax(ranks);
      if (first / host == last / host) { continue; }
      return invalid_input(
          fmt::format("{}: joins ranks {} and {}, expected ranks of one host of {} GPUs (no network between hosts is simulated)",
                      operation.name, first, last, host));
    }
  }
  return {};
}

}  // namespace elbowroom::sim
