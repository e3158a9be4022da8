#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/plan/plan_text.hpp"
#include "elbowroom/report/sweep_document.hpp"
#include "fuzz/stop.hpp"

namespace {

using namespace elbowroom;

Scenario scenario() {
  return {"fuzz",
          2,
          8,
          Pattern::pipeline,
          Elementwise{ElementwiseOp::gelu, DataType::f32, mebibytes(64)},
          {CollectiveOp::all_reduce, mebibytes(32), DataType::bf16, std::nullopt, std::nullopt}};
}

/// What is accepted stays within its bounds, and gives scenarios or one line.
void check_axes(std::string_view text) {
  const Result<std::vector<SweepAxis>> axes = parse_sweep(text);
  if (!axes) { return check_line(axes.error()); }
  if (axes->empty() || axes->size() > kMostSweepAxes) { stop("no or too many axes", std::string(text)); }
  for (const SweepAxis& axis : *axes) {
    if (axis.values.size() > kMostSweepValues) { stop("too many values", std::string(text)); }
    for (const std::string& value : axis.values) {
      std::vector<ControlSetting> settings;
      if (axis.is_control()) {
        add_setting(settings, axis, value);
      } else if (const Result<Scenario> changed = with_member(scenario(), axis, value); !changed) {
        check_line(changed.error());
      }
    }
  }
}

/// The grid of corpus/sweep.
SweepDocument grid() {
  SweepDocument document;
  document.plan = "priority";
  document.cases = {{scenario(), {{"blocks_per_sm", {"off", "4"}}, {"comm_blocks", {"4", "8"}}}, {}}};
  document.cases[0].cells.resize(4);
  return document;
}

}  // namespace

// parse_sweep and take_cells never throw or crash, their errors are one line, and a document that is taken is written and taken
// again.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  check_axes(text);
  SweepDocument document = grid();
  if (const Status taken = take_cells(document, text, "fuzz"); !taken) {
    check_line(taken.error());
    return 0;
  }
  const std::string written = to_json(document);
  SweepDocument again = grid();
  const Status taken = take_cells(again, written, "written");
  if (!taken || again.cases[0].cells != document.cases[0].cells) { stop("does not read back", written); }
  return 0;
}
