#include "backend_ranks/facts.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "backend_ranks/field_wire.hpp"

namespace elbowroom::ranks {
namespace {

constexpr auto kFact = [](auto& wire, auto& fact) {
  wire(fact.first);
  wire(fact.second);
};

constexpr std::string_view kNone = "none";

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
  for (const auto& [name, version] : backend.versions()) facts.emplace_back("version of " + name, version);
  return facts;
}

Status same_facts(const Facts& theirs, const Facts& own) {
  for (const Facts* facts : {&own, &theirs}) {
    for (const auto& [name, value] : *facts) {
      const std::string_view there = value_of(theirs, name);
      const std::string_view here = value_of(own, name);
      if (there != here) return invalid_input(fmt::format("{}: {}, expected {} (rank 0's)", name, there, here));
    }
  }
  return {};
}

std::string bytes_of(const Facts& facts) {
  FieldsOut wire;
  wire.list(facts, kFact);
  return wire.take();
}

Result<Facts> facts_in(std::string_view bytes) {
  FieldsIn wire(bytes);
  Facts facts;
  wire.list(facts, kFact);
  if (!wire.complete()) return failed("a message that holds no facts");
  return facts;
}

}  // namespace elbowroom::ranks
