#include "experiment/library_note.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "model/library_kernels.hpp"

namespace elbowroom::detail {

std::optional<std::string> library_note(const OverlapPlan& plan, std::span<const Timeline> recordings) {
  if (recordings.empty()) { return std::nullopt; }
  const std::vector<Span>& spans = recordings.front().spans;
  const bool copied =
      std::ranges::any_of(spans, [](const Span& span) { return span.kind == SpanKind::communication && !span.launch; });
  if (plan.copy_engine && !copied) { return "the library moved all data with kernels"; }
  if (plan.symmetric && std::ranges::none_of(spans, is_on_symmetric_memory, &Span::name)) {
    return "the library's kernels took no symmetric memory";
  }
  // In windows only, the last collective does not follow the plan.
  if (!plan.comm_blocks || plan.windows_only) { return std::nullopt; }
  for (const Span& span : spans) {
    if (span.kind != SpanKind::communication || !span.launch || span.launch->grid == *plan.comm_blocks) { continue; }
    return fmt::format("{} comm blocks were asked for, {} ran", plan.comm_blocks->count(), span.launch->grid.count());
  }
  return std::nullopt;
}

}  // namespace elbowroom::detail
