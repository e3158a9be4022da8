#include "elbowroom/report/scenario_line.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <variant>

#include "elbowroom/model/size.hpp"

namespace elbowroom {
namespace {

std::string details(const TiledGemm& gemm) {
  const std::string grid = gemm.grid ? fmt::format("{}x{}", gemm.grid->x, gemm.grid->y) : "full";
  return fmt::format("{} {}x{}x{}, tile {}x{}x{}, grid {}", to_string(gemm.dtype), gemm.m, gemm.n, gemm.k, gemm.tile_m, gemm.tile_n,
                     gemm.tile_k, grid);
}

std::string details(const LibraryGemm& gemm) { return fmt::format("{} {}x{}x{}", to_string(gemm.dtype), gemm.m, gemm.n, gemm.k); }

std::string details(const Elementwise& elementwise) {
  return fmt::format("{} {} {}", to_string(elementwise.op), to_string(elementwise.dtype), format_size(elementwise.bytes));
}

std::string details(const ModuleKernel& kernel) {
  return fmt::format("{} of {}, grid {}x{}x{}, block {}x{}x{}", kernel.function, kernel.file, kernel.grid.x, kernel.grid.y,
                     kernel.grid.z, kernel.block.x, kernel.block.y, kernel.block.z);
}

std::string details(const FootprintKernel& kernel) {
  return fmt::format("of {} threads and {} registers, {} blocks of {:g} us", kernel.footprint.threads.count(),
                     kernel.footprint.registers_per_thread.count(), kernel.blocks.count(), kernel.block_time.count());
}

std::string details(const Collective& collective) {
  std::string line = fmt::format("{} {} {}", to_string(collective.op), to_string(collective.dtype), format_size(collective.bytes));
  if (collective.comm_blocks) { line += fmt::format(", {} comm blocks", collective.comm_blocks->count()); }
  if (collective.cluster) { line += fmt::format(", cluster {}", *collective.cluster); }
  if (collective.root) { line += fmt::format(", root {}", *collective.root); }
  if (!collective.shares.empty()) { line += fmt::format(", shares {}", fmt::join(collective.shares, ":")); }
  return line;
}

}  // namespace

std::string scenario_line(const Scenario& scenario) {
  return fmt::format(
      "{}: {} GPUs, {} {}, {}; {} {}; {}", scenario.name, scenario.gpus, scenario.iterations,
      scenario.iterations == 1 ? "iteration" : "iterations", to_string(scenario.pattern), kernel_name(scenario.compute),
      std::visit([](const auto& kernel) { return details(kernel); }, scenario.compute), details(scenario.collective));
}

std::string step_line(const Step& step) {
  std::string mesh;
  for (const MeshAxis& axis : step.mesh) { mesh += fmt::format("{}{}={}", mesh.empty() ? " (" : ", ", axis.name, axis.size); }
  if (!mesh.empty()) { mesh += ")"; }
  return fmt::format("{}: {} ranks{}, {} {}; {} operations, {} of them communicate", step.name, step.ranks, mesh, step.repeats,
                     step.repeats == 1 ? "repeat" : "repeats", step.operations.size(),
                     std::ranges::count_if(step.operations, [](const Operation& operation) { return !computes(operation); }));
}

std::string case_line(const Case& what) {
  const auto* scenario = std::get_if<Scenario>(&what);
  return scenario != nullptr ? scenario_line(*scenario) : step_line(std::get<Step>(what));
}

}  // namespace elbowroom
