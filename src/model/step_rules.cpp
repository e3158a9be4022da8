// The rules of steps that hold on every device.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/most_ranks.hpp"
#include "elbowroom/model/step.hpp"
#include "model/step_limits.hpp"
#include "model/work_rules.hpp"

namespace elbowroom {
namespace {

using namespace detail;  // the limits

Error out_of_range(const std::string& field, double value, std::string_view expected) {
  return invalid_input(fmt::format("{}: {}, expected {}", field, value, expected));
}

template <class Number>
bool within(Number value, std::int64_t least, std::int64_t greatest) {
  return static_cast<std::int64_t>(value) >= least && static_cast<std::int64_t>(value) <= greatest;
}

bool counts_up_to(int index, std::size_t size) { return index >= 0 && static_cast<std::size_t>(index) < size; }

/// Non-empty, on one line, and used once.
Status new_name(const std::string& name, const std::string& field, std::set<std::string>& known) {
  if (Status named = validate_name(name, field); !named) { return named; }
  return known.insert(name).second ? Status()
                                   : invalid_input(fmt::format("{}: \"{}\" twice, expected each name once", field, name));
}

Status check_ranks(const Step& step) {
  std::set<std::string> names;
  std::int64_t product = 1;
  for (const MeshAxis& axis : step.mesh) {
    if (Status named = new_name(axis.name, "mesh", names); !named) { return named; }
    if (!within(axis.size, 1, kMostRanks)) {
      return out_of_range("mesh." + axis.name, axis.size, fmt::format("1 to {}", kMostRanks));
    }
    product *= axis.size;
    if (product > kMostRanks) {
      return out_of_range("mesh", static_cast<double>(product), fmt::format("at most {} ranks in all", kMostRanks));
    }
  }
  if (!within(step.ranks, 1, kMostRanks)) { return out_of_range("ranks", step.ranks, fmt::format("1 to {}", kMostRanks)); }
  if (!step.mesh.empty() && product != step.ranks) {
    return out_of_range("ranks", step.ranks, fmt::format("{} (product of the mesh)", product));
  }
  if (!step.mesh.empty() && !step.groups.empty()) { return invalid_input("groups: given with mesh, expected one of the two"); }
  for (const Group& group : step.groups) {
    if (Status named = new_name(group.name, "groups", names); !named) { return named; }
    std::set<int> members;
    for (const int rank : group.ranks) {
      if (within(rank, 0, step.ranks - 1) && members.insert(rank).second) { continue; }
      return out_of_range("groups." + group.name, rank, fmt::format("different ranks from 0 to {}", step.ranks - 1));
    }
    if (members.empty()) { return invalid_input(fmt::format("groups.{}: no ranks, expected at least one", group.name)); }
  }
  return {};
}

Status check_recorded(const RecordedKernel& kernel) {
  if (Status named = validate_name(kernel.name, "compute.name"); !named) { return named; }
  if (kernel.times.empty()) { return invalid_input("compute.us: no times, expected at least one"); }
  for (const Microseconds time : kernel.times) {
    if (!(time.count() > 0 && time.count() <= kLongestTime)) {
      return out_of_range("compute.us", time.count(), "more than 0 and at most 1e12");
    }
  }
  if (!within(kernel.blocks.count(), 1, kMostBlocks)) {
    return out_of_range("compute.blocks", static_cast<double>(kernel.blocks.count()), fmt::format("1 to {}", kMostBlocks));
  }
  if (kernel.threads && !within(kernel.threads->count(), 1, 1'024)) {
    return out_of_range("compute.footprint.threads", static_cast<double>(kernel.threads->count()), "1 to 1024");
  }
  if (kernel.registers_per_thread && !within(kernel.registers_per_thread->count(), 0, 512)) {
    return out_of_range("compute.footprint.registers", static_cast<double>(kernel.registers_per_thread->count()), "0 to 512");
  }
  for (const auto& [field, bytes] : {std::pair{"compute.footprint.static_shared", kernel.static_shared},
                                     {"compute.footprint.dynamic_shared", kernel.dynamic_shared}}) {
    if (bytes && !within(bytes->count(), 0, kMostShared)) {
      return out_of_range(field, static_cast<double>(bytes->count()), fmt::format("0 to {}", kMostShared));
    }
  }
  if (kernel.cluster && !within(*kernel.cluster, 1, 16)) {
    return out_of_range("compute.footprint.cluster", *kernel.cluster, "1 to 16");
  }
  return {};
}

Status check_transfer(const Step& step, const Operation& operation, const SendRecv& transfer) {
  const std::int64_t element = size_of(transfer.dtype).count();
  if (transfer.bytes <= Bytes(0) || transfer.bytes > kLargestTransfer || transfer.bytes.count() % element != 0) {
    const std::int64_t next = (transfer.bytes.count() / element + 1) * element;
    const bool has_next = transfer.bytes > Bytes(0) && Bytes(next) <= kLargestTransfer;
    return out_of_range(
        "send_recv.bytes", static_cast<double>(transfer.bytes.count()),
        fmt::format("a multiple of {} up to 16 TiB{}", element, has_next ? fmt::format("; the next is {}", next) : ""));
  }
  if (operation.along.size() != 1 && !operation.group) {
    return invalid_input("group: missing, expected one axis or group along which is sent");
  }
  const int size = communicator_size(step, operation);
  for (const auto& [field, at] : {std::pair{"from", transfer.from}, {"to", transfer.to}}) {
    if (!within(at, 0, size - 1)) { return out_of_range(field, at, fmt::format("0 to {}", size - 1)); }
  }
  return transfer.from != transfer.to ? Status() : Status(out_of_range("to", transfer.to, "another one than from"));
}

/// Who takes part.
Status check_who_runs(const Step& step, const Operation& operation) {
  std::set<int> axes;
  for (const int axis : operation.along) {
    if (!counts_up_to(axis, step.mesh.size()) || !axes.insert(axis).second) {
      return out_of_range("group", axis, "different axes of the mesh");
    }
  }
  for (const Coordinate& coordinate : operation.at) {
    if (!counts_up_to(coordinate.axis, step.mesh.size()) || !axes.insert(coordinate.axis).second) {
      return out_of_range("at", coordinate.axis, "axes of the mesh that are not among the group's");
    }
    const MeshAxis& axis = step.mesh[static_cast<std::size_t>(coordinate.axis)];
    if (!within(coordinate.at, 0, axis.size - 1)) {
      return out_of_range("at." + axis.name, coordinate.at, fmt::format("0 to {}", axis.size - 1));
    }
  }
  for (const std::optional<int>& group : {operation.group, operation.at_group}) {
    if (group && !counts_up_to(*group, step.groups.size())) { return out_of_range("group", *group, "a group of the step"); }
  }
  const bool shares = !operation.along.empty() || operation.group;
  if (shares && computes(operation)) {
    return invalid_input("group: given, expected none (a computation communicates with nobody)");
  }
  if (operation.group && operation.at_group) { return invalid_input("at: given with a group, expected one of the two"); }
  return {};
}

Status check_work(const Step& step, const Operation& operation) {
  if (const auto* compute = std::get_if<Compute>(&operation.what)) { return validate(*compute); }
  if (const auto* recorded = std::get_if<RecordedKernel>(&operation.what)) { return check_recorded(*recorded); }
  const int size = communicator_size(step, operation);
  if (size < 2) { return out_of_range("group", size, "at least 2 ranks to communicate"); }
  if (const auto* collective = std::get_if<Collective>(&operation.what)) { return validate(*collective, size); }
  return check_transfer(step, operation, std::get<SendRecv>(operation.what));
}

bool of_all_ranks(const Operation& operation) {
  return operation.at.empty() && !operation.at_group && !operation.group && !std::holds_alternative<SendRecv>(operation.what);
}

/// All ranks there take part in both, whatever communicators they have.
bool at_one_place(const Operation& one, const Operation& other) {
  const auto sends = [](const Operation& operation) { return std::holds_alternative<SendRecv>(operation.what); };
  return one.at == other.at && one.at_group == other.at_group && one.group == other.group && !sends(one) && !sends(other);
}

/// Coordinates of its ranks along the axis; empty: all.
std::vector<int> places_along(const Operation& operation, int axis) {
  const auto* transfer = std::get_if<SendRecv>(&operation.what);
  if (transfer != nullptr && operation.along == std::vector{axis}) { return {transfer->from, transfer->to}; }
  const auto found = std::ranges::find(operation.at, axis, &Coordinate::axis);
  return found == operation.at.end() ? std::vector<int>() : std::vector{found->at};
}

bool share_a_place(const Operation& one, const Operation& other, int axis) {
  const std::vector<int> places = places_along(one, axis);
  const std::vector<int> others = places_along(other, axis);
  return places.empty() || others.empty() || std::ranges::find_first_of(places, others) != places.end();
}

bool share_a_rank(const Step& step, const Operation& one, const Operation& other) {
  if (of_all_ranks(one) || of_all_ranks(other) || at_one_place(one, other)) { return true; }
  if (!step.mesh.empty()) {
    for (int axis = 0; axis < static_cast<int>(step.mesh.size()); ++axis) {
      if (!share_a_place(one, other, axis)) { return false; }
    }
    return true;
  }
  const std::vector<int> ranks = ranks_of(step, one);
  return std::ranges::any_of(ranks_of(step, other), [&](int rank) { return std::ranges::binary_search(ranks, rank); });
}

Status check_waits(const Step& step, const Operation& operation) {
  for (const Dependency& before : operation.after) {
    if (!counts_up_to(before.operation, step.operations.size())) {
      return out_of_range("after", before.operation, "an operation of the step");
    }
    const Operation& other = step.operations[static_cast<std::size_t>(before.operation)];
    if (std::ranges::count(operation.after, before) > 1) {
      return invalid_input(fmt::format("after: \"{}\" twice, expected once", other.name));
    }
    if (share_a_rank(step, operation, other)) { continue; }
    return invalid_input(fmt::format(
        "after: \"{}\", expected an operation that shares a rank (ranks wait for others by communication alone)", other.name));
  }
  return {};
}

Status check_operation(const Step& step, const Operation& operation) {
  if (operation.name.find('@') != std::string::npos) {
    return invalid_input("name: has an @, expected none (name@-1 is of the repeat before)");
  }
  if (operation.lane) {
    if (Status named = validate_name(*operation.lane, "lane"); !named) { return named; }
  }
  const double gap = operation.host_gap.count();
  if (!(gap >= 0 && gap <= kLongestTime)) { return out_of_range("host_gap_us", gap, "0 to 1e12"); }
  if (Status placed = check_who_runs(step, operation); !placed) { return placed; }
  return check_work(step, operation);
}

Status at_operation(std::size_t at, const Status& status) {
  return status ? status : Status(invalid_input(fmt::format("operations[{}].{}", at, status.error().message)));
}

}  // namespace

Status validate(const Step& step) {
  if (Status named = validate_name(step.name, "name"); !named) { return named; }
  if (!within(step.repeats, 1, kMostRepeats)) {
    return out_of_range("repeats", step.repeats, fmt::format("1 to {}", kMostRepeats));
  }
  if (Status ranks = check_ranks(step); !ranks) { return ranks; }
  const std::size_t count = step.operations.size();
  if (count < 1 || count > kMostOperations) {
    return out_of_range("operations", static_cast<double>(count), fmt::format("1 to {} of them", kMostOperations));
  }
  if (count * static_cast<std::size_t>(step.repeats) > kMostLaunches) {
    return out_of_range("repeats", step.repeats, fmt::format("at most {} launches in all", kMostLaunches));
  }
  std::set<std::string> names;
  for (std::size_t at = 0; at < count; ++at) {
    const Operation& operation = step.operations[at];
    if (Status named = new_name(operation.name, fmt::format("operations[{}].name", at), names); !named) { return named; }
    if (Status can = at_operation(at, check_operation(step, operation)); !can) { return can; }
  }
  for (std::size_t at = 0; at < count; ++at) {
    if (Status waits = at_operation(at, check_waits(step, step.operations[at])); !waits) { return waits; }
  }
  const Result<std::vector<int>> order = in_order(step);
  return order ? Status() : Status(order.error());
}

}  // namespace elbowroom
