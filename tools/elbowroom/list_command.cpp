#include "list_command.hpp"

#include <fmt/format.h>

#include <string>

#include "console.hpp"
#include "elbowroom/backend/registry.hpp"
#include "elbowroom/base/environment.hpp"
#include "elbowroom/base/gibibytes.hpp"
#include "elbowroom/experiment/suites.hpp"
#include "elbowroom/model/collective_facts.hpp"
#include "elbowroom/model/comm_catalog.hpp"
#include "elbowroom/model/device_catalog.hpp"
#include "elbowroom/plan/controls.hpp"
#include "elbowroom/plan/scheme.hpp"
#include "exit_code.hpp"

namespace elbowroom {
namespace {

std::string backend_lines() {
  std::string lines = "Backends\n";
  for (const BackendEntry& entry : backends()) {
    const Result<std::unique_ptr<Backend>> backend = entry.open({});
    if (!backend) {
      lines += fmt::format("  {:<6} {} - unusable: {}\n", entry.name, entry.purpose, backend.error().message);
      continue;
    }
    lines += fmt::format("  {:<6} {} ({})\n", entry.name, entry.purpose, to_string((*backend)->provenance()));
    if ((*backend)->provenance() == Provenance::simulated) { continue; }
    for (const DeviceInfo& device : (*backend)->devices()) {
      lines += fmt::format("         GPU {}: {} ({}, {} SMs, {:.1f} GiB)\n", device.index, device.name, device.limits.name,
                           device.limits.sms.count(), in_gibibytes(device.memory));
    }
  }
  return lines;
}

/// "fitted, 7.6 %": what simulated times of the device rest on and how far off they may be.
std::string simulated_width(const std::string& device) {
  BackendOptions options;
  options.device = device;
  const Result<std::unique_ptr<Backend>> simulator = open_backend("sim", options);
  if (!simulator || !(*simulator)->devices().front().model) { return "not simulated"; }
  const ModelWidth& model = *(*simulator)->devices().front().model;
  return fmt::format("{}, {:g} %{}", to_string(model.basis), model.width * 100,
                     model.basis == Basis::extrapolated ? " or more" : "");
}

std::string catalog_lines() {
  std::string lines = "Devices known to plan and sim, and how far off simulated times may be\n";
  for (const DeviceLimits& device : device_catalog()) {
    lines += fmt::format("  {:<14} {} ({}, {} SMs); {}\n", device.name, device.title, device.architecture, device.sms.count(),
                         simulated_width(device.name));
  }
  lines += "Communication kernels known to plan\n ";
  for (const Vendor vendor : {Vendor::nvidia, Vendor::amd}) {
    for (const std::string& name : comm_kernel_names(vendor)) { lines += fmt::format(" {}", name); }
  }
  return lines + "\n";
}

std::string bench_lines() {
  std::string lines = "Suites\n";
  for (const Suite& suite : suites()) { lines += fmt::format("  {:<8} {}\n", suite.name, suite.purpose); }
  lines += "Schemes\n ";
  for (const Scheme scheme : schemes()) { lines += fmt::format(" {}", to_string(scheme)); }
  lines += "\nKernels\n  tiled_gemm (f32, bf16)  library_gemm (f32, bf16)  elementwise (gelu, relu, copy; f32, bf16)\n";
  lines += "Collectives\n";
  for (const CollectiveFacts& facts : collectives()) { lines += fmt::format("  {}", facts.name); }
  return lines + " (f32, bf16)\n";
}

std::string control_lines() {
  std::string lines = "Controls of --plan, --sweep and --without\n";
  for (const Control& control : controls()) {
    const std::string_view searched = control.searched == Searched::no ? "; never searched" : "";
    lines += fmt::format("  {:<13} {}: {}; refused: {}{}\n", control.name, control.purpose, control.values_in_words,
                         control.refused_in_words, searched);
  }
  return lines;
}

std::string variable_lines() {
  std::string lines = "Environment variables\n";
  for (const EnvironmentVariable& variable : environment_variables()) {
    lines += fmt::format("  {:<24} {}\n", variable.name, variable.meaning);
  }
  return lines;
}

}  // namespace

void add_list_command(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* command = app.add_subcommand("list", "What is here: backends, devices, suites, kernels, collectives, controls");
  command->callback([&chosen] {
    chosen = [] {
      const Status printed = print_table(backend_lines() + catalog_lines() + bench_lines() + control_lines() + variable_lines());
      return printed ? exit_ok : complain("elbowroom list", printed.error());
    };
  });
}

}  // namespace elbowroom
