#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string_view>

#include "runtime.hpp"

// Devices, their facts and their memory, which is the host's.

namespace fake_hip {
namespace {

const char* environment(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr || *value == '\0' ? otherwise : value;
}

Settings read_settings() {
  Settings read;
  const std::string_view priority = environment("ELBOWROOM_FAKE_HIP_PRIORITY", "");
  read.devices = std::clamp(std::atoi(environment("ELBOWROOM_FAKE_HIP_DEVICES", "2")), 0, 16);
  read.arch = environment("ELBOWROOM_FAKE_HIP_ARCH", "gfx90a");
  read.memory = std::strtoull(environment("ELBOWROOM_FAKE_HIP_MEMORY", "68702699520"), nullptr, 10);
  read.priority_ignored = priority == "ignored";
  read.no_priorities = priority == "none";
  read.lazy = std::string_view(environment("ELBOWROOM_FAKE_HIP_LAZY", "0")) == "1";
  read.sticky = std::string_view(environment("ELBOWROOM_FAKE_HIP_STICKY", "0")) == "1";
  read.failing = environment("ELBOWROOM_FAKE_HIP_FAIL", "");
  return read;
}

thread_local int this_threads_device = 0;

struct Allocation {
  int device;  // -1: host memory
  std::size_t bytes;
};

// By address, so that a pointer into an allocation is found as well.
std::map<std::uintptr_t, Allocation>& allocations() {
  static auto* made = new std::map<std::uintptr_t, Allocation>;
  return *made;
}

std::size_t allocated(int device) {
  std::size_t bytes = 0;
  for (const auto& [address, allocation] : allocations()) { bytes += allocation.device == device ? allocation.bytes : 0; }
  return bytes;
}

int allocate(void** pointer, std::size_t bytes, int device) {
  if (pointer == nullptr) { return hip::kErrorInvalidValue; }
  *pointer = nullptr;
  if (bytes == 0) { return 0; }
  if (device >= 0 && bytes > settings().memory - std::min(settings().memory, allocated(device))) { return hip::kErrorOutOfMemory; }
  void* made = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
  if (made == nullptr) { return hip::kErrorOutOfMemory; }
  allocations()[reinterpret_cast<std::uintptr_t>(made)] = {device, bytes};
  *pointer = made;
  return 0;
}

int release(void* pointer, bool host) {
  if (pointer == nullptr) { return 0; }
  const auto found = allocations().find(reinterpret_cast<std::uintptr_t>(pointer));
  if (found == allocations().end() || (found->second.device < 0) != host) { return hip::kErrorInvalidValue; }
  std::free(pointer);
  allocations().erase(found);
  return 0;
}

bool device_finished(int device) {
  return std::ranges::none_of(waiting_streams(),
                              [&](const Stream* stream) { return stream->device == device && !stream->queue.empty(); });
}

int finish_device() {
  const int device = current_device();
  if (!run_until([device] { return device_finished(device); })) { return 719; }
  host_knows(end_of_device(device));
  return 0;
}

int attribute(int which) {
  switch (which) {
    case hip::kDeviceMultiprocessorCount:
    case 10015:  // physical
      return kComputeUnits;
    case 56:  // threads of a block
      return 1024;
    case 57:  // threads of a compute unit
      return 2048;
    case 71:  // registers of a block
    case 72:  // and of a compute unit
      return 65536;
    case hip::kDeviceMaxSharedMemoryPerBlock:
    case hip::kDeviceMaxSharedMemoryPerMultiprocessor:
    case 76:
      return static_cast<int>(kSharedPerUnit);
    case 73:  // reserved shared memory
    case 75:  // shared memory of a block by consent
      return 0;
    case 5:  // clock, kHz
      return 1'700'000;
    case 59:  // bits of the memory bus
      return 4096;
    case 60:  // memory clock, kHz
      return 1'600'000;
    case 19:  // L2
      return 8 * 1024 * 1024;
    case 87:
      return 64;
    case 10:  // cooperative launches
    case 78:  // priorities
      return 1;
    case 10013:  // waiting for values: not before CDNA 2
      return settings().arch == std::string_view("gfx906") ? 0 : 1;
    case 10017:  // constant clock, kHz
      return 100'000;
    default:
      return -1;
  }
}

// The two layouts of hipDeviceProp_t that programs are built with: where their fields lie.
struct PropertyPlaces {
  std::size_t bytes, total_memory, shared_per_block, warp_size, units, arch;
};
constexpr PropertyPlaces kUntilFive{792, 256, 264, 276, 336, 396};
constexpr PropertyPlaces kFromSix{1472, 288, 296, 308, 388, 1160};

int properties(void* to, int device, const PropertyPlaces& places) {
  if (to == nullptr) { return hip::kErrorInvalidValue; }
  if (device < 0 || device >= settings().devices) { return hip::kErrorInvalidDevice; }
  auto* bytes = static_cast<char*>(to);
  std::memset(bytes, 0, places.bytes);
  const auto put = [&](std::size_t at, const auto& value) { std::memcpy(bytes + at, &value, sizeof value); };
  std::strcpy(bytes, "Fake AMD Instinct MI250X");
  put(places.total_memory, settings().memory);
  put(places.shared_per_block, kSharedPerUnit);
  put(places.warp_size, 64);
  put(places.units, kComputeUnits);
  std::strcpy(bytes + places.arch, (settings().arch + ":sramecc+:xnack-").c_str());
  return 0;
}

Settings& kept_settings() {
  static Settings kept = read_settings();
  return kept;
}

}  // namespace

const Settings& settings() { return kept_settings(); }
int current_device() { return this_threads_device; }

}  // namespace fake_hip

