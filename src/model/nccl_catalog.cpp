#include "model/nccl_catalog.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "model/sm_number.hpp"

namespace elbowroom {
namespace {

// 512 threads: LL. 544: ring, Simple. 640: LL128, tree, NVLS, send/recv (all-to-all).
struct Kind {
  std::string_view name;
  Threads threads;
};
constexpr std::string_view kSymmetricKind = "symmetric";
constexpr std::array kKinds{Kind{"512", Threads(512)}, Kind{"544", Threads(544)}, Kind{"640", Threads(640)},
                            Kind{kSymmetricKind, Threads(512)}};

/// Static shared memory of a block of ncclDevKernel_* in each code, and what ncclSymkDevKernel_* take.
struct Row {
  CommRelease release;
  std::string_view read;  ///< the library whose code was read: scripts/nccl_catalog.py
  Bytes volta;
  Bytes ampere;
  Bytes hopper;
  std::optional<Bytes> symmetric_dynamic;  ///< of kernels within a node, without multicast
  Registers symmetric_gather;
};

// cuobjdump's SHARED without the 1,024 B that the driver reserves from sm_90 on, and that DeviceLimits counts by itself: NVIDIA's
// wheels nvidia-nccl-cu13, and -cu12 for sm_70. Dynamic memory of symmetric kernels: launches of 2.28.9 on H200; in 2.29 and 2.30
// src/scheduler/symmetric_sched.cc gives none but to kernels over several nodes or by TMA. No source of later ones is published.
constexpr std::array kRows{
    Row{{2, 28}, "2.28.9", Bytes(7'104), Bytes(7'104), Bytes(21'568), Bytes(82'240), Registers(80)},
    Row{{2, 29}, "2.29.7", Bytes(6'976), Bytes(14'144), Bytes(36'800), Bytes(0), Registers(80)},
    Row{{2, 30}, "2.30.7", Bytes(6'976), Bytes(14'144), Bytes(36'800), Bytes(0), Registers(80)},
    Row{{2, 31}, "2.31.2", Bytes(6'976), Bytes(14'144), Bytes(36'800), std::nullopt, Registers(72)},
    Row{{2, 32}, "2.32.3", Bytes(6'976), Bytes(14'144), Bytes(36'800), std::nullopt, Registers(72)},
};

const Row& row_of(CommRelease release) {
  const auto above = std::ranges::upper_bound(kRows, release, {}, &Row::release);
  return above == kRows.begin() ? kRows.front() : *std::prev(above);
}

std::string in_words(CommRelease release) { return fmt::format("{}.{}", release.major, release.minor); }

Bytes static_shared(const Row& row, int architecture) {
  if (architecture >= 90) { return row.hopper; }
  return architecture >= 80 ? row.ampere : row.volta;
}

// ncclLaunchKernel asks for scratch of 20 warps, whatever the block has; 4, 6 or 8 loads of 16 B a thread, by the device's own
// architecture. The same numbers stand in the host code of each library above.
Bytes dynamic_shared(int architecture) {
  if (architecture < 80) { return Bytes(41'280); }
  return architecture / 10 == 12 ? Bytes(61'760) : Bytes(82'240);
}

std::string_view code_of(int architecture) {
  if (architecture >= 120) { return "sm_120"; }
  if (architecture >= 100) { return "sm_100"; }
  if (architecture >= 90) { return "sm_90"; }
  if (architecture >= 80) { return "sm_80"; }
  return architecture >= 75 ? "sm_75" : "sm_70";
}

CommKernel named(const detail::NcclName& name, const Row& row) {
  CommKernel kernel;
  kernel.name = detail::name_of(name);
  kernel.row = detail::name_of({row.release, name.kind});
  kernel.footprint.threads = std::ranges::find(kKinds, name.kind, &Kind::name)->threads;
  return kernel;
}

Result<CommKernel> symmetric(const detail::NcclName& name, CollectiveOp op) {
  const Row& row = row_of(name.release);
  CommKernel kernel = named(name, row);
  if (!row.symmetric_dynamic) {
    return invalid_input(fmt::format(
        "comm kernel '{}': dynamic shared memory is not known of NCCL {}, expected threads,registers,static,dynamic,cluster",
        kernel.name, in_words(name.release)));
  }
  // 128 registers are all that an SM has for a block of 512 threads.
  kernel.footprint.registers_per_thread = op == CollectiveOp::all_gather ? row.symmetric_gather : Registers(128);
  kernel.footprint.dynamic_shared = *row.symmetric_dynamic;
  kernel.footprint.cluster = 4;
  kernel.source = fmt::format("NCCL {} ncclSymkDevKernel_*", row.read);
  return kernel;
}

}  // namespace

Result<CommKernel> symmetric_comm_kernel(CollectiveOp op, std::optional<CommRelease> there) {
  return symmetric({there.value_or(detail::kSimulatedNccl), kSymmetricKind}, op);
}

std::optional<std::string> note_on_release(CommRelease there) {
  const Row& row = row_of(there);
  if (row.release == there) { return std::nullopt; }
  return fmt::format("NCCL {} has no row in the catalog: footprints are those of {}", in_words(there), in_words(row.release));
}

namespace detail {

std::optional<NcclName> read_nccl_name(std::string_view text) {
  constexpr std::string_view prefix = "nccl-";
  if (!text.starts_with(prefix)) { return std::nullopt; }
  NcclName name;
  const char* const end = text.data() + text.size();
  const auto major = std::from_chars(text.data() + prefix.size(), end, name.release.major);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') { return std::nullopt; }
  const auto minor = std::from_chars(major.ptr + 1, end, name.release.minor);
  if (minor.ec != std::errc() || minor.ptr == end || *minor.ptr != ':') { return std::nullopt; }
  if (name.release.major < 1 || name.release.minor < 0) { return std::nullopt; }
  name.kind = std::string_view(minor.ptr + 1, static_cast<std::size_t>(end - minor.ptr - 1));
  if (std::ranges::find(kKinds, name.kind, &Kind::name) == kKinds.end()) { return std::nullopt; }
  return name;
}

std::string name_of(const NcclName& name) { return fmt::format("nccl-{}:{}", in_words(name.release), name.kind); }

CommRelease newest_nccl() { return kRows.back().release; }

std::vector<std::string> nccl_kernel_names() {
  std::vector<std::string> names;
  for (const Row& row : kRows) {
    for (const Kind& kind : kKinds) {
      if (kind.name == kSymmetricKind && !row.symmetric_dynamic) { continue; }
      names.push_back(name_of({row.release, kind.name}));
    }
  }
  return names;
}

std::string nccl_names_in_words() {
  std::string kinds;
  for (const Kind& kind : kKinds) { kinds += fmt::format("{}{}", kinds.empty() ? "" : ", ", kind.name); }
  return fmt::format("nccl-RELEASE:KIND (RELEASE {} to {}, KIND {})", in_words(kRows.front().release), in_words(newest_nccl()),
                     kinds);
}

Result<CommKernel> nccl_kernel(const NcclName& name, const DeviceLimits& device) {
  const int architecture = sm_number(device.architecture);
  if (architecture < 70) {
    return invalid_input(fmt::format("comm kernel '{}' has no code for {} ({}), expected sm_70 or newer", name_of(name),
                                     device.name, device.architecture));
  }
  const bool clusters = device.max_cluster > 1;
  if (name.kind == kSymmetricKind) {
    if (clusters) { return symmetric(name, CollectiveOp::all_reduce); }
    return invalid_input(
        fmt::format("comm kernel '{}' begins with sm_90, {} is {}", name_of(name), device.name, device.architecture));
  }
  const Row& row = row_of(name.release);
  CommKernel kernel = named(name, row);
  kernel.footprint.registers_per_thread = Registers(96);
  kernel.footprint.static_shared = static_shared(row, architecture);
  kernel.footprint.dynamic_shared = dynamic_shared(architecture);
  kernel.footprint.cluster = clusters ? 4 : 1;
  kernel.source = fmt::format("NCCL {} ncclDevKernel_*, {} code{}", row.read, code_of(architecture),
                              architecture < 75 ? " of the library for CUDA 12; for CUDA 13 none has any" : "");
  return kernel;
}

}  // namespace detail
}  // namespace elbowroom
