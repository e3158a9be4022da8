#include <algorithm>
#include <cstring>

#include "interposer/core/core_state.hpp"
#include "interposer/core/kernel_names.hpp"

namespace elbowroom::interposer {

Stream& CoreState::meet_stream(StreamId stream, Hold& hold) {
  if (Stream* known_stream = known.lanes.find_stream(stream)) { return *known_stream; }
  hold.release();
  StreamInfo info;
  if (platform.describe_stream != nullptr) { info = platform.describe_stream(platform.self, stream); }
  hold.take();
  meet_device(info.device, hold);
  Stream* found = known.lanes.find_stream(stream);
  return found != nullptr ? *found : known.lanes.add_stream(stream, info);
}

void CoreState::meet_device(std::int32_t device, Hold& hold) {
  if (device < 0 || device >= kMaxDevices || platform.describe_device == nullptr) { return; }
  const std::uint64_t bit = std::uint64_t{1} << static_cast<unsigned>(device);
  if ((known.devices_known & bit) != 0) { return; }
  const bool first = known.devices_known == 0;
  hold.release();
  const DeviceInfo info = platform.describe_device(platform.self, device);
  const Text chosen = first && platform.known_choices != nullptr ? platform.known_choices(platform.self) : Text{};
  hold.take();
  if (known.devices_known == 0) {
    known.model = info.name;
    known.choices = chosen;
  }
  known.models_differ = known.models_differ || known.model != info.name;
  known.devices[static_cast<std::size_t>(device)] = info;
  known.device_names[static_cast<std::size_t>(device)] = rules.names_of(info.name.data());
  known.devices_known |= bit;
}

std::uint16_t CoreState::meet_function(FunctionId function, Hold& hold) {
  const Function* found = known.functions.find(function);
  if (found != nullptr && found->loaded == known.modules) { return found->kernel; }
  if (platform.describe_function == nullptr) { return 0; }
  const std::uint32_t modules = known.modules;
  hold.release();
  // The name belongs to the driver and lives as long as its module, which the launch under way keeps loaded.
  const FunctionInfo info = platform.describe_function(platform.self, function);
  hold.take();
  const std::uint16_t kernel = add_kernel(info);
  if (Function* entry = known.functions.obtain(function)) { *entry = {kernel, modules}; }
  return kernel;
}

std::uint16_t CoreState::add_kernel(const FunctionInfo& info) {
  if (info.name == nullptr) { return 0; }
  const std::uint16_t kernel = find_or_add_kernel(info);
  // One without a place is launched as if it did neither.
  if (kernel == 0 && (is_communication(info.name) || rules.is_communication(info.name) || waits_for_host(info.name))) {
    known.lanes.give_up();
  }
  return kernel;
}

std::uint16_t CoreState::find_or_add_kernel(const FunctionInfo& info) {
  // Two compilations of one name, as generated kernels have, may differ in what they take.
  const std::uint64_t footprint = combine((std::uint64_t{info.registers} << 32U) | info.static_shared, info.required_cluster);
  std::uint16_t* index = known.kernel_by_name.obtain(combine(name_hash(info.name), footprint) | 1U);
  if (index == nullptr) { return 0; }
  if (*index != 0 || known.kernel_count == kMaxKernels) { return *index; }
  *index = static_cast<std::uint16_t>(known.kernel_count++);
  KernelRecord& kernel = known.kernels[*index];
  kernel.id = name_hash(info.name);
  const std::size_t length = std::min(std::strlen(info.name), kernel.name.size() - 1);
  std::memcpy(kernel.name.data(), info.name, length);
  kernel.name[length] = '\0';
  kernel.registers = info.registers;
  kernel.static_shared = info.static_shared;
  kernel.required_cluster = std::max(info.required_cluster, 1U);
  kernel.communication = is_communication(info.name) || rules.is_communication(info.name);
  kernel.left_alone = kernel.communication && !may_go_first(info.name);
  kernel.waits_for_host = waits_for_host(info.name);
  for (std::size_t i = 0; i < rules.cap_count && kernel.cap == 0 && !kernel.communication; ++i) {
    const char* wanted = rules.caps[i].name.data();
    if (std::strcmp(wanted, "*") == 0 || std::strstr(info.name, wanted) != nullptr) { kernel.cap = rules.caps[i].blocks_per_sm; }
  }
  return *index;
}

// Kernels of one name are of one kind, whatever they take of an SM.
std::uint32_t CoreState::meet_residency(const LaunchFacts& facts, std::uint16_t kernel, std::int32_t device, Hold& hold) {
  const auto threads = static_cast<std::uint32_t>(facts.block.count());
  const auto of = known.models_differ ? static_cast<std::uint64_t>(device) : 0;
  const std::uint64_t key = combine(combine(kernel, std::uint64_t{threads} << 32U | facts.dynamic_shared), of) | 1U;
  if (const std::uint32_t* found = known.residency.find(key)) { return *found; }
  hold.release();
  const std::uint32_t blocks =
      platform.blocks_per_sm == nullptr ? 0 : platform.blocks_per_sm(platform.self, facts.function, threads, facts.dynamic_shared);
  hold.take();
  if (std::uint32_t* kept = known.residency.obtain(key)) { *kept = blocks; }
  return blocks;
}

std::uint32_t CoreState::cap_of(const KernelRecord& kernel, const LaunchFacts& facts, const Stream& stream) const {
  if (!known.active.shape || kernel.communication) { return 0; }
  if (kernel.cap != 0) { return kernel.cap; }
  const DeviceNames names = names_on(stream);
  const auto rules_end = rules.footprints.begin() + static_cast<std::ptrdiff_t>(rules.footprint_count);
  const auto rule = std::find_if(rules.footprints.begin(), rules_end, [&](const FootprintRule& each) {
    return each.threads == facts.block.count() && each.registers == kernel.registers &&
           each.static_shared == kernel.static_shared && each.dynamic_shared == facts.dynamic_shared &&
           each.cluster == kernel.cluster_of(facts) && (each.on & names) != 0;
  });
  return rule == rules_end ? 0 : rule->blocks_per_sm;
}

}  // namespace elbowroom::interposer
