#include "elbowroom/report/kernels_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/base/grouped.hpp"
#include "report/plan_words.hpp"

namespace elbowroom {
namespace {

/// "1: 115,840 to 232,448": the least residency that a pad gives, and the pads.
std::string cap_column(const ResidencyPlan& plan) {
  if (plan.rows.size() == 1) { return "-"; }
  const PadRange& range = plan.rows.back().range;
  return fmt::format("{}: {} to {}", range.blocks_per_sm.count(), grouped(range.pad_min.count()), grouped(range.pad_max.count()));
}

/// At which residency a communication block has room, the greatest first.
std::string room_column(const ResidencyPlan& plan) {
  const auto room = std::ranges::find_if(plan.rows, [](const ResidencyRow& row) { return row.comm_pad_max.has_value(); });
  if (room == plan.rows.end()) { return "none"; }
  const std::string blocks = fmt::format("{}", room->range.blocks_per_sm.count());
  return room == plan.rows.begin() ? blocks + ", as it is"
                                   : fmt::format("{}, pad to {}", blocks, grouped(room->comm_pad_max->count()));
}

/// What `run` compares on such a vendor's GPUs that needs no room.
std::string_view without_room(Vendor vendor) {
  return vendor == Vendor::nvidia
             ? "      Priority and the launch gate need no room: elbowroom run -- COMMAND compares steps with and without them.\n"
             : "      Priority needs no room: elbowroom run -- COMMAND compares steps with and without it.\n";
}

/// What the column of the communication block says where it is no plain number.
std::string room_in_words(const KernelsReport& report) {
  bool after_pad = false;
  std::set<std::string> blocked;
  for (const PlannedKernel& kernel : report.kernels) {
    if (!kernel.plan) { continue; }
    const std::vector<ResidencyRow>& rows = kernel.plan->rows;
    const auto room = std::ranges::find_if(rows, [](const ResidencyRow& row) { return row.comm_pad_max.has_value(); });
    if (room == rows.end()) { blocked.insert(in_words(rows.back().comm_blocked_by)); }
    after_pad = after_pad || (room != rows.end() && room != rows.begin());
  }
  std::string lines;
  if (after_pad) {
    lines += fmt::format("N, pad to P: a pad of at most P B holds the kernel at N blocks per SM, and a {} block has room.\n",
                         report.comm.name);
  }
  if (!blocked.empty()) {
    lines += fmt::format("none: no pad makes room for a {} block (blocked by {}).\n{}", report.comm.name,
                         fmt::join(blocked, "; by "), without_room(report.device.vendor));
  }
  return lines.empty() ? lines : "\n" + lines;
}

}  // namespace

std::string kernels_table(const KernelsReport& report, std::size_t width) {
  constexpr std::size_t all_columns = 140;  // with names of some 30 characters
  const bool narrow = width < all_columns;
  std::string text;
  const auto out = std::back_inserter(text);
  const auto shared = [narrow](std::string_view fixed, std::string_view dynamic) {
    return narrow ? std::string() : fmt::format("{:>10}  {:>11}  ", fixed, dynamic);
  };
  const auto put = [&](std::string_view name, std::string_view begin, std::string_view planned) {
    if (narrow) { fmt::format_to(out, "{}\n{}{}\n", name, begin, planned.substr(0, planned.find_last_not_of(' ') + 1)); }
    if (!narrow) { fmt::format_to(out, "{}{}{}\n", begin, planned, name); }
  };
  const auto planned = [](std::string_view blocks, std::string_view cap, std::string_view room) {
    return fmt::format("{:>9}  {:<22}  {:<18}  ", blocks, cap, room);
  };
  fmt::format_to(out, "device   {} ({}, {})\n", report.device.name, report.device.title, report.device.architecture);
  fmt::format_to(out, "{}\n\n", detail::comm_line(report.device, report.comm, report.comm_is_default, report.comm_is_here));
  put("kernel", fmt::format("{:>7}  {:>9}  {}", "threads", "registers", shared("static (B)", "dynamic (B)")),
      planned("blocks/SM", "cap: pad (B)", "comm block beside"));
  for (const PlannedKernel& kernel : report.kernels) {
    const KernelFootprint& block = kernel.footprint;
    const std::string begin = fmt::format("{:>7}  {:>9}  {}", block.threads.count(), block.registers_per_thread.count(),
                                          shared(grouped(block.static_shared.count()), grouped(block.dynamic_shared.count())));
    if (!kernel.plan) {
      put(fmt::format("{}: {}", kernel.name, kernel.plan.error().message), begin, planned("-", "-", "-"));
      continue;
    }
    put(kernel.name, begin,
        planned(fmt::to_string(kernel.plan->rows.front().range.blocks_per_sm.count()), cap_column(*kernel.plan),
                room_column(*kernel.plan)));
  }
  return text + room_in_words(report);
}

}  // namespace elbowroom
