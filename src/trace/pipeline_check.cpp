#include "elbowroom/trace/pipeline_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

namespace elbowroom {
namespace {

struct OnDevice {
  std::vector<const Span*> compute;
  std::vector<const Span*> comm;
};

Status check_device(int device, OnDevice& spans, std::size_t iterations) {
  if (spans.comm.size() != iterations || spans.compute.empty() || spans.compute.size() % iterations != 0) {
    return unavailable(
        fmt::format("the recording of GPU {} holds {} collectives and {} compute kernels, expected {} and a multiple of it", device,
                    spans.comm.size(), spans.compute.size(), iterations));
  }
  const auto earlier = [](const Span* a, const Span* b) { return a->begin < b->begin; };
  std::ranges::sort(spans.compute, earlier);
  std::ranges::sort(spans.comm, earlier);
  const std::size_t kernels = spans.compute.size() / iterations;
  for (std::size_t i = 0; i < iterations; ++i) {
    const Span& last = *spans.compute[(i + 1) * kernels - 1];
    if (spans.comm[i]->begin >= last.end) continue;
    return failed(fmt::format("collective {} on GPU {} began {} ns before its compute had ended", i, device,
                              (last.end - spans.comm[i]->begin).count()));
  }
  return {};
}

}  // namespace

Status check_pipeline(const Timeline& timeline, int iterations) {
  std::map<int, OnDevice> devices;
  for (const Span& span : timeline.spans) {
    if (span.kind == SpanKind::compute) devices[span.device].compute.push_back(&span);
    if (span.kind == SpanKind::communication) devices[span.device].comm.push_back(&span);
  }
  if (devices.empty()) return unavailable("the recording is empty");
  for (auto& [device, spans] : devices) {
    if (Status kept = check_device(device, spans, static_cast<std::size_t>(iterations)); !kept) return kept;
  }
  return {};
}

}  // namespace elbowroom
