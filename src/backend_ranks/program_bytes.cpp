#include "backend_ranks/program_bytes.hpp"

#include <algorithm>
#include <cstddef>
#include <variant>
#include <vector>

#include "backend_ranks/field_wire.hpp"

namespace elbowroom::ranks {
namespace {

constexpr auto kNumber = [](auto& wire, auto& number) { wire(number); };

constexpr auto kLane = [](auto& wire, auto& lane) {
  wire(lane.name);
  wire(lane.urgent);
  wire(lane.leaving_out);
};

template <class Wire>
void fields(Wire& wire, auto& settings)
  requires requires { settings.pad; }
{
  wire(settings.pad);
  wire(settings.sm_target);
  wire(settings.carveout);
}

template <class Wire>
void fields(Wire& wire, auto& settings)
  requires requires { settings.comm_blocks; }
{
  wire(settings.comm_blocks);
  wire(settings.cluster);
  wire(settings.comm_threads);
  wire(settings.symmetric);
  wire(settings.copy_engine);
  wire(settings.peer_detour);
}

void settings_fields(FieldsOut& wire, const LaunchSettings& settings) {
  wire(std::holds_alternative<CommSettings>(settings));
  std::visit([&](const auto& own) { fields(wire, own); }, settings);
}

void settings_fields(FieldsIn& wire, LaunchSettings& settings) {
  bool communicates = false;
  wire(communicates);
  if (communicates) settings = CommSettings{};
  std::visit([&](auto& own) { fields(wire, own); }, settings);
}

constexpr auto kLaunch = [](auto& wire, auto& launch) {
  wire(launch.operation);
  wire(launch.repeat);
  wire(launch.lane);
  wire.list(launch.after, kNumber);
  wire.list(launch.after_begun, kNumber);
  settings_fields(wire, launch.settings);
};

void program_fields(auto& wire, auto& program) {
  wire.list(program.lanes, kLane);
  wire.list(program.launches, kLaunch);
}

bool below(int number, std::size_t limit) { return number >= 0 && static_cast<std::size_t>(number) < limit; }

bool fits(const Launch& launch, std::size_t at, const Program& program, const Step& step) {
  if (!below(launch.operation, step.operations.size()) || !below(launch.lane, program.lanes.size())) return false;
  if (launch.repeat < 0 || launch.repeat >= step.repeats) return false;
  const auto earlier = [at](int before) { return below(before, at); };
  if (!std::ranges::all_of(launch.after, earlier) || !std::ranges::all_of(launch.after_begun, earlier)) return false;
  const Operation& operation = step.operations[static_cast<std::size_t>(launch.operation)];
  return computes(operation) == std::holds_alternative<ComputeSettings>(launch.settings);
}

}  // namespace

std::string bytes_of(const Program& program) {
  FieldsOut wire;
  program_fields(wire, program);
  return wire.take();
}

Result<Program> program_in(std::string_view bytes, const Step& step) {
  FieldsIn wire(bytes);
  Program program;
  program_fields(wire, program);
  if (!wire.complete()) return failed("a message that holds no program");
  for (std::size_t at = 0; at < program.launches.size(); ++at) {
    if (!fits(program.launches[at], at, program, step)) return failed("a message with a program of another step");
  }
  return program;
}

}  // namespace elbowroom::ranks
