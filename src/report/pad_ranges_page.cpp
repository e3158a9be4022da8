#include "elbowroom/report/pad_ranges_page.hpp"

#include <fmt/format.h>

#include <array>
#include <iterator>
#include <span>
#include <string_view>
#include <tuple>

#include "elbowroom/base/grouped.hpp"
#include "elbowroom/model/comm_catalog.hpp"
#include "elbowroom/model/device_catalog.hpp"
#include "elbowroom/report/plan_report.hpp"

namespace elbowroom {
namespace {

struct TypicalKernel {
  std::string_view title;
  KernelFootprint footprint;
};

constexpr std::array kTypicalKernels{
    TypicalKernel{"f32 GEMM, 64x64 tile in steps of 8", {Threads(256), Registers(56), Bytes(4'096), Bytes(0), 1}},
    TypicalKernel{"f32 GEMM, 128x128 tile in steps of 8", {Threads(256), Registers(128), Bytes(8'192), Bytes(0), 1}},
    TypicalKernel{"bf16 tensor-core GEMM, 64x64 tile", {Threads(128), Registers(84), Bytes(9'728), Bytes(0), 1}},
    TypicalKernel{"elementwise", {Threads(256), Registers(28), Bytes(0), Bytes(0), 1}},
};

constexpr std::string_view kIntroduction =
    R"(# Pad ranges

How much dynamic shared memory to add to a kernel's launch so that an SM holds exactly n of its blocks, for typical kernels on every
device of the catalog, and whether a block of the communication library then finds room on the same SM.

This page is written by `elbowroom plan --page`; a test fails when it differs from what the tool writes. For any other kernel ask
`elbowroom plan --device D --threads T --registers R --static-shared B --dynamic-shared B --comm C`.

How to read a row:
- **blocks per SM**: the residency. The first row is the kernel as it is; a residency that no multiple of the granule gives is left out.
- **pad**: the least and the greatest dynamic shared memory *added* per block, in bytes, that give exactly this residency.
- **limited by**: what keeps one more block out.
- **a comm block beside them**: whether one block of the communication kernel fits on the SM as well, and up to which pad; otherwise
  the resources that are missing. Where it does not fit, a pad buys SMs that drain sooner and less memory contention, nothing more.

On NVIDIA "fits" supposes that the compute kernel chooses the largest shared-memory carve-out: otherwise the SM gives shared memory
for the padded kernel alone and the rest to L1. A comm block launched in a cluster needs that room on each of the cluster's SMs.

The figures are arithmetic on documented limits, not measurements. Register counts are those of the NVIDIA compiler; on AMD they
stand for the same number of VGPRs.
)";

std::string comm_cell(const ResidencyRow& row) {
  if (!row.comm_pad_max) { return "blocked by " + in_words(row.comm_blocked_by); }
  return fmt::format("fits up to pad {}", grouped(row.comm_pad_max->count()));
}

void add_kernel(std::string& page, const TypicalKernel& kernel, const DeviceLimits& device, const CommKernel& comm) {
  const auto out = std::back_inserter(page);
  fmt::format_to(out, "\n**{}**: {} threads, {} registers, {} B static shared memory\n\n", kernel.title,
                 grouped(kernel.footprint.threads.count()), kernel.footprint.registers_per_thread.count(),
                 grouped(kernel.footprint.static_shared.count()));
  const Result<PlanReport> report = make_plan_report(device, kernel.footprint, comm);
  if (!report) {
    fmt::format_to(out, "Does not run: {}.\n", report.error().message);
    return;
  }
  page += "| blocks per SM | pad min | pad max | limited by | a comm block beside them |\n| --: | --: | --: | --- | --- |\n";
  for (const ResidencyRow& row : report->plan.rows) {
    fmt::format_to(out, "| {} | {} | {} | {} | {} |\n", row.range.blocks_per_sm.count(), grouped(row.range.pad_min.count()),
                   grouped(row.range.pad_max.count()), in_words(row.range.limited_by), comm_cell(row));
  }
}

/// Whether the two differ by their number of SMs at most.
bool same_sm(const DeviceLimits& one, const DeviceLimits& other) {
  const auto limits = [](const DeviceLimits& device) {
    return std::tuple(device.architecture, device.warp, device.max_threads_per_block, device.max_threads_per_sm,
                      device.max_blocks_per_sm, device.registers_per_sm, device.sub_partitions, device.register_granule,
                      device.max_registers_per_thread, device.shared_per_sm, device.shared_per_block,
                      device.shared_reserved_per_block, device.shared_granule, device.max_cluster);
  };
  return limits(one) == limits(other);
}

/// Devices of one kind of SM, which have the same table; `devices` is not empty.
void add_devices(std::string& page, std::span<const DeviceLimits> devices) {
  const DeviceLimits& device = devices.front();
  std::string titles;
  for (const DeviceLimits& one : devices) { titles += fmt::format("{}{}", titles.empty() ? "" : ", ", one.title); }
  const auto out = std::back_inserter(page);
  fmt::format_to(out, "\n## {}: {}\n\n", device.architecture, titles);
  fmt::format_to(out, "Shared memory: {} B per SM, {} B per block, {} B reserved per block, granule {} B.\nLimits from: {}.\n",
                 grouped(device.shared_per_sm.count()), grouped(device.shared_per_block.count()),
                 grouped(device.shared_reserved_per_block.count()), grouped(device.shared_granule.count()), device.source);
  const Result<CommKernel> comm = find_comm_kernel(default_comm_kernel(device), device);
  if (!comm) { return; }
  fmt::format_to(out, "Communication: {}: {} threads, {} registers, {} B static and {} B dynamic shared memory ({}).\n", comm->name,
                 grouped(comm->footprint.threads.count()), comm->footprint.registers_per_thread.count(),
                 grouped(comm->footprint.static_shared.count()), grouped(comm->footprint.dynamic_shared.count()), comm->source);
  for (const TypicalKernel& kernel : kTypicalKernels) { add_kernel(page, kernel, device, *comm); }
}

}  // namespace

std::string pad_ranges_page() {
  std::string page(kIntroduction);
  for (auto left = device_catalog(); !left.empty();) {
    std::size_t alike = 1;
    while (alike < left.size() && same_sm(left.front(), left[alike])) { ++alike; }
    add_devices(page, left.first(alike));
    left = left.subspan(alike);
  }
  return page;
}

}  // namespace elbowroom
