#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>

#include "elbowroom/report/kernels_report.hpp"
#include "elbowroom/report/plan_report.hpp"
#include "report/schemas.hpp"

namespace elbowroom {
namespace {

using Json = nlohmann::ordered_json;

Json names_of(ResourceSet set) {
  Json names = Json::array();
  for (const Resource resource : kResources) {
    if (set.contains(resource)) { names.push_back(to_string(resource)); }
  }
  return names;
}

Json device_json(const DeviceLimits& device) {
  Json json;
  json["name"] = device.name;
  json["title"] = device.title;
  json["vendor"] = device.vendor == Vendor::nvidia ? "nvidia" : "amd";
  json["architecture"] = device.architecture;
  json["sms"] = device.sms.count();
  json["warp"] = device.warp.count();
  json["threads_per_block"] = device.max_threads_per_block.count();
  json["threads_per_sm"] = device.max_threads_per_sm.count();
  json["blocks_per_sm"] = device.max_blocks_per_sm.count();
  json["registers_per_sm"] = device.registers_per_sm.count();
  json["partitions"] = device.sub_partitions;
  json["register_granule"] = device.register_granule.count();
  json["registers_per_thread"] = device.max_registers_per_thread.count();
  json["shared_per_sm"] = device.shared_per_sm.count();
  json["shared_per_block"] = device.shared_per_block.count();
  json["shared_reserved_per_block"] = device.shared_reserved_per_block.count();
  json["shared_granule"] = device.shared_granule.count();
  json["max_cluster"] = device.max_cluster;
  json["source"] = device.source;
  return json;
}

void add_footprint(Json& json, const KernelFootprint& footprint) {
  json["threads"] = footprint.threads.count();
  json["registers"] = footprint.registers_per_thread.count();
  json["static_shared"] = footprint.static_shared.count();
  json["dynamic_shared"] = footprint.dynamic_shared.count();
  json["cluster"] = footprint.cluster;
}

// The contract has one name per row. Several can coincide on the unpadded row; the one that a pad would tighten goes first.
Resource foremost(ResourceSet set) {
  for (const Resource resource : {Resource::shared_memory, Resource::registers, Resource::threads}) {
    if (set.contains(resource)) { return resource; }
  }
  return Resource::blocks;
}

Json row_json(const ResidencyRow& row) {
  Json json;
  json["blocks_per_sm"] = row.range.blocks_per_sm.count();
  json["pad_min"] = row.range.pad_min.count();
  json["pad_max"] = row.range.pad_max.count();
  json["limited_by"] = to_string(foremost(row.range.limited_by));
  json["limited_by_all"] = names_of(row.range.limited_by);
  json["comm_fits"] = row.comm_blocked_by.empty();
  json["comm_blocked_by"] = names_of(row.comm_blocked_by);
  json["comm_pad_max"] = row.comm_pad_max ? Json(row.comm_pad_max->count()) : Json(nullptr);
  json["gain"] = to_string(row.gain);
  return json;
}

Json comm_json(const CommKernel& comm, bool is_default) {
  Json json;
  json["name"] = comm.name;
  json["row"] = comm.row;
  json["default"] = is_default;
  add_footprint(json, comm.footprint);
  json["source"] = comm.source;
  return json;
}

std::string dumped(const Json& json, std::size_t depth) {
  std::string text = json.dump(2, ' ', true, Json::error_handler_t::replace);
  for (std::size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1)) { text.insert(at + 1, depth, ' '); }
  return text;
}

/// An object's text without its end, for members that follow.
std::string opened(const Json& json, std::size_t depth) {
  const std::string text = dumped(json, depth);
  return text.substr(0, text.rfind('\n'));
}

// A library has thousands of kernels and few footprints.
using KnownResidencies = std::map<std::array<std::int64_t, 4>, std::string>;

const std::string& residencies_of(const PlannedKernel& kernel, KnownResidencies& known) {
  const KernelFootprint& block = kernel.footprint;
  const auto [found, added] = known.try_emplace(
      {block.threads.count(), block.registers_per_thread.count(), block.static_shared.count(), block.dynamic_shared.count()});
  if (added) {
    Json rows = Json::array();
    for (const ResidencyRow& row : kernel.plan->rows) { rows.push_back(row_json(row)); }
    found->second = dumped(rows, 6);
  }
  return found->second;
}

std::string kernel_text(const PlannedKernel& kernel, KnownResidencies& known) {
  Json json;
  json["name"] = kernel.name;
  json["architecture"] = kernel.architecture;
  add_footprint(json, kernel.footprint);
  if (!kernel.plan) {
    json["refused"] = kernel.plan.error().message;
    return dumped(json, 4);
  }
  return opened(json, 4) + ",\n      \"residencies\": " + residencies_of(kernel, known) + "\n    }";
}

}  // namespace

std::string plan_json(const PlanReport& report) {
  Json json;
  json["schema"] = kPlanSchema;
  json["device"] = device_json(report.device);
  add_footprint(json["kernel"], report.kernel);
  json["comm"] = comm_json(report.comm, report.comm_is_default);
  json["residencies"] = Json::array();
  for (const ResidencyRow& row : report.plan.rows) { json["residencies"].push_back(row_json(row)); }
  json["verdict"] = plan_verdict(report);
  return json.dump(2) + "\n";
}

std::string kernels_json(const KernelsReport& report) {
  Json head;
  head["schema"] = kKernelsSchema;
  head["device"] = device_json(report.device);
  head["comm"] = comm_json(report.comm, report.comm_is_default);
  std::string text = opened(head, 0) + ",\n  \"kernels\": [";
  KnownResidencies known;
  for (const PlannedKernel& kernel : report.kernels) {
    text += fmt::format("{}\n    {}", &kernel == report.kernels.data() ? "" : ",", kernel_text(kernel, known));
  }
  return text + "\n  ]\n}\n";
}

}  // namespace elbowroom
