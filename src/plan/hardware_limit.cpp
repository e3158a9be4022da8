#include "elbowroom/plan/hardware_limit.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string>
#include <tuple>
#include <utility>
#include <variant>
#include <vector>

#include "elbowroom/model/collective_facts.hpp"
#include "elbowroom/model/rank_classes.hpp"
#include "plan/program_nodes.hpp"

namespace elbowroom {
namespace {

constexpr std::array kParts{DevicePart::sms, DevicePart::memory, DevicePart::link};
using PartTimes = std::array<Microseconds, kParts.size()>;

double bytes(Bytes amount) { return static_cast<double>(amount.count()); }
Microseconds at_rate(double work, const PartRate& rate) { return Microseconds(work / rate.best()); }

/// Of the units that do its products; other kernels have none that are counted.
const PartRate& rate_of(const DeviceRates& rates, const Compute& compute) {
  const auto type_of = [](const auto& kernel) {
    if constexpr (requires { kernel.k; }) { return kernel.dtype; }
    return DataType::f32;
  };
  constexpr std::array by_type{&DeviceRates::f32, &DeviceRates::bf16, &DeviceRates::f16, &DeviceRates::e4m3};
  return rates.*by_type[static_cast<std::size_t>(std::visit(type_of, compute))];
}

// Ranks that add what they receive send 2 (n - 1) / n of the buffer. A switch that adds takes all of it and a share of the sum.
double least_sent(const Collective& collective, int ranks, bool switch_adds) {
  const CollectiveFacts& facts = facts_of(collective.op);
  const double sent = facts.sent(collective, ranks);
  const RankData first = facts.data(collective, ranks, 0);
  if (!switch_adds || !facts.reduces || first.received != first.sent) { return sent; }
  return std::min(sent, bytes(collective.bytes) * (1.0 + 1.0 / ranks));
}

// What the rank with most to do reads and writes.
double most_moved(const Collective& collective, int ranks) {
  std::int64_t most = 0;
  for (int rank = 0; rank < ranks; ++rank) {
    const RankData data = facts_of(collective.op).data(collective, ranks, rank);
    most = std::max(most, data.sent + data.received);
  }
  return bytes(size_of(collective.dtype) * most);
}

struct WorkTimes {
  const DeviceRates& rates;
  int ranks;  // of one communicator

  PartTimes operator()(const Compute& compute) const {
    return {at_rate(flop_of(compute), rate_of(rates, compute)), at_rate(bytes(least_traffic_of(compute)), rates.memory),
            Microseconds(0)};
  }
  PartTimes operator()(const RecordedKernel& kernel) const {
    return {*std::min_element(kernel.times.begin(), kernel.times.end()), Microseconds(0), Microseconds(0)};
  }
  PartTimes operator()(const Collective& collective) const {
    return {Microseconds(0), at_rate(most_moved(collective, ranks), rates.memory),
            at_rate(least_sent(collective, ranks, rates.switch_adds), rates.link)};
  }
  PartTimes operator()(const SendRecv& message) const {
    return {Microseconds(0), at_rate(bytes(message.bytes), rates.memory), at_rate(bytes(message.bytes), rates.link)};
  }
};

std::vector<PartTimes> part_times(const Step& step, const DeviceRates& rates, std::span<const Microseconds> alone) {
  std::vector<PartTimes> all;
  for (const Operation& operation : step.operations) {
    PartTimes parts = std::visit(WorkTimes{rates, communicator_size(step, operation)}, operation.what);
    if (!alone.empty()) {
      for (Microseconds& part : parts) { part = std::min(part, alone[all.size()]); }
    }
    all.push_back(parts);
  }
  return all;
}

// An operation of a repeat on classes of ranks that run it together.
struct WorkNode {
  int operation = 0;
  std::vector<int> classes;
  std::vector<int> after;  // nodes that stand before it
};

// No stream orders operations that do not wait for each other.
std::vector<WorkNode> work_of(const Step& step, const std::vector<int>& order, const RankClasses& classes) {
  std::vector<WorkNode> nodes;
  using OfOperation = std::vector<std::vector<int>>;  // nodes of one repeat
  OfOperation previous(step.operations.size());
  for (int repeat = 0; repeat < step.repeats; ++repeat) {
    OfOperation current(step.operations.size());
    for (const int operation : order) {
      const auto at = static_cast<std::size_t>(operation);
      for (const std::vector<int>& together : classes.of_operation[at]) {
        WorkNode node{operation, together, {}};
        const auto wait_for = [&](const std::vector<int>& some) {
          std::ranges::copy_if(some, std::back_inserter(node.after), [&](int earlier) {
            return detail::share_class(nodes[static_cast<std::size_t>(earlier)].classes, together);
          });
        };
        wait_for(previous[at]);
        for (const Dependency& before : step.operations[at].after) {
          wait_for((before.of_previous ? previous : current)[static_cast<std::size_t>(before.operation)]);
        }
        current[at].push_back(static_cast<int>(nodes.size()));
        nodes.push_back(std::move(node));
      }
    }
    previous = std::move(current);
  }
  return nodes;
}

// Least times of each node: before it can begin, and after it has ended until the step has.
struct Surroundings {
  std::vector<Microseconds> before;
  std::vector<Microseconds> after;
  Microseconds longest{0};
};

Surroundings surroundings(const std::vector<WorkNode>& nodes, std::span<const Microseconds> least) {
  Surroundings all;
  all.before.assign(nodes.size(), Microseconds(0));
  all.after.assign(nodes.size(), Microseconds(0));
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    for (const int earlier : nodes[node].after) {
      const auto one = static_cast<std::size_t>(earlier);
      all.before[node] = std::max(all.before[node], all.before[one] + least[one]);
    }
    all.longest = std::max(all.longest, all.before[node] + least[node]);
  }
  for (std::size_t node = nodes.size(); node-- > 0;) {
    for (const int earlier : nodes[node].after) {
      const auto one = static_cast<std::size_t>(earlier);
      all.after[one] = std::max(all.after[one], all.after[node] + least[node]);
    }
  }
  return all;
}

// One part of one rank: all of its work, and the least time on either side of it.
struct PartLoad {
  Microseconds busy{0};
  Microseconds before = Microseconds::max();
  Microseconds after = Microseconds::max();

