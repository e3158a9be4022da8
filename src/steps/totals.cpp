#include "elbowroom/steps/totals.hpp"

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "model/communicator_table.hpp"

namespace elbowroom {
namespace {

void add(const Compute& compute, StepTotals& totals) {
  totals.gemm_flop += flop_of(compute);
  if (const auto* elementwise = std::get_if<Elementwise>(&compute)) { totals.elementwise += elementwise->bytes; }
}

std::string axes_of(const Step& step, const Operation& operation) {
  if (operation.group) { return step.groups[static_cast<std::size_t>(*operation.group)].name; }
  std::string names;
  for (const int axis : operation.along) { names += (names.empty() ? "" : "+") + step.mesh[static_cast<std::size_t>(axis)].name; }
  return names.empty() ? "all" : names;
}

}  // namespace

StepTotals totals_of(const Step& step, int rank) {
  StepTotals totals;
  const std::vector<bool> has_part = detail::CommunicatorTable(step).has_part(rank);
  for (std::size_t at = 0; at < has_part.size(); ++at) {
    if (!has_part[at]) { continue; }
    const Operation& operation = step.operations[at];
    ++totals.operations;
    if (const auto* compute = std::get_if<Compute>(&operation.what)) { add(*compute, totals); }
    const auto count = [&](std::string_view what, Bytes bytes) {
      CommTotal& total = totals.comm[std::string(what) + " " + axes_of(step, operation)];
      ++total.operations;
      total.bytes += bytes;
    };
    if (const auto* collective = std::get_if<Collective>(&operation.what)) { count(to_string(collective->op), collective->bytes); }
    if (const auto* transfer = std::get_if<SendRecv>(&operation.what)) { count("send_recv", transfer->bytes); }
  }
  return totals;
}

}  // namespace elbowroom
