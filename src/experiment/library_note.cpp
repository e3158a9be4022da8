#include "experiment/library_note.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace elbowroom::detail {
namespace {

/// By NCCL's name for such kernels, or the simulator's.
bool on_symmetric_memory(const Span& span) {
  return span.name.find("Symk") != std::string::npos || span.name.find("symmetric") != std::string::npos;
}

}  // namespace

std::optional<std::string> library_note(const OverlapPlan& plan, std::span<const Timeline> recordings) {
  if (recordings.empty()) return std::nullopt;
  const std::vector<Span>& spans = recordings.front().spans;
  const bool copied =
      std::ranges::any_of(spans, [](const Span& span) { return span.kind == SpanKind::communication && !span.launch; });
  if (plan.copy_engine && !copied) return "the library moved all data with kernels";
  if (plan.symmetric && std::ranges::none_of(spans, on_symmetric_memory)) return "the library's kernels took no symmetric memory";
  // In windows only, the last collective does not follow the plan.
  if (!plan.comm_blocks || plan.windows_only) return std::nullopt;
  for (const Span& span : spans) {
    if (span.kind != SpanKind::communication || !span.launch || span.launch->grid == *plan.comm_blocks) continue;
    return fmt::format("{} comm blocks were asked for, {} ran", plan.comm_blocks->count(), span.launch->grid.count());
  }
  return std::nullopt;
}

}  // namespace elbowroom::detail