  void add(Microseconds work, Microseconds earlier, Microseconds later) {
    if (work <= Microseconds(0)) { return; }
    busy += work;
    before = std::min(before, earlier);
    after = std::min(after, later);
  }
  [[nodiscard]] Microseconds unhidden() const { return busy > Microseconds(0) ? before + after : Microseconds(0); }
};

using RankLoads = std::array<PartLoad, kParts.size()>;

// By class of ranks.
std::vector<RankLoads> loads_of(const std::vector<WorkNode>& nodes, std::span<const PartTimes> parts, const Surroundings& around,
                                int classes) {
  std::vector<RankLoads> loads(static_cast<std::size_t>(classes));
  for (std::size_t node = 0; node < nodes.size(); ++node) {
    for (const int rank_class : nodes[node].classes) {
      RankLoads& own = loads[static_cast<std::size_t>(rank_class)];
      for (std::size_t part = 0; part < kParts.size(); ++part) {
        own[part].add(parts[node][part], around.before[node], around.after[node]);
      }
    }
  }
  return loads;
}

bool has_peak_rate(const Step& step, const DeviceRates& rates, DevicePart part) {
  if (part == DevicePart::memory) { return !rates.memory.reached; }
  if (part == DevicePart::link) { return !rates.link.reached; }
  return std::ranges::any_of(step.operations, [&](const Operation& operation) {
    const auto* compute = std::get_if<Compute>(&operation.what);
    return compute != nullptr && flop_of(*compute) > 0 && !rate_of(rates, *compute).reached;
  });
}

bool knows_products_of(const DeviceRates& rates, const Step& step) {
  return std::ranges::all_of(step.operations, [&](const Operation& operation) {
    const auto* compute = std::get_if<Compute>(&operation.what);
    return compute == nullptr || rate_of(rates, *compute).known();
  });
}

}  // namespace

std::string_view to_string(DevicePart part) {
  switch (part) {
    case DevicePart::sms:
      return "SMs";
    case DevicePart::memory:
      return "memory";
    case DevicePart::link:
      return "link";
  }
  return "";
}

std::optional<HardwareLimit> hardware_limit(const Step& step, const DeviceLimits& device, std::span<const Microseconds> alone) {
  const std::optional<DeviceRates> rates = rates_of(device);
  if (!rates || !knows_products_of(*rates, step)) { return std::nullopt; }
  return hardware_limit(step, *rates, alone);
}

HardwareLimit hardware_limit(const Step& step, const DeviceRates& rates, std::span<const Microseconds> alone) {
  const Result<std::vector<int>> order = in_order(step);
  if (!order) {
    return {};  // a valid step has an order
  }
  const RankClasses classes = rank_classes(step);
  const std::vector<WorkNode> nodes = work_of(step, *order, classes);
  std::vector<PartTimes> parts;
  std::vector<Microseconds> least;
  const std::vector<PartTimes> of_operation = part_times(step, rates, alone);
  for (const WorkNode& node : nodes) {
    parts.push_back(of_operation[static_cast<std::size_t>(node.operation)]);
    least.push_back(std::ranges::max(parts.back()));
  }
  const Surroundings around = surroundings(nodes, least);

  HardwareLimit limit;
  limit.time = around.longest;
  for (const RankLoads& loads : loads_of(nodes, parts, around, classes.count)) {
    for (std::size_t part = 0; part < kParts.size(); ++part) {
      const PartLoad& load = loads[part];
      const Microseconds time = load.busy + load.unhidden();
      // Of equals the part with most work says most; what operations wait for has none.
      const Microseconds busy = limit.busiest ? limit.busiest->busy : Microseconds(0);
      if (std::tie(time, load.busy) <= std::tie(limit.time, busy)) { continue; }
      limit = {time, HardwareLimit::Busiest{kParts[part], has_peak_rate(step, rates, kParts[part]), load.busy, load.unhidden()}};
    }
  }
  return limit;
}

std::optional<HardwareLimit> hardware_limit(const Scenario& scenario, const DeviceLimits& device, Microseconds compute,
                                            Microseconds comm) {
  return hardware_limit(step_of(scenario), device, std::array{compute / scenario.iterations, comm / scenario.iterations});
}

std::string in_words(const HardwareLimit& limit) {
  if (!limit.busiest) { return "what operations wait for"; }
  return std::string(to_string(limit.busiest->part)) + (limit.busiest->of_peak ? ", data sheet's rate" : ", best rate reached");
}

}  // namespace elbowroom
