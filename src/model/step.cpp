#include "elbowroom/model/step.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "model/communicator_table.hpp"
#include "model/work_sharing.hpp"

namespace elbowroom {
namespace {

/// Ranks between two neighbours along the axis.
int stride_of(const Step& step, int axis) {
  int stride = 1;
  for (std::size_t later = static_cast<std::size_t>(axis) + 1; later < step.mesh.size(); ++later) {
    stride *= step.mesh[later].size;
  }
  return stride;
}

const Group& group_of(const Step& step, int index) { return step.groups[static_cast<std::size_t>(index)]; }

bool takes_place_at(const Step& step, const Operation& operation, int rank) {
  for (const Coordinate& coordinate : operation.at) {
    const int size = step.mesh[static_cast<std::size_t>(coordinate.axis)].size;
    if (rank / stride_of(step, coordinate.axis) % size != coordinate.at) { return false; }
  }
  if (!operation.at_group) { return true; }
  const std::vector<int>& ranks = group_of(step, *operation.at_group).ranks;
  return std::ranges::find(ranks, rank) != ranks.end();
}

/// The communicators before any restriction.
std::vector<std::vector<int>> all_communicators(const Step& step, const Operation& operation) {
  if (operation.group) { return {group_of(step, *operation.group).ranks}; }
  std::vector<int> all(static_cast<std::size_t>(step.ranks));
  std::iota(all.begin(), all.end(), 0);
  if (operation.along.empty() || computes(operation)) { return {all}; }
  // Ranks that differ along no other axis: the first of each communicator has coordinate 0 along its axes.
  std::vector<std::vector<int>> made;
  std::vector<std::size_t> of_first(static_cast<std::size_t>(step.ranks));
  for (const int rank : all) {
    int first = rank;
    for (const int axis : operation.along) {
      const int stride = stride_of(step, axis);
      first -= rank / stride % step.mesh[static_cast<std::size_t>(axis)].size * stride;
    }
    if (first == rank) {
      of_first[static_cast<std::size_t>(rank)] = made.size();
      made.emplace_back();
    }
    made[of_first[static_cast<std::size_t>(first)]].push_back(rank);
  }
  return made;
}

Bytes memory_of(const Step& step, const Operation& operation) {
  if (const auto* compute = std::get_if<Compute>(&operation.what)) { return memory_of(*compute); }
  const std::optional<Communication> communication = communication_of(step, operation);
  if (!communication) { return Bytes(0); }
  const BufferSizes sizes = buffer_sizes(communication->collective, communication->ranks);
  return sizes.send + sizes.recv;
}

}  // namespace

bool shares_memory(const Operation& one, const Operation& other) {
  return one.what == other.what && one.along == other.along && one.group == other.group && one.at == other.at &&
         one.at_group == other.at_group;
}

bool computes(const Operation& operation) {
  return std::holds_alternative<Compute>(operation.what) || std::holds_alternative<RecordedKernel>(operation.what);
}

std::string_view lane_of(const Operation& operation) {
  if (operation.lane) { return *operation.lane; }
  return computes(operation) ? "compute" : "comm";
}

Step step_of(const Scenario& scenario) {
  Step step;
  step.name = scenario.name;
  step.ranks = scenario.gpus;
  step.repeats = scenario.iterations;
  Operation compute;
  compute.name = kernel_name(scenario.compute);
  compute.what = scenario.compute;
  Operation collective;
  collective.name = to_string(scenario.collective.op);
  collective.what = scenario.collective;
  if (scenario.pattern == Pattern::pipeline) { collective.after = {{0, false}}; }
  step.operations = {std::move(compute), std::move(collective)};
  return step;
}

Result<std::vector<int>> in_order(const Step& step) {
  const int count = static_cast<int>(step.operations.size());
  std::vector<int> order;
  std::vector<bool> placed(step.operations.size());
  const auto ready = [&](int at) {
    const std::vector<Dependency>& after = step.operations[static_cast<std::size_t>(at)].after;
    return std::ranges::all_of(
        after, [&](const Dependency& before) { return before.of_previous || placed[static_cast<std::size_t>(before.operation)]; });
  };
  // Most steps are written in order, so that one pass does.
  for (bool moved = true; moved;) {
    moved = false;
    for (int at = 0; at < count; ++at) {
      if (placed[static_cast<std::size_t>(at)] || !ready(at)) { continue; }
      placed[static_cast<std::size_t>(at)] = true;
      order.push_back(at);
      moved = true;
    }
  }
  const auto left = std::ranges::find(placed, false);
  if (left == placed.end()) { return order; }
  const auto at = static_cast<std::size_t>(left - placed.begin());
  return invalid_input(
      fmt::format("operations[{}].after: \"{}\" waits for itself by way of others, expected an order without circles", at,
                  step.operations[at].name));
}

std::vector<std::vector<int>> communicators_of(const Step& step, const Operation& operation) {
  std::vector<std::vector<int>> communicators = all_communicators(step, operation);
  for (std::vector<int>& ranks : communicators) {
    std::erase_if(ranks, [&](int rank) { return !takes_place_at(step, operation, rank); });
    const auto* transfer = std::get_if<SendRecv>(&operation.what);
    if (transfer == nullptr || ranks.empty()) { continue; }
    ranks = {ranks[static_cast<std::size_t>(transfer->from)], ranks[static_cast<std::size_t>(transfer->to)]};
  }
  std::erase_if(communicators, [](const std::vector<int>& ranks) { return ranks.empty(); });
  return communicators;
}

int communicator_size(const Step& step, const Operation& operation) {
  if (operation.group) { return static_cast<int>(group_of(step, *operation.group).ranks.size()); }
  if (operation.along.empty() && operation.at_group) { return static_cast<int>(group_of(step, *operation.at_group).ranks.size()); }
  int size = 1;
  if (!operation.along.empty()) {
    for (const int axis : operation.along) { size *= step.mesh[static_cast<std::size_t>(axis)].size; }
    return size;
  }
  size = step.ranks;
  for (const Coordinate& coordinate : operation.at) { size /= step.mesh[static_cast<std::size_t>(coordinate.axis)].size; }
  return size;
}

std::optional<Communication> communication_of(const Step& step, const Operation& operation) {
  if (const auto* collective = std::get_if<Collective>(&operation.what)) {
    return Communication{*collective, communicator_size(step, operation)};
  }
  const auto* transfer = std::get_if<SendRecv>(&operation.what);
  if (transfer == nullptr) { return std::nullopt; }
  // Its communicators are the sender and the receiver.
  Collective sent;
  sent.op = CollectiveOp::send_recv;
  sent.bytes = transfer->bytes;
  sent.dtype = transfer->dtype;
  return Communication{std::move(sent), 2};
}

Bytes memory_per_device(const Step& step) {
  const detail::CommunicatorTable table(step);
  std::vector<Bytes> of_entry(table.entries().size(), Bytes(0));
  const std::vector<int> first = detail::first_sharing_memory(step);
  for (std::size_t at = 0; at < first.size(); ++at) {
    if (first[at] == static_cast<int>(at)) { of_entry[table.entry_of(at)] += memory_of(step, step.operations[at]); }
  }
  std::vector<Bytes> sums(static_cast<std::size_t>(step.ranks), Bytes(0));
  for (std::size_t entry = 0; entry < of_entry.size(); ++entry) {
    for (const std::vector<int>& ranks : table.entries()[entry].of_ranks) {
      for (const int rank : ranks) { sums[static_cast<std::size_t>(rank)] += of_entry[entry]; }
    }
  }
  return *std::ranges::max_element(sums);
}

std::vector<int> ranks_of(const Step& step, const Operation& operation) {
  std::vector<int> ranks;
  for (const std::vector<int>& some : communicators_of(step, operation)) { ranks.insert(ranks.end(), some.begin(), some.end()); }
  std::ranges::sort(ranks);
  return ranks;
}

}  // namespace elbowroom
