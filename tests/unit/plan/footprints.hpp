#pragma once

#include <rapidcheck.h>

#include <string_view>

#include "elbowroom/model/comm_catalog.hpp"
#include "elbowroom/model/device_catalog.hpp"
#include "elbowroom/model/kernel_footprint.hpp"

namespace elbowroom::testing {

inline DeviceLimits device(std::string_view name) { return *find_device(name); }

inline KernelFootprint comm(std::string_view name, std::string_view on) { return find_comm_kernel(name, device(on))->footprint; }

/// Threads, registers, static and dynamic shared memory of one block, no cluster.
inline KernelFootprint block(std::int64_t threads, std::int64_t registers, std::int64_t static_shared = 0,
                             std::int64_t dynamic_shared = 0) {
  return {Threads(threads), Registers(registers), Bytes(static_shared), Bytes(dynamic_shared), 1};
}

/// 256 threads: 2,048 / 256 = 8 blocks on H200. 30 registers round up to 32 per thread: 65,536 / (256 * 32) = 8 blocks.
inline const KernelFootprint kEightBlocks = block(256, 30);

/// A SIMT GEMM of 64 x 64 tiles: registers allow 4 blocks on H200 (occupancy_test), its ranges are in pad_ranges_test.
inline const KernelFootprint kSimtGemm = block(256, 56, 4'096);

/// A tensor-core GEMM of 64 x 64 tiles: each of its 4 warps takes 96 * 32 of the 16,384 registers of its quarter of an SM, so 5
/// blocks.
inline const KernelFootprint kTensorGemm = block(128, 96, 18'432);

/// Footprints around and within what SMs allow; some cannot run.
inline rc::Gen<KernelFootprint> any_footprint() {
  return rc::gen::construct<KernelFootprint>(
      rc::gen::map(rc::gen::inRange(1, 1'025), [](int n) { return Threads(n); }),
      rc::gen::map(rc::gen::inRange(1, 256), [](int n) { return Registers(n); }),
      rc::gen::map(rc::gen::inRange(0, 48 * 1'024 + 1), [](int n) { return Bytes(n); }),
      rc::gen::map(rc::gen::weightedOneOf<int>({{2, rc::gen::just(0)}, {3, rc::gen::inRange(0, 128 * 1'024)}}),
                   [](int n) { return Bytes(n); }),
      rc::gen::just(1));
}

inline rc::Gen<DeviceLimits> any_device() {
  return rc::gen::map(rc::gen::inRange<std::size_t>(0, device_catalog().size()), [](std::size_t i) { return device_catalog()[i]; });
}

}  // namespace elbowroom::testing

namespace rc {
/// Devices are drawn whole; a counterexample names its own.
inline void showValue(const elbowroom::DeviceLimits& device, std::ostream& out) { out << device.name; }
inline void showValue(const elbowroom::KernelFootprint& block, std::ostream& out) {
  out << block.threads.count() << " threads, " << block.registers_per_thread.count() << " registers, "
      << block.static_shared.count() << " B static, " << block.dynamic_shared.count() << " B dynamic";
}
}  // namespace rc
