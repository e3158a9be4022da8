#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/model/device_catalog.hpp"
#include "elbowroom/model/kernel_footprint.hpp"
#include "elbowroom/model/scenario.hpp"
#include "elbowroom/plan/control_site.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/plan/plan_text.hpp"
#include "fuzz/stop.hpp"

namespace {

using namespace elbowroom;

/// A kernel that can be capped beside a collective that has all controls.
ControlSite site() {
  Scenario scenario;
  scenario.name = "fuzz";
  scenario.iterations = 8;
  scenario.compute = Elementwise{ElementwiseOp::gelu, DataType::f32, mebibytes(4096)};
  scenario.collective = {CollectiveOp::all_reduce, mebibytes(512), DataType::bf16, std::nullopt, std::nullopt};
  const KernelFootprint compute{Threads(256), Registers(30), Bytes(0), Bytes(0), 1};
  return *control_site(scenario, *find_device("h200"), compute, std::nullopt, {});
}

}  // namespace

// parse_plan never throws or crashes, its errors are one line without control characters, and a plan that it leads to is legal.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const ControlSite at = site();
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<std::vector<ControlSetting>> settings = parse_plan(text);
  if (!settings) {
    check_line(settings.error());
    return 0;
  }
  const Result<OverlapPlan> plan = plan_of(at, *settings);
  if (!plan) {
    check_line(plan.error());
  } else if (!check_plan(at, *plan)) {
    stop("an illegal plan", in_words(*plan));
  }
  return 0;
}
