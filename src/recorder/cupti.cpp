#include "recorder/cupti.hpp"

#include <dlfcn.h>
#include <link.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "recorder/bind.hpp"

namespace elbowroom::recorder {
namespace {

/// The path of a library that the program has mapped, wherever it lies: wheels bring CUPTI with them.
std::string mapped_cupti() {
  std::string found;
  const auto look = [](dl_phdr_info* info, std::size_t, void* result) {
    const std::string_view path = info->dlpi_name == nullptr ? "" : info->dlpi_name;
    const std::size_t slash = path.rfind('/');
    if (!path.substr(slash == std::string_view::npos ? 0 : slash + 1).starts_with("libcupti.so")) { return 0; }
    *static_cast<std::string*>(result) = path;
    return 1;
  };
  dl_iterate_phdr(look, &found);
  return found;
}

void* open_cupti() {
  if (const std::string mapped = mapped_cupti(); !mapped.empty()) { return dlopen(mapped.c_str(), RTLD_NOW | RTLD_LOCAL); }
  constexpr std::array<const char*, 5> kNames{"libcupti.so.13", "libcupti.so.12", "/usr/local/cuda/lib64/libcupti.so",
                                              "/usr/local/cuda/extras/CUPTI/lib64/libcupti.so", "libcupti.so"};
  for (const char* name : kNames) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL); library != nullptr) { return library; }
  }
  return nullptr;
}

}  // namespace

std::string load(Cupti& cupti) {
  void* const library = open_cupti();  // for good: it has hooks in the driver
  if (library == nullptr) { return "libcupti.so was not found"; }
  const bool whole = bind(library, "cuptiActivityEnable", cupti.enable) && bind(library, "cuptiActivityDisable", cupti.disable) &&
                     bind(library, "cuptiActivityRegisterCallbacks", cupti.register_callbacks) &&
                     bind(library, "cuptiActivityFlushAll", cupti.flush_all) &&
                     bind(library, "cuptiActivityGetNextRecord", cupti.next_record) &&
                     bind(library, "cuptiActivityGetNumDroppedRecords", cupti.dropped_records) &&
                     bind(library, "cuptiGetCallbackName", cupti.callback_name) && bind(library, "cuptiGetVersion", cupti.version);
  if (!whole) { return "libcupti.so lacks functions of its Activity API"; }
  // The records' layouts are those of CUDA 12; later versions append to them.
  constexpr std::uint32_t kOfCuda12 = 18;
  std::uint32_t version = 0;
  if (cupti.version(&version) != CUPTI_SUCCESS || version < kOfCuda12) {
    return "libcupti.so has version " + std::to_string(version) + ", expected 18 (CUDA 12.0) or newer";
  }
  return "";
}

int devices_in_use() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  decltype(&cuDeviceGetCount) count_devices = nullptr;
  decltype(&cuDevicePrimaryCtxGetState) state = nullptr;
  int devices = 0;
  if (driver == nullptr || !bind(driver, "cuDeviceGetCount", count_devices) || !bind(driver, "cuDevicePrimaryCtxGetState", state) ||
      count_devices(&devices) != CUDA_SUCCESS) {
    return 0;
  }
  int used = 0;
  for (CUdevice device = 0; device < devices; ++device) {
    unsigned flags = 0;
    int active = 0;
    if (state(device, &flags, &active) == CUDA_SUCCESS && active != 0) { ++used; }
  }
  return used;
}

Device driver_device(int id) {
  Device result{id, "", 0};
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  decltype(&cuDeviceGetName) name = nullptr;
  decltype(&cuDeviceGetAttribute) attribute = nullptr;
  if (driver == nullptr || !bind(driver, "cuDeviceGetName", name) || !bind(driver, "cuDeviceGetAttribute", attribute)) {
    return result;
  }
  std::array<char, 128> text{};
  if (name(text.data(), static_cast<int>(text.size()), id) == CUDA_SUCCESS) { result.name = text.data(); }
  if (attribute(&result.sms, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, id) != CUDA_SUCCESS) { result.sms = 0; }
  return result;
}

}  // namespace elbowroom::recorder
