#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom {

struct Collective;
struct DeviceLimits;
struct KernelFootprint;
struct OverlapPlan;

/// How a bench run schedules. Baselines take no choice but a residency. `sequential`: one stream. `concurrent`: two streams,
/// nothing else. `priority`: and the communication stream at the greatest priority. `shaped`: two streams and a residency cap (the
/// source paper's baseline overlap). `shaped_priority`: both (its optimized overlap). `tuned`: a stored choice over all controls.
/// The others are what is commonly done instead, one control each: `green_context` parts the SMs, `comm_blocks_only` limits the
/// collective's blocks, `sm_target_only` a library GEMM's SMs, `copy_engine` takes the collective off the SMs.
enum class Scheme {
  sequential,
  concurrent,
  priority,
  shaped,
  shaped_priority,
  tuned,
  green_context,
  comm_blocks_only,
  sm_target_only,
  copy_engine,
};

ELBOWROOM_API std::span<const Scheme> schemes();
/// The first five schemes: what every backend runs, and what `tuned` is never worse than.
ELBOWROOM_API std::span<const Scheme> baselines();
ELBOWROOM_API std::string_view to_string(Scheme scheme);
/// `invalid_input` names every scheme.
ELBOWROOM_API Result<Scheme> parse_scheme(std::string_view name);

/// What is commonly done instead of choosing all controls together.
constexpr bool is_peer(Scheme scheme) {
  return scheme == Scheme::green_context || scheme == Scheme::comm_blocks_only || scheme == Scheme::sm_target_only ||
         scheme == Scheme::copy_engine;
}

constexpr bool is_shaped(Scheme scheme) { return scheme == Scheme::shaped || scheme == Scheme::shaped_priority; }

/// Every plan under which a scheme can run. Unshaped baselines have one. Shaped schemes have one for each residency below the
/// unpadded one, greatest first. Others have one for each value of their control. The collective's own budget is in every plan and
/// is never overruled. `footprint` is absent when the kernel is a library's. A scheme that cannot act is refused with its reason
/// (`invalid_input`); so is `tuned`, whose plan is stored and not derived.
ELBOWROOM_API Result<std::vector<OverlapPlan>> scheme_plans(Scheme scheme, const DeviceLimits& device,
                                                            const std::optional<KernelFootprint>& footprint,
                                                            const Collective& collective);

}  // namespace elbowroom
