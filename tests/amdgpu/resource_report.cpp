#include "resource_report.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

using namespace elbowroom;

namespace {

/// The value in "...remark: <blanks><field><value> [-R...". Nothing when the line is not of that field.
std::optional<std::string> value_of(const std::string& line, std::string_view field) {
  constexpr std::string_view kRemark = "remark: ";
  const std::size_t remark = line.find(kRemark);
  if (remark == std::string::npos) { return std::nullopt; }
  const std::size_t name = line.find_first_not_of(' ', remark + kRemark.size());
  if (name == std::string::npos || line.compare(name, field.size(), field) != 0) { return std::nullopt; }
  const std::size_t value = name + field.size();
  return line.substr(value, line.find(' ', value) - value);
}

}  // namespace

int CompiledKernel::threads() const {
  int threads = 256;
  static_cast<void>(std::sscanf(name.c_str(), "sweep_t%d_", &threads));
  return threads;
}

KernelFootprint CompiledKernel::footprint() const { return {Threads(threads()), Registers(registers()), Bytes(lds), Bytes(0), 1}; }

std::vector<CompiledKernel> read_report(const std::string& name) {
  std::ifstream stream(std::filesystem::path(ELBOWROOM_REPORTS) / name);
  std::vector<CompiledKernel> kernels;
  std::string line;
  while (std::getline(stream, line)) {
    if (const auto kernel = value_of(line, "Function Name: ")) { kernels.emplace_back().name = *kernel; }
    if (kernels.empty()) { continue; }
    CompiledKernel& kernel = kernels.back();
    if (const auto value = value_of(line, "VGPRs: ")) { kernel.vgprs = std::stoi(*value); }
    if (const auto value = value_of(line, "AGPRs: ")) { kernel.agprs = std::stoi(*value); }
    if (const auto value = value_of(line, "ScratchSize [bytes/lane]: ")) { kernel.scratch = std::stoi(*value); }
    if (const auto value = value_of(line, "Occupancy [waves/SIMD]: ")) { kernel.waves_per_simd = std::stoi(*value); }
    if (const auto value = value_of(line, "LDS Size [bytes/block]: ")) { kernel.lds = std::stoi(*value); }
  }
  return kernels;
}

PlannedWaves planned_waves(const DeviceLimits& device, const CompiledKernel& kernel) {
  const KernelFootprint block = kernel.footprint();
  KernelFootprint one_wave = block;
  one_wave.threads = device.warp;
  const BlockLimits limits = *block_limits(device, block);
  return {static_cast<int>(block_limits(device, one_wave)->by_registers.count()) / device.sub_partitions,
          static_cast<int>(std::min({limits.by_shared_memory, limits.by_threads, limits.by_blocks}).count()),
          static_cast<int>(occupancy(device, block)->residency.count())};
}
