#include "explain/causes.hpp"

#include <algorithm>

namespace elbowroom::explain {

std::vector<CauseSum> causes_of(const Explanation& explanation) {
  std::vector<CauseSum> sums;
  for (const Cost& cost : explanation.costs) {
    auto found = std::find_if(sums.begin(), sums.end(), [&](const CauseSum& sum) { return sum.cause == cost.cause; });
    if (found == sums.end()) { found = sums.insert(found, CauseSum{cost.cause, 0, 0, {}}); }
    found->us += cost.us;
    found->count += cost.count;
    found->costs.push_back(&cost);
  }
  std::stable_sort(sums.begin(), sums.end(), [](const CauseSum& a, const CauseSum& b) { return a.us > b.us; });
  return sums;
}

std::string_view in_words(Cause cause) {
  switch (cause) {
    case Cause::program_order:
      return "the program waits for it";
    case Cause::shared_stream:
      return "it queues behind another collective of its communicator";
    case Cause::lost_race:
      return "computation was dispatched first and took the SMs";
    case Cause::late_peer:
      return "it waits for a rank that comes late";
    case Cause::late_host:
      return "the host launches what computes next too late";
    case Cause::link:
      return "it takes longer than all computation that could hide it";
    case Cause::kernel_gaps:
      return "kernels follow each other with short gaps while it runs";
    case Cause::copies:
      return "copies or memory sets run, and no kernel";
    case Cause::power:
      return "clocks fell at the power limit";
    case Cause::unknown:
      break;
  }
  return "the trace does not tell why";
}

}  // namespace elbowroom::explain
