#include "elbowroom/model/comm_catalog.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "elbowroom/model/collective_facts.hpp"
#include "elbowroom/model/size.hpp"

namespace elbowroom {
namespace {

struct Entry {
  std::string_view name;
  Vendor vendor;
  std::int64_t threads;
};

// 512 threads: LL. 544: ring, Simple. 640: LL128, tree, NVLS, send/recv (all-to-all).
constexpr std::array kEntries{
    Entry{"nccl-2.28:512", Vendor::nvidia, 512}, Entry{"nccl-2.28:544", Vendor::nvidia, 544},
    Entry{"nccl-2.28:640", Vendor::nvidia, 640}, Entry{"rccl-5.2", Vendor::amd, 256},
    Entry{"rccl-6.2", Vendor::amd, 256},
};

/// How many blocks the library takes by itself.
struct UsualBlocks {
  std::string_view device;
  Blocks ring;
  Blocks exchange;  ///< of sends and receives
};

// NCCL 2.28 on two to eight H200: 24 for rings, 32 for send and receive; taken over for the others with NVLink or Infinity Fabric.
// PCIe gives fewer channels: A40. The first row stands for devices that are not listed.
constexpr std::array kBlocks{
    UsualBlocks{"h200", Blocks(24), Blocks(32)},
    UsualBlocks{"a40", Blocks(4), Blocks(4)},
    UsualBlocks{"mi300x", Blocks(32), Blocks(32)},
};

bool has_clusters(const DeviceLimits& device) { return device.max_cluster > 1; }

// Read from the kernels of NCCL 2.28. sm_86 has no code of its own and runs sm_80's. From sm_90 on the static size differs from
// kernel to kernel, 21,568 to 22,592 B. The greatest counts, so that room is never promised to a block that does not get it.
CommKernel nccl(const Entry& entry, const DeviceLimits& device) {
  CommKernel kernel;
  kernel.name = entry.name;
  kernel.footprint.threads = Threads(entry.threads);
  kernel.footprint.registers_per_thread = Registers(96);
  kernel.footprint.static_shared = has_clusters(device) ? Bytes(22'592) : Bytes(7'104);
  kernel.footprint.dynamic_shared = Bytes(82'240);  // whatever the thread count
  kernel.footprint.cluster = has_clusters(device) ? 4 : 1;
  kernel.source = has_clusters(device) ? "NCCL 2.28 ncclDevKernel_*, sm_90 code: 21,568 to 22,592 B static, the greatest is taken"
                                       : "NCCL 2.28 ncclDevKernel_*, sm_80 code";
  return kernel;
}

CommKernel rccl(const Entry& entry) {
  const bool newer = entry.name == "rccl-6.2";
  CommKernel kernel;
  kernel.name = entry.name;
  kernel.footprint.threads = Threads(entry.threads);
  kernel.footprint.registers_per_thread = Registers(216);
  kernel.footprint.static_shared = newer ? Bytes(4'184 + 16'448) : Bytes(4'184);
  kernel.source = newer ? "RCCL 5.2 gfx90a code and the 16,448 B of LDS that 6.2 adds" : "RCCL 5.2, gfx90a code";
  return kernel;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  for (std::size_t end = text.find(separator); end != std::string_view::npos; end = text.find(separator, begin)) {
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  parts.push_back(text.substr(begin));
  return parts;
}

std::optional<int> whole_number(std::string_view text) {
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) { return std::nullopt; }
  return number;
}

Result<CommKernel> explicit_footprint(std::string_view text) {
  const std::vector<std::string_view> fields = split(text, ',');
  if (fields.size() != 5) {
    return invalid_input(
        fmt::format("comm kernel '{}' has {} fields, expected threads,registers,static,dynamic,cluster", text, fields.size()));
  }
  const auto bad = [&](std::string_view field, std::string_view value, std::string_view expected) {
    return invalid_input(fmt::format("comm kernel '{}': {} is '{}', expected {}", text, field, value, expected));
  };
  const std::optional<int> threads = whole_number(fields[0]);
  if (!threads || *threads < 1) { return bad("threads", fields[0], "a whole number from 1"); }
  const std::optional<int> registers = whole_number(fields[1]);
  if (!registers || *registers < 1) { return bad("registers", fields[1], "a whole number from 1"); }
  const Result<Bytes> static_shared = parse_size(fields[2]);
  if (!static_shared) { return bad("static", fields[2], "a size in bytes"); }
  const Result<Bytes> dynamic_shared = parse_size(fields[3]);
  if (!dynamic_shared) { return bad("dynamic", fields[3], "a size in bytes"); }
  const std::optional<int> cluster = whole_number(fields[4]);
  if (!cluster || *cluster < 1) { return bad("cluster", fields[4], "a whole number from 1"); }
  return CommKernel{"custom", {Threads(*threads), Registers(*registers), *static_shared, *dynamic_shared, *cluster}, "as given"};
}

std::string_view vendor_title(Vendor vendor) { return vendor == Vendor::nvidia ? "NVIDIA" : "AMD"; }

}  // namespace

std::vector<std::string> comm_kernel_names(Vendor vendor) {
  std::vector<std::string> names;
  for (const Entry& entry : kEntries) {
    if (entry.vendor == vendor) { names.emplace_back(entry.name); }
  }
  return names;
}

Result<CommKernel> find_comm_kernel(std::string_view text, const DeviceLimits& device) {
  if (text.find(',') != std::string_view::npos) { return explicit_footprint(text); }
  const std::string names = fmt::format("{}", fmt::join(comm_kernel_names(device.vendor), ", "));
  for (const Entry& entry : kEntries) {
    if (entry.name != text) { continue; }
    if (entry.vendor != device.vendor) {
      return invalid_input(fmt::format("comm kernel '{}' runs on {}, {} is {}; expected one of {}", text,
                                       vendor_title(entry.vendor), device.name, vendor_title(device.vendor), names));
    }
    return entry.vendor == Vendor::nvidia ? nccl(entry, device) : rccl(entry);
  }
  return invalid_input(fmt::format(
      "comm kernel '{}' is not in the catalog, expected one of {} or threads,registers,static,dynamic,cluster", text, names));
}

CommKernel symmetric_comm_kernel(CollectiveOp op) {
  CommKernel kernel;
  kernel.name = "nccl-2.28:symmetric";
  // 128 registers are all that an SM has for a block of 512 threads.
  const Registers registers(op == CollectiveOp::all_gather ? 80 : 128);
  kernel.footprint = {Threads(512), registers, Bytes(0), Bytes(82'240), 4};
  kernel.source = "NCCL 2.28.9 ncclSymkDevKernel_* as launched on H200";
  return kernel;
}

std::string_view default_comm_kernel(const DeviceLimits& device) {
  return device.vendor == Vendor::nvidia ? "nccl-2.28:544" : "rccl-5.2";
}

std::string_view comm_kernel_of(CollectiveOp op, const DeviceLimits& device) {
  return facts_of(op).exchanges && device.vendor == Vendor::nvidia ? "nccl-2.28:640" : default_comm_kernel(device);
}

Blocks comm_blocks_of(CollectiveOp op, const DeviceLimits& device) {
  const auto found = std::ranges::find(kBlocks, device.name, &UsualBlocks::device);
  const UsualBlocks& usual = found == kBlocks.end() ? kBlocks.front() : *found;
  return facts_of(op).exchanges ? usual.exchange : usual.ring;
}

}  // namespace elbowroom
