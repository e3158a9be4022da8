#include "elbowroom/plan/scheme.hpp"

#include <fmt/format.h>

#include <array>
#include <cstddef>
#include <string>

#include "elbowroom/model/scenario.hpp"
#include "elbowroom/plan/controls.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/plan/pad_ranges.hpp"

namespace elbowroom {
namespace {

constexpr std::array kSchemes{Scheme::sequential,      Scheme::concurrent, Scheme::priority,      Scheme::shaped,
                              Scheme::shaped_priority, Scheme::tuned,      Scheme::green_context, Scheme::comm_blocks_only,
                              Scheme::sm_target_only,  Scheme::copy_engine};
constexpr std::size_t kBaselines = 5;

using Plans = Result<std::vector<OverlapPlan>>;

Plans capped_plans(OverlapPlan plan, const DeviceLimits& device, const std::optional<KernelFootprint>& footprint) {
  if (!footprint) { return invalid_input("the kernel is a library's own, its launches cannot be padded from outside"); }
  const Result<std::vector<PadRange>> ranges = capped_pad_ranges(device, *footprint);
  if (!ranges) { return ranges.error(); }
  std::vector<OverlapPlan> plans;
  for (const PadRange& range : *ranges) {
    plan.blocks_per_sm = range.blocks_per_sm;
    plan.pad = range.pad_min;
    plans.push_back(plan);
  }
  return plans;
}

Plans peer_plans(Scheme scheme, const OverlapPlan& plain, const DeviceLimits& device,
                 const std::optional<KernelFootprint>& footprint, const Collective& collective) {
  for (const Control& control : controls()) {
    if (control.peer.plans != nullptr && control.peer.scheme == scheme) {
      return control.peer.plans(plain, device, footprint, collective);
    }
  }
  return invalid_input(fmt::format("{}: no control is alone in it", to_string(scheme)));
}

}  // namespace

std::span<const Scheme> schemes() { return kSchemes; }

std::span<const Scheme> baselines() { return std::span(kSchemes).first(kBaselines); }

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
    case Scheme::tuned:
      return "tuned";
    case Scheme::green_context:
      return "green_context";
    case Scheme::comm_blocks_only:
      return "comm_blocks_only";
    case Scheme::sm_target_only:
      return "sm_target_only";
    case Scheme::copy_engine:
      return "copy_engine";
  }
  return "";
}

Result<Scheme> parse_scheme(std::string_view name) {
  std::string names;
  for (const Scheme scheme : kSchemes) {
    if (to_string(scheme) == name) { return scheme; }
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
  switch (scheme) {
    case Scheme::sequential:
    case Scheme::concurrent:
    case Scheme::priority:
      return std::vector{plan};
    case Scheme::shaped:
    case Scheme::shaped_priority:
      return capped_plans(plan, device, footprint);
    case Scheme::tuned:
      return invalid_input("tuned: its plan is looked up in a profile, expected a scheme whose plans follow from the kernels");
    case Scheme::green_context:
    case Scheme::comm_blocks_only:
    case Scheme::sm_target_only:
    case Scheme::copy_engine:
      return peer_plans(scheme, plan, device, footprint, collective);
  }
  return invalid_input("scheme: unknown");
}

}  // namespace elbowroom
