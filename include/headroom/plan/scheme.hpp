#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "headroom/base/export.hpp"
#include "headroom/base/result.hpp"
#include "headroom/model/device_limits.hpp"
#include "headroom/model/kernel_footprint.hpp"
#include "headroom/model/scenario.hpp"
#include "headroom/plan/overlap_plan.hpp"

namespace headroom {

/// How a bench run schedules. `sequential`: one stream. `concurrent`: two streams, nothing else. `priority`: and the
/// communication stream at the greatest priority. `shaped`: two streams and a residency cap (the source paper's baseline
/// overlap). `shaped_priority`: both (its optimized overlap).
enum class Scheme { sequential, concurrent, priority, shaped, shaped_priority };

HEADROOM_API std::span<const Scheme> schemes();
HEADROOM_API std::string_view to_string(Scheme scheme);
/// `invalid_input` names every scheme.
HEADROOM_API Result<Scheme> parse_scheme(std::string_view name);

constexpr bool is_shaped(Scheme scheme) { return scheme == Scheme::shaped || scheme == Scheme::shaped_priority; }

/// Every plan under which a scheme can run, greatest residency first: one for the unshaped schemes, one for each residency below
/// the unpadded one for the shaped schemes. The collective's own budget is in every plan. `footprint` is absent when the kernel is
/// a library's; then, and when no cap is reachable, a shaped scheme is refused with its reason (`invalid_input`).
HEADROOM_API Result<std::vector<OverlapPlan>> scheme_plans(Scheme scheme, const DeviceLimits& device,
                                                           const std::optional<KernelFootprint>& footprint,
                                                           const Collective& collective);

}  // namespace headroom
