#include "elbowroom/model/comm_catalog.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <iterator>
#include <optional>

#include "elbowroom/model/collective_facts.hpp"
#include "elbowroom/model/size.hpp"
#include "model/nccl_catalog.hpp"

namespace elbowroom {
namespace {

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

struct Rccl {
  std::string_view name;
  Bytes static_shared;
  std::string_view source;
};
constexpr std::array kRccl{
    Rccl{"rccl-5.2", Bytes(4'184), "RCCL 5.2, gfx90a code"},
    Rccl{"rccl-6.2", Bytes(4'184 + 16'448), "RCCL 5.2 gfx90a code and the 16,448 B of LDS that 6.2 adds"},
};

CommKernel kernel_of(const Rccl& row) {
  const std::string name(row.name);
  return {name, {Threads(256), Registers(216), row.static_shared, Bytes(0), 1}, std::string(row.source), name};
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
  return CommKernel{
      "custom", {Threads(*threads), Registers(*registers), *static_shared, *dynamic_shared, *cluster}, "as given", "custom"};
}

std::string_view vendor_title(Vendor vendor) { return vendor == Vendor::nvidia ? "NVIDIA" : "AMD"; }

/// What may be said on a device of this vendor.
std::string expected_names(Vendor vendor) {
  return vendor == Vendor::nvidia ? detail::nccl_names_in_words()
                                  : fmt::format("one of {}", fmt::join(comm_kernel_names(vendor), ", "));
}

}  // namespace

std::vector<std::string> comm_kernel_names(Vendor vendor) {
  if (vendor == Vendor::nvidia) { return detail::nccl_kernel_names(); }
  std::vector<std::string> names;
  names.reserve(std::size(kRccl));
  for (const Rccl& row : kRccl) { names.emplace_back(row.name); }
  return names;
}

Result<CommKernel> find_comm_kernel(std::string_view text, const DeviceLimits& device) {
  if (text.find(',') != std::string_view::npos) { return explicit_footprint(text); }
  const std::optional<detail::NcclName> nccl = detail::read_nccl_name(text);
  const auto rccl = std::ranges::find(kRccl, text, &Rccl::name);
  if (!nccl && rccl == kRccl.end()) {
    return invalid_input(
        fmt::format("comm kernel '{}' is not in the catalog, expected {} or threads,registers,static,dynamic,cluster", text,
                    expected_names(device.vendor)));
  }
  const Vendor vendor = nccl ? Vendor::nvidia : Vendor::amd;
  if (vendor != device.vendor) {
    return invalid_input(fmt::format("comm kernel '{}' runs on {}, {} is {}; expected {}", text, vendor_title(vendor), device.name,
                                     vendor_title(device.vendor), expected_names(device.vendor)));
  }
  return nccl ? detail::nccl_kernel(*nccl, device) : Result<CommKernel>(kernel_of(*rccl));
}

std::string default_comm_kernel(const DeviceLimits& device, std::optional<CommRelease> there) {
  if (device.vendor == Vendor::amd) { return std::string(kRccl.front().name); }
  return comm_kernel_of(CollectiveOp::all_reduce, device, there.value_or(detail::newest_nccl()));
}

std::string comm_kernel_of(CollectiveOp op, const DeviceLimits& device, std::optional<CommRelease> there) {
  if (device.vendor == Vendor::amd) { return std::string(kRccl.front().name); }
  return detail::name_of({there.value_or(detail::kSimulatedNccl), facts_of(op).exchanges ? "640" : "544"});
}

Blocks comm_blocks_of(CollectiveOp op, const DeviceLimits& device) {
  const auto found = std::ranges::find(kBlocks, device.name, &UsualBlocks::device);
  const UsualBlocks& usual = found == kBlocks.end() ? kBlocks.front() : *found;
  return facts_of(op).exchanges ? usual.exchange : usual.ring;
}

}  // namespace elbowroom
