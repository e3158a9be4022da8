#include "backend_ranks/facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdlib>
#include <fstream>

#include "backend_ranks/field_wire.hpp"
#include "elbowroom/model/comm_environment.hpp"

namespace elbowroom::ranks {
namespace {

constexpr auto kFact = [](auto& wire, auto& fact) {
  wire(fact.first);
  wire(fact.second);
};

void introduction_fields(auto& wire, auto& introduction) {
  auto& [facts, gpu] = introduction;
  wire.list(facts, kFact);
  auto& [host, bus_id] = gpu;
  wire(host, bus_id);
}

constexpr std::string_view kNone = "none";

// Variables that launchers set to another value for each rank.
constexpr std::array<std::string_view, 4> kOfOneRank{"CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
                                                     kHostVariable};

std::string_view value_of(const Facts& facts, std::string_view name) {
  const auto found = std::ranges::find(facts, name, &Facts::value_type::first);
  return found == facts.end() ? kNone : std::string_view(found->second);
}

}  // namespace

Facts facts_of(const Backend& backend, std::uint64_t seed) {
  const DeviceInfo& device = backend.devices().front();
  Facts facts{{"backend", std::string(backend.name())},
              {"device", device.limits.name},
              {"name of the device", device.name},
              {"bytes of its memory", std::to_string(device.memory.count())},
              {"seed", std::to_string(seed)}};
  for (const auto& [name, version] : backend.versions()) {
    if (std::ranges::find(kOfOneRank, name) == kOfOneRank.end()) { facts.emplace_back("version of " + name, version); }
  }
  return facts;
}

Status same_facts(const Facts& theirs, const Facts& own) {
  for (const Facts* facts : {&own, &theirs}) {
    for (const auto& [name, value] : *facts) {
      const std::string_view there = value_of(theirs, name);
      const std::string_view here = value_of(own, name);
      if (there != here) { return invalid_input(fmt::format("{}: {}, expected {} (rank 0's)", name, there, here)); }
    }
  }
  return {};
}

OwnGpu gpu_of(const Backend& backend) {
  OwnGpu gpu{{}, backend.devices().front().bus_id};
  std::ifstream started("/proc/sys/kernel/random/boot_id");
  std::getline(started, gpu.host);
  // What the communication library takes for another host is one: it lets two of them have the same GPU.
  if (const char* const node = std::getenv(std::string(kHostVariable).c_str()); node != nullptr) { gpu.host += node; }
  return gpu;
}

Status different_gpus(std::span<const OwnGpu> gpus) {
  for (std::size_t rank = 1; rank < gpus.size(); ++rank) {
    if (!gpus[rank].bus_id) { continue; }
    const auto same = std::ranges::find_if(
        gpus, [&](const OwnGpu& other) { return other.host == gpus[rank].host && other.bus_id == gpus[rank].bus_id; });
    if (const auto first = static_cast<std::size_t>(same - gpus.begin()); first < rank) {
      return invalid_input(fmt::format("rank {}: GPU {}, expected another than rank {}'s (the rank on its host says which)", rank,
                                       *gpus[rank].bus_id, first));
    }
  }
  return {};
}

std::string bytes_of(const Introduction& introduction) {
  FieldsOut wire;
  introduction_fields(wire, introduction);
  return wire.take();
}

Result<Introduction> introduction_in(std::string_view bytes) {
  FieldsIn wire(bytes);
  Introduction introduction;
  introduction_fields(wire, introduction);
  if (!wire.complete()) { return failed("a message that introduces no rank"); }
  return introduction;
}

}  // namespace elbowroom::ranks
