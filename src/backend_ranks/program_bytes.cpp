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
  auto& [name, urgent, leaving_out] = lane;
  wire(name, urgent, leaving_out);
};

template <class Wire>
void fields(Wire& wire, auto& settings)
  requires requires { settings.pad; }
{
  auto& [pad, sm_target, carveout] = settings;
  wire(pad, sm_target, carveout);
}

template <class Wire>
void fields(Wire& wire, auto& settings)
  requires requires { settings.comm_blocks; }
{
  auto& [comm_blocks, cluster, comm_threads, symmetric, copy_engine, peer_detour] = settings;
  wire(comm_blocks, cluster, comm_threads, symmetric, copy_engine, peer_detour);
}

void settings_fields(FieldsOut& wire, const LaunchSettings& settings) {
  wire(std::holds_alternative<CommSettings>(settings));
  std::visit([&](const auto& own) { fields(wire, own); }, settings);
}

void settings_fields(FieldsIn& wire, LaunchSettings& settings) {
  bool communicates = false;
  wire(communicates);
  if (communicates) { settings = CommSettings{}; }
  std::visit([&](auto& own) { fields(wire, own); }, settings);
}

constexpr auto kLaunch = [](auto& wire, auto& launch) {
  auto& [operation, repeat, lane, after, after_begun, settings] = launch;
  wire(operation, repeat, lane);
  wire.list(after, kNumber);
  wire.list(after_begun, kNumber);
  settings_fields(wire, settings);
};

void program_fields(auto& wire, auto& program) {
  auto& [lanes, launches] = program;
  wire.list(lanes, kLane);
  wire.list(launches, kLaunch);
}

bool below(int number, std::size_t limit) { return number >= 0 && static_cast<std::size_t>(number) < limit; }

bool fits(const Launch& launch, std::size_t at, const Program& program, const Step& step) {
  if (!below(launch.operation, step.operations.size()) || !below(launch.lane, program.lanes.size())) { return false; }
  if (launch.repeat < 0 || launch.repeat >= step.repeats) { return false; }
  const auto earlier = [at](int before) { return below(before, at); };
  if (!std::ranges::all_of(launch.after, earlier) || !std::ranges::all_of(launch.after_begun, earlier)) { return false; }
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
  if (!wire.complete()) { return failed("a message that holds no program"); }
  for (std::size_t at = 0; at < program.launches.size(); ++at) {
    if (!fits(program.launches[at], at, program, step)) { return failed("a message with a program of another step"); }
  }
  return program;
}

}  // namespace elbowroom::ranks
