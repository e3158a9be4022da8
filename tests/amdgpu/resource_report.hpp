#pragma once

#include <string>
#include <vector>

#include "elbowroom/model/kernel_footprint.hpp"
#include "elbowroom/plan/occupancy.hpp"

/// What a compiler says of one kernel for AMD (-Rpass-analysis=kernel-resource-usage).
struct CompiledKernel {
  std::string name;
  int vgprs = 0;
  int agprs = 0;
  int scratch = 0;         ///< bytes of a thread: registers that spilled
  int waves_per_simd = 0;  ///< its occupancy
  int lds = 0;             ///< bytes of a block

  /// VGPRs of a thread in the file that both kinds share: accumulation registers begin at a multiple of 4.
  [[nodiscard]] int registers() const { return agprs == 0 ? vgprs : (vgprs + 3) / 4 * 4 + agprs; }
  /// Of a block: the sweep's kernels have it in their name, all of the backend's have 256.
  [[nodiscard]] int threads() const;
  [[nodiscard]] elbowroom::KernelFootprint footprint() const;
};

/// The kernels of a report that the build left behind ("kernels.gfx90a"), in order; none when it is missing.
std::vector<CompiledKernel> read_report(const std::string& name);

/// What the planner allows on a device, in terms of a compiler.
struct PlannedWaves {
  int by_registers = 0;   ///< waves that a SIMD can hold, whole blocks or not
  int blocks_by_lds = 0;  ///< of a CU, up to what threads and blocks allow
  int residency = 0;      ///< blocks of a CU by all resources together
};
PlannedWaves planned_waves(const elbowroom::DeviceLimits& device, const CompiledKernel& kernel);
