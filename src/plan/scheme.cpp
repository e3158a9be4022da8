#include "headroom/plan/scheme.hpp"

#include <fmt/format.h>

#include <array>
#include <string>

#include "headroom/plan/residency_windows.hpp"

namespace headroom {
namespace {

constexpr std::array kSchemes{Scheme::sequential, Scheme::concurrent, Scheme::priority, Scheme::shaped, Scheme::shaped_priority};

}  // namespace

std::span<const Scheme> schemes() { return kSchemes; }

std::string_view to_string(Scheme scheme) {
  switch (scheme) {
    case Scheme::sequential:
      return "sequential";
    case Scheme::concurrent:
      return "concurrent";
    case Scheme::priority:
      return "priority";
    case Scheme::shaped:
      return "shaped";
    case Scheme::shaped_priority:
      return "shaped_priority";
  }
  return "";
}

Result<Scheme> parse_scheme(std::string_view name) {
  std::string names;
  for (const Scheme scheme : kSchemes) {
    if (to_string(scheme) == name) return scheme;
    names += fmt::format("{}{}", names.empty() ? "" : ", ", to_string(scheme));
  }
  return invalid_input(fmt::format("scheme: '{}', expected one of {}", name, names));
}

Result<std::vector<OverlapPlan>> scheme_plans(Scheme scheme, const DeviceLimits& device,
                                              const std::optional<KernelFootprint>& footprint, const Collective& collective) {
  OverlapPlan plan;
  plan.priority = scheme == Scheme::priority || scheme == Scheme::shaped_priority;
  plan.comm_blocks = collective.comm_blocks;
  plan.cluster = collective.cluster;
  if (!is_shaped(scheme)) return std::vector{plan};

  if (!footprint) return invalid_input("the kernel is a library's own, its launches cannot be padded from outside");
  const Result<std::vector<ResidencyWindow>> windows = residency_windows(device, *footprint);
  if (!windows) return windows.error();
  std::vector<OverlapPlan> plans;
  for (const ResidencyWindow& window : *windows) {
    if (window.pad_min == Bytes(0)) continue;  // what the kernel has without padding
    plan.blocks_per_sm = window.blocks_per_sm;
    plan.pad = window.pad_min;
    plans.push_back(plan);
  }
  if (plans.empty()) {
    return invalid_input(
        fmt::format("no cap is below the kernel's own residency of {} blocks per SM", windows->front().blocks_per_sm.count()));
  }
  return plans;
}

}  // namespace headroom
