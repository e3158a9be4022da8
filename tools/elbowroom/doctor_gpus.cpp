#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "backend/dynamic_library.hpp"
#include "counters/nvml.hpp"
#include "doctor_facts.hpp"
#include "elbowroom/base/environment.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/counters/open.hpp"
#include "elbowroom/energy/watch.hpp"

namespace elbowroom {
namespace {

using counters::NvmlDevice;

// nvml.h: lengths that hold every name and release, and how many NVLinks a GPU can have.
constexpr unsigned kNameLength = 96;
constexpr unsigned kReleaseLength = 80;
constexpr unsigned kMostLinks = 18;

/// What only a doctor asks of NVML.
struct Calls {
  int (*name)(NvmlDevice device, char* text, unsigned length) = nullptr;
  int (*release)(char* text, unsigned length) = nullptr;
  int (*link_state)(NvmlDevice device, unsigned link, unsigned* active) = nullptr;
};

Calls more_calls() {
  std::vector<std::string> names{"libnvidia-ml.so.1", "libnvidia-ml.so"};
  if (const auto chosen = read(kNvmlLibrary)) { names = {*chosen}; }
  Calls calls;
  const Result<detail::DynamicLibrary> library = detail::DynamicLibrary::open(names);
  if (!library) { return calls; }
  const auto may_lack = [](const Status&) {};
  may_lack(library->bind("nvmlDeviceGetName", calls.name));
  may_lack(library->bind("nvmlSystemGetDriverVersion", calls.release));
  may_lack(library->bind("nvmlDeviceGetNvLinkState", calls.link_state));
  library->keep_loaded();
  return calls;
}

std::optional<int> active_links(const Calls& calls, NvmlDevice device) {
  if (calls.link_state == nullptr) { return std::nullopt; }
  int count = 0;
  for (unsigned link = 0; link < kMostLinks; ++link) {
    unsigned active = 0;
    // A GPU without a link of this number refuses it.
    if (calls.link_state(device, link, &active) == 0 && active != 0) { ++count; }
  }
  return count;
}

doctor::Gpu gpu_of(const counters::NvmlCalls& nvml, const Calls& calls, NvmlDevice device) {
  std::array<char, kNameLength> name{};
  doctor::Gpu gpu;
  const bool named = calls.name != nullptr && calls.name(device, name.data(), kNameLength) == 0;
  gpu.name = named ? name.data() : "a GPU without a name";
  unsigned now = 0;
  unsigned pending = 0;
  gpu.mig = nvml.mig_mode != nullptr && nvml.mig_mode(device, &now, &pending) == 0 && now != 0;
  gpu.links = active_links(calls, device);
  return gpu;
}

/// Opened as `run --energy` opens them.
void try_energy_counters(std::vector<doctor::Gpu>& gpus) {
  Result<std::vector<MeteredGpu>> meters = open_every_energy_meter();
  for (std::size_t index = 0; index < gpus.size(); ++index) {
    if (!meters) {
      gpus[index].no_energy = meters.error().message;
    } else if (index < meters->size() && !(*meters)[index].meter) {
      gpus[index].no_energy = (*meters)[index].meter.error().message;
    }
  }
}

}  // namespace

std::vector<doctor::Gpu> doctor_gpus(std::string& release) {
  std::vector<doctor::Gpu> gpus;
  const Result<counters::NvmlCalls> nvml = counters::load_nvml();
  if (!nvml || nvml->device_count == nullptr || nvml->handle_by_index == nullptr || nvml->init() != 0) { return gpus; }
  const Calls calls = more_calls();
  std::array<char, kReleaseLength> text{};
  if (calls.release != nullptr && calls.release(text.data(), kReleaseLength) == 0) { release = text.data(); }
  unsigned count = 0;
  if (nvml->device_count(&count) != 0) { count = 0; }
  for (unsigned index = 0; index < count; ++index) {
    NvmlDevice device = nullptr;
    if (nvml->handle_by_index(index, &device) == 0) { gpus.push_back(gpu_of(*nvml, calls, device)); }
  }
  nvml->shutdown();
  try_energy_counters(gpus);
  return gpus;
}

}  // namespace elbowroom
