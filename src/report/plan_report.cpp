#include "elbowroom/report/plan_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <string_view>
#include <utility>

#include "elbowroom/base/grouped.hpp"
#include "report/plan_words.hpp"

namespace elbowroom {
namespace {

std::string comm_column(const ResidencyRow& row) {
  if (!row.comm_pad_max) { return "blocked by " + in_words(row.comm_blocked_by); }
  if (*row.comm_pad_max == row.range.pad_max) { return "fits"; }
  return fmt::format("fits up to pad {}", grouped(row.comm_pad_max->count()));
}

std::string_view gain_column(Gain gain) {
  switch (gain) {
    case Gain::none:
      return "-";
    case Gain::drains_sooner:
      return "drains sooner";
    case Gain::co_resident:
      return "co-residence";
  }
  return "";
}

// An SM's split between L1 and shared memory follows the kernel that runs there: left to itself it suits the padded kernel alone.
std::string_view carve_out_condition(const DeviceLimits& device) {
  return device.vendor == Vendor::nvidia ? ", if the kernel chooses the largest shared-memory carve-out" : "";
}

/// NVIDIA's compilers make no kernel with more, whatever a block may have in all.
Status check_static_shared(const DeviceLimits& device, const KernelFootprint& block) {
  constexpr Bytes most = kibibytes(48);
  if (device.vendor != Vendor::nvidia || block.static_shared <= most) { return {}; }
  return invalid_input(fmt::format("{} B static shared memory, expected at most {} B on {}: more is dynamic",
                                   grouped(block.static_shared.count()), grouped(most.count()), device.name));
}

}  // namespace

namespace detail {

std::string footprint_line(const KernelFootprint& footprint) {
  std::string line = fmt::format("{} threads, {} registers, {} B static and {} B dynamic shared memory",
                                 grouped(footprint.threads.count()), grouped(footprint.registers_per_thread.count()),
                                 grouped(footprint.static_shared.count()), grouped(footprint.dynamic_shared.count()));
  if (footprint.cluster > 1) { line += fmt::format(", clusters of {}", footprint.cluster); }
  return line;
}

std::string comm_line(const DeviceLimits& device, const CommKernel& comm, bool is_default, bool is_here) {
  std::string_view choice;
  if (is_default && is_here) {
    choice = " (of the NCCL here, --comm chooses)";
  } else if (is_default) {
    choice = device.vendor == Vendor::nvidia ? " (the newest known, whatever NCCL is here; --comm chooses)"
                                             : " (whatever RCCL is here; --comm chooses)";
  }
  return fmt::format("comm     {}{}{}: {}", comm.name, choice,
                     comm.row == comm.name ? "" : fmt::format(" (no row of its own: as {})", comm.row),
                     footprint_line(comm.footprint));
}

}  // namespace detail

Result<PlanReport> make_plan_report(const DeviceLimits& device, const KernelFootprint& kernel, const CommKernel& comm) {
  for (const auto& [name, block] : {std::pair("compute kernel", kernel), {"communication kernel", comm.footprint}}) {
    if (Status exists = check_static_shared(device, block); !exists) {
      return invalid_input(fmt::format("{}: {}", name, exists.error().message));
    }
  }
  Result<ResidencyPlan> plan = plan_residencies(device, kernel, comm.footprint);
  if (!plan) { return plan.error(); }
  PlanReport report;
  report.device = device;
  report.kernel = kernel;
  report.comm = comm;
  report.plan = std::move(*plan);
  return report;
}

std::string plan_verdict(const PlanReport& report) {
  const std::vector<ResidencyRow>& rows = report.plan.rows;
  if (rows.front().comm_blocked_by.empty()) {
    return fmt::format("A {} block fits beside {} blocks per SM as they are: no pad is needed for co-residence.", report.comm.name,
                       grouped(rows.front().range.blocks_per_sm.count()));
  }
  const auto fitting = std::find_if(rows.begin(), rows.end(), [](const ResidencyRow& row) { return row.comm_blocked_by.empty(); });
  if (fitting != rows.end()) {
    return fmt::format(
        "A pad of {} to {} B holds compute at {} per SM and makes room for a {} block beside it: co-residence{}.",
        grouped(fitting->range.pad_min.count()), grouped(fitting->comm_pad_max->count()),
        fitting->range.blocks_per_sm == BlocksPerSm(1) ? "1 block" : grouped(fitting->range.blocks_per_sm.count()) + " blocks",
        report.comm.name, carve_out_condition(report.device));
  }
  if (rows.size() == 1) {
    return fmt::format(
        "Padding cannot lower this residency, and a {} block does not fit beside it ({}): only priority and order act.",
        report.comm.name, in_words(rows.front().comm_blocked_by));
  }
  return fmt::format(
      "No residency has room for a {} block ({} at 1 block per SM): a pad buys SMs that drain sooner and less memory contention, "
      "not co-residence.",
      report.comm.name, in_words(rows.back().comm_blocked_by));
}

std::string plan_table(const PlanReport& report, std::size_t width) {
  constexpr std::size_t all_columns = 115;  // where a comm block is blocked by two resources
  const bool narrow = width < all_columns;
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out, "device   {} ({}, {})\n", report.device.name, report.device.title, report.device.architecture);
  fmt::format_to(out, "compute  {}\n", detail::footprint_line(report.kernel));
  fmt::format_to(out, "{}\n\n", detail::comm_line(report.device, report.comm, report.comm_is_default, report.comm_is_here));
  const auto middle = [narrow](std::string_view limit, std::string_view gain) {
    return narrow ? std::string() : fmt::format("{:<26}  {:<13}  ", limit, gain);
  };
  fmt::format_to(out, "{:>9}  {:>11}  {:>11}  {}{}\n", "blocks/SM", "pad min (B)", "pad max (B)", middle("limited by", "buys"),
                 "a comm block beside them");
  for (const ResidencyRow& row : report.plan.rows) {
    fmt::format_to(out, "{:>9}  {:>11}  {:>11}  {}{}\n", row.range.blocks_per_sm.count(), grouped(row.range.pad_min.count()),
                   grouped(row.range.pad_max.count()), middle(in_words(row.range.limited_by), gain_column(row.gain)),
                   comm_column(row));
  }
  return text + "\n" + plan_verdict(report) + "\n";
}

}  // namespace elbowroom
