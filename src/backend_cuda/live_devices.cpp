#include "backend_cuda/live_devices.hpp"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "backend/dynamic_library.hpp"
#include "backend_cuda/cuda_calls.hpp"
#include "backend_gpu/library_settings.hpp"
#include "base/driver_version.hpp"
#include "elbowroom/model/device_catalog.hpp"

namespace elbowroom::cuda {
namespace {

DeviceLimits limits_of(const cudaDeviceProp& properties) {
  DeviceLimits limits;
  limits.architecture = fmt::format("sm_{}{}", properties.major, properties.minor);
  limits.title = properties.name;
  limits.vendor = Vendor::nvidia;
  limits.sms = Sms(properties.multiProcessorCount);
  limits.name = catalog_name(properties.name, limits);
  limits.warp = Threads(properties.warpSize);
  limits.max_threads_per_block = Threads(properties.maxThreadsPerBlock);
  limits.max_threads_per_sm = Threads(properties.maxThreadsPerMultiProcessor);
  limits.max_blocks_per_sm = BlocksPerSm(properties.maxBlocksPerMultiProcessor);
  limits.registers_per_sm = Registers(properties.regsPerMultiprocessor);
  limits.shared_per_sm = Bytes(static_cast<std::int64_t>(properties.sharedMemPerMultiprocessor));
  limits.shared_per_block = Bytes(static_cast<std::int64_t>(properties.sharedMemPerBlockOptin));
  limits.shared_reserved_per_block = Bytes(static_cast<std::int64_t>(properties.reservedSharedMemPerBlock));
  // No attribute tells these; they have been the same on every architecture since sm_70.
  limits.sub_partitions = 4;
  limits.register_granule = Registers(256);
  limits.max_registers_per_thread = Registers(255);
  limits.shared_granule = Bytes(128);
  limits.max_cluster = properties.major >= 9 ? 8 : 1;
  limits.source = "read from the device";
  return limits;
}

std::string bus_id(const cudaDeviceProp& properties) {
  return fmt::format("{:04x}:{:02x}:{:02x}.0", properties.pciDomainID, properties.pciBusID, properties.pciDeviceID);
}

// What is told to NCCL and CUDA.
constexpr std::array<std::string_view, 1> kPrefixes{"NCCL_"};
constexpr std::array<std::string_view, 2> kNames{"CUDA_VISIBLE_DEVICES", "CUDA_DEVICE_MAX_CONNECTIONS"};

std::string dotted(int version) { return fmt::format("{}.{}", version / 1000, version % 1000 / 10); }

}  // namespace

Result<std::vector<DeviceInfo>> live_devices() {
  // CUDA's runtime opens the driver by its name alone.
  if (const std::optional<std::string> where = detail::beside_the_call("libcuda.so.1")) {
    return unavailable(
        fmt::format("LD_LIBRARY_PATH has '{}', in which a libcuda.so.1 lies: expected a path from the root", *where));
  }
  int count = 0;
  const cudaError_t asked = cudaGetDeviceCount(&count);
  if (int driver = 0; asked == cudaErrorInsufficientDriver && cudaDriverGetVersion(&driver) == cudaSuccess && driver == 0) {
    return unavailable("no NVIDIA driver (libcuda.so.1)");
  }
  if (asked == cudaErrorInsufficientDriver || asked == cudaErrorNoDevice || (asked == cudaSuccess && count == 0)) {
    return unavailable(
        fmt::format("no NVIDIA GPU or driver ({})", cudaGetErrorString(asked == cudaSuccess ? cudaErrorNoDevice : asked)));
  }
  if (asked != cudaSuccess) { return unavailable(check(asked, "cudaGetDeviceCount").error().message); }

  std::vector<DeviceInfo> devices;
  for (int index = 0; index < count; ++index) {
    cudaDeviceProp properties{};
    if (Status read = check(cudaGetDeviceProperties(&properties, index), "cudaGetDeviceProperties"); !read) {
      return unavailable(read.error().message);
    }
    devices.push_back({index, properties.name, limits_of(properties), Bytes(static_cast<std::int64_t>(properties.totalGlobalMem)),
                       std::nullopt, bus_id(properties)});
  }
  return devices;
}

std::vector<std::pair<std::string, std::string>> live_versions() {
  std::vector<std::pair<std::string, std::string>> versions;
  int runtime = 0;
  if (cudaRuntimeGetVersion(&runtime) == cudaSuccess) { versions.emplace_back("cuda", dotted(runtime)); }
  if (std::string driver = elbowroom::detail::version_in(elbowroom::detail::kNvidiaDriver); !driver.empty()) {
    versions.emplace_back("driver", std::move(driver));
  }
  for (auto& setting : gpu::library_settings(kPrefixes, kNames)) { versions.push_back(std::move(setting)); }
  return versions;
}

}  // namespace elbowroom::cuda
