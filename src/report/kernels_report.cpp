#include "elbowroom/report/kernels_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

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

}  // namespace

std::string kernels_table(const KernelsReport& report) {
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "device   {} ({}, {})\n", report.device.name, report.device.title, report.device.architecture);
  fmt::format_to(out, "{}\n\n", detail::comm_line(report.comm, report.comm_is_default));
  fmt::format_to(out, "{:>7}  {:>9}  {:>10}  {:>11}  {:>9}  {:<22}  {:<18}  {}\n", "threads", "registers", "static (B)",
                 "dynamic (B)", "blocks/SM", "cap: pad (B)", "comm block beside", "kernel");
  for (const PlannedKernel& kernel : report.kernels) {
    const KernelFootprint& block = kernel.footprint;
    fmt::format_to(out, "{:>7}  {:>9}  {:>10}  {:>11}  ", block.threads.count(), block.registers_per_thread.count(),
                   grouped(block.static_shared.count()), grouped(block.dynamic_shared.count()));
    if (kernel.plan) {
      fmt::format_to(out, "{:>9}  {:<22}  {:<18}  {}\n", kernel.plan->rows.front().range.blocks_per_sm.count(),
                     cap_column(*kernel.plan), room_column(*kernel.plan), kernel.name);
    } else {
      fmt::format_to(out, "{:>9}  {:<22}  {:<18}  {}: {}\n", "-", "-", "-", kernel.name, kernel.plan.error().message);
    }
  }
  return text;
}

}  // namespace elbowroom