using namespace fake_hip;

std::size_t fake_hip_allocations() {
  const std::lock_guard lock(runtime_mutex());
  return allocations().size();
}

#pragma GCC visibility push(default)
extern "C" {
void fake_hip_set_devices(int devices) {
  fake_hip::kept_settings().devices = devices > 0 ? devices : fake_hip::read_settings().devices;
}

int hipInit(unsigned) {
  return question("hipInit", [] { return settings().devices == 0 ? hip::kErrorNoDevice : 0; });
}
int hipDriverGetVersion(int* version) {
  return question("hipDriverGetVersion", [&] { return *version = 60342134, 0; });
}
int hipRuntimeGetVersion(int* version) {
  return question("hipRuntimeGetVersion", [&] { return *version = 60342134, 0; });
}
int hipGetDeviceCount(int* count) {
  return question("hipGetDeviceCount", [&] {
    *count = settings().devices;
    return *count == 0 ? hip::kErrorNoDevice : 0;
  });
}
int hipSetDevice(int device) {
  return question("hipSetDevice", [&] {
    if (device < 0 || device >= settings().devices) { return hip::kErrorInvalidDevice; }
    this_threads_device = device;
    return 0;
  });
}
int hipGetDevice(int* device) {
  return question("hipGetDevice", [&] { return *device = this_threads_device, 0; });
}
int hipDeviceGet(int* device, int ordinal) {
  return question("hipDeviceGet", [&] {
    *device = ordinal;
    return ordinal < 0 || ordinal >= settings().devices ? hip::kErrorInvalidDevice : 0;
  });
}
int hipDeviceGetName(char* name, int length, int device) {
  return question("hipDeviceGetName", [&] {
    if (device < 0 || device >= settings().devices || length <= 0) { return hip::kErrorInvalidDevice; }
    std::strncpy(name, "Fake AMD Instinct MI250X", static_cast<std::size_t>(length) - 1);
    name[length - 1] = '\0';
    return 0;
  });
}
int hipDeviceGetPCIBusId(char* text, int length, int device) {
  return question("hipDeviceGetPCIBusId", [&] {
    if (device < 0 || device >= settings().devices || length < 13) { return hip::kErrorInvalidDevice; }
    std::strcpy(text, "0000:c1:00.0");
    text[6] = static_cast<char>('1' + device);
    return 0;
  });
}
int hipDeviceTotalMem(std::size_t* bytes, int) {
  return question("hipDeviceTotalMem", [&] { return *bytes = settings().memory, 0; });
}
int hipDeviceGetAttribute(int* value, int which, int device) {
  return question("hipDeviceGetAttribute", [&] {
    if (device < 0 || device >= settings().devices) { return hip::kErrorInvalidDevice; }
    const int found = attribute(which);
    if (found < 0) { return hip::kErrorInvalidValue; }
    *value = found;
    return 0;
  });
}
int hipGetDeviceProperties(void* to, int device) {
  return question("hipGetDeviceProperties", [&] { return properties(to, device, kUntilFive); });
}
int hipGetDevicePropertiesR0600(void* to, int device) {
  return question("hipGetDevicePropertiesR0600", [&] { return properties(to, device, kFromSix); });
}
int hipDeviceGetStreamPriorityRange(int* least, int* greatest) {
  return question("hipDeviceGetStreamPriorityRange", [&] {
    *least = settings().no_priorities ? 0 : kLeastPriority;
    *greatest = settings().no_priorities ? 0 : kGreatestPriority;
    return 0;
  });
}
int hipDeviceSynchronize() { return make_call(named("hipDeviceSynchronize"), finish_device); }
int hipCtxSynchronize() { return make_call(named("hipCtxSynchronize"), finish_device); }
int hipDeviceReset() { return make_call(named("hipDeviceReset"), finish_device); }
int hipDeviceCanAccessPeer(int* can, int device, int peer) {
  return question("hipDeviceCanAccessPeer", [&] { return *can = device != peer ? 1 : 0, 0; });
}
int hipDeviceEnablePeerAccess(int, unsigned) {
  return question("hipDeviceEnablePeerAccess", [] { return 0; });
}
int hipDevicePrimaryCtxReset(int) { return make_call(named("hipDevicePrimaryCtxReset"), finish_device); }

int hipGetLastError() { return take_last_error(); }
int hipPeekAtLastError() { return peek_last_error(); }
const char* hipGetErrorName(int error) {
  switch (error) {
    case hip::kSuccess:
      return "hipSuccess";
    case hip::kErrorInvalidValue:
      return "hipErrorInvalidValue";
    case hip::kErrorOutOfMemory:
      return "hipErrorOutOfMemory";
    case hip::kErrorNoDevice:
      return "hipErrorNoDevice";
    case hip::kErrorInvalidHandle:
      return "hipErrorInvalidHandle";
    case hip::kErrorNotReady:
      return "hipErrorNotReady";
    case 719:
      return "hipErrorLaunchFailure";
    default:
      return "hipErrorUnknown";
  }
}
const char* hipGetErrorString(int error) {
  switch (error) {
    case hip::kSuccess:
      return "no error";
    case hip::kErrorOutOfMemory:
      return "out of memory";
    case hip::kErrorNoDevice:
      return "no ROCm-capable device is detected";
    default:
      return hipGetErrorName(error);
  }
}

int hipMalloc(void** pointer, std::size_t bytes) {
  return question("hipMalloc",
                  [&] { return breaks_capture() ? hip::kErrorCaptureUnsupported : allocate(pointer, bytes, this_threads_device); });
}
int hipExtMallocWithFlags(void** pointer, std::size_t bytes, unsigned) {
  return question("hipExtMallocWithFlags", [&] { return allocate(pointer, bytes, this_threads_device); });
}
int hipHostMalloc(void** pointer, std::size_t bytes, unsigned) {
  return question("hipHostMalloc", [&] { return allocate(pointer, bytes, -1); });
}
int hipHostFree(void* pointer) {
  return question("hipHostFree", [&] { return release(pointer, true); });
}
int hipHostGetDevicePointer(void** device, void* host, unsigned) {
  return question("hipHostGetDevicePointer", [&] { return *device = host, 0; });
}
// Freeing waits for the device.
int hipFree(void* pointer) {
  return make_call(named("hipFree"), [&] {
    const int waited = pointer == nullptr ? 0 : finish_device();
    return waited != 0 ? waited : release(pointer, false);
  });
}
int hipMemGetInfo(std::size_t* free_bytes, std::size_t* total) {
  return question("hipMemGetInfo", [&] {
    *total = settings().memory;
    *free_bytes = settings().memory - std::min(settings().memory, allocated(this_threads_device));
    return 0;
  });
}

}  // extern "C"
#pragma GCC visibility pop
