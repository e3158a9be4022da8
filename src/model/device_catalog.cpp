#include "elbowroom/model/device_catalog.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <cctype>
#include <string>
#include <vector>

namespace elbowroom {
namespace {

// Sources, cited per field below.
//   [CC]    CUDA C++ Programming Guide 13.0, "Technical Specifications per Compute Capability".
//   [OCC]   CUDA toolkit 13.0, cuda_occupancy.h: allocation granules, sub-partitions, blocks per SM.
//   [GUIDE] Ampere, Hopper and Blackwell tuning guides: shared memory per SM and block, 1 KiB reserved per block, cluster size.
//   [LLVM]  LLVM's AMDGPU backend, gfx90a and gfx942: 8 waves per SIMD, VGPR granule 8, 512 VGPRs, LDS 64 KiB by 512 B.
//   [ROCM]  ROCm documentation, "Accelerator and GPU hardware specifications": CUs, wave size, LDS, VGPR file.
// The SM counts come from the product's own data sheet or architecture white paper, named in `source`.

// What every SM since Ampere has in common.
DeviceLimits nvidia_sm() {
  DeviceLimits limits;
  limits.vendor = Vendor::nvidia;
  limits.warp = Threads(32);                         // [CC]
  limits.max_threads_per_block = Threads(1'024);     // [CC]
  limits.registers_per_sm = Registers(65'536);       // [CC] 64 K 32-bit registers
  limits.sub_partitions = 4;                         // [OCC] sub-partitions per multiprocessor
  limits.register_granule = Registers(256);          // [OCC] per warp
  limits.max_registers_per_thread = Registers(255);  // [CC]
  limits.shared_reserved_per_block = kibibytes(1);   // [GUIDE] by the system, per block
  limits.shared_granule = Bytes(128);                // [OCC]
  return limits;
}

// The compute unit of CDNA 2 and CDNA 3, whose vector and accumulation registers are one file.
DeviceLimits amd_cu() {
  constexpr std::int64_t wave = 64, simds = 4, vgprs_per_lane = 512, vgpr_granule = 8;
  DeviceLimits limits;
  limits.vendor = Vendor::amd;
  limits.warp = Threads(wave);                                         // [ROCM]
  limits.max_threads_per_block = Threads(1'024);                       // [LLVM] largest flat workgroup
  limits.max_threads_per_sm = Threads(8 * simds * wave);               // [LLVM] 8 waves per SIMD
  limits.max_blocks_per_sm = BlocksPerSm(8 * simds);                   // [LLVM] one-wave workgroups; of others waves allow 16
  limits.registers_per_sm = Registers(vgprs_per_lane * wave * simds);  // [ROCM] 512 KiB VGPR file
  limits.sub_partitions = simds;                                       // [ROCM]
  limits.register_granule = Registers(vgpr_granule * wave);            // [LLVM]
  limits.max_registers_per_thread = Registers(vgprs_per_lane);         // [LLVM] 256 vector and 256 accumulation
  limits.shared_per_sm = kibibytes(64);                                // [ROCM] LDS
  limits.shared_per_block = kibibytes(64);                             // [LLVM]
  limits.shared_reserved_per_block = Bytes(0);                         // [LLVM] LDS is the workgroup's alone
  limits.shared_granule = Bytes(512);                                  // [LLVM]
  limits.max_cluster = 1;                                              // no clusters in HIP
  return limits;
}

DeviceLimits a40() {
  DeviceLimits limits = nvidia_sm();
  limits.name = "a40";
  limits.title = "NVIDIA A40";
  limits.architecture = "sm_86";
  limits.sms = Sms(84);                        // GA102 white paper: 84 SMs
  limits.max_threads_per_sm = Threads(1'536);  // [CC] 8.6: 48 warps
  limits.max_blocks_per_sm = BlocksPerSm(16);  // [CC], [OCC]
  limits.shared_per_sm = kibibytes(100);       // [CC], [GUIDE]
  limits.shared_per_block = kibibytes(99);     // [CC], [GUIDE]
  limits.max_cluster = 1;                      // [CC] clusters begin with 9.0
  limits.source = "CUDA C++ Programming Guide 13.0 (compute capability 8.6), cuda_occupancy.h 13.0, NVIDIA GA102 white paper";
  return limits;
}

DeviceLimits a100() {
  DeviceLimits limits = nvidia_sm();
  limits.name = "a100";
  limits.title = "NVIDIA A100";
  limits.architecture = "sm_80";
  limits.sms = Sms(108);                       // A100 white paper
  limits.max_threads_per_sm = Threads(2'048);  // [CC] 8.0: 64 warps
  limits.max_blocks_per_sm = BlocksPerSm(32);  // [CC], [OCC]
  limits.shared_per_sm = kibibytes(164);       // [CC], [GUIDE]
  limits.shared_per_block = kibibytes(163);    // [CC], [GUIDE]
  limits.max_cluster = 1;                      // [CC]
  limits.source = "CUDA C++ Programming Guide 13.0 (compute capability 8.0), cuda_occupancy.h 13.0, NVIDIA A100 white paper";
  return limits;
}

// Hopper and data-centre Blackwell share every limit but the SM count.
DeviceLimits hopper_sm() {
  DeviceLimits limits = nvidia_sm();
  limits.max_threads_per_sm = Threads(2'048);  // [CC] 9.0, 10.0: 64 warps
  limits.max_blocks_per_sm = BlocksPerSm(32);  // [CC], [OCC]
  limits.shared_per_sm = kibibytes(228);       // [CC], [GUIDE]
  limits.shared_per_block = kibibytes(227);    // [CC], [GUIDE]
  limits.max_cluster = 8;                      // [GUIDE] portable; 16 only where a kernel opts in
  return limits;
}

DeviceLimits hopper(std::string name, std::string title) {
  DeviceLimits limits = hopper_sm();
  limits.name = std::move(name);
  limits.title = std::move(title);
  limits.architecture = "sm_90";
  limits.sms = Sms(132);  // H100 white paper, SXM5; cudaGetDeviceProperties of an H200 SXM
  limits.source = "CUDA C++ Programming Guide 13.0 (compute capability 9.0), cuda_occupancy.h 13.0, NVIDIA H100 white paper (SXM5)";
  return limits;
}

DeviceLimits b200() {
  DeviceLimits limits = hopper_sm();
  limits.name = "b200";
  limits.title = "NVIDIA B200";
  limits.architecture = "sm_100";
  limits.sms = Sms(148);  // two dies of 74 enabled SMs
  limits.source = "CUDA C++ Programming Guide 13.0 (compute capability 10.0), cuda_occupancy.h 13.0, NVIDIA Blackwell tuning guide";
  return limits;
}

DeviceLimits mi250x() {
  DeviceLimits limits = amd_cu();
  limits.name = "mi250x";
  limits.title = "AMD Instinct MI250X (one GCD)";
  limits.architecture = "gfx90a";
  limits.sms = Sms(110);  // [ROCM] 220 on two GCDs, each of which is a device of its own
  limits.source = "ROCm accelerator specifications (gfx90a), LLVM AMDGPU backend, AMD CDNA 2 white paper";
  return limits;
}

DeviceLimits mi300x() {
  DeviceLimits limits = amd_cu();
  limits.name = "mi300x";
  limits.title = "AMD Instinct MI300X";
  limits.architecture = "gfx942";
  limits.sms = Sms(304);  // [ROCM] 38 per XCD, 8 XCDs
  limits.source = "ROCm accelerator specifications (gfx942), LLVM AMDGPU backend, AMD CDNA 3 white paper";
  return limits;
}

}  // namespace

std::span<const DeviceLimits> device_catalog() {
  static const std::array catalog{
      a40(), a100(), hopper("h100", "NVIDIA H100 SXM"), hopper("h200", "NVIDIA H200 SXM"), b200(), mi250x(), mi300x(),
  };
  return catalog;
}

Result<DeviceLimits> find_device(std::string_view name) {
  std::vector<std::string_view> names;
  for (const DeviceLimits& device : device_catalog()) {
    if (device.name == name) { return device; }
    names.emplace_back(device.name);
  }
  return invalid_input(fmt::format("device '{}' is not in the catalog, expected one of {}", name, fmt::join(names, ", ")));
}

std::string catalog_name(std::string_view driver_name, const DeviceLimits& live) {
  std::string word;
  std::string name(driver_name);
  name += ' ';
  for (const char c : name) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
      continue;
    }
    const Result<DeviceLimits> known = find_device(word);
    if (known && known->architecture == live.architecture && known->sms == live.sms) { return word; }
    word.clear();
  }
  return live.architecture;
}

}  // namespace elbowroom
