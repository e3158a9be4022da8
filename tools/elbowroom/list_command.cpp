#include "list_command.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
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
  std::string lines = "Backends (elbowroom doctor says why one is unusable)\n";
  for (const BackendEntry& entry : backends()) {
    const Result<std::unique_ptr<Backend>> backend = entry.open({});
    if (!backend) {
      lines += fmt::format("  {:<6} {} - unusable\n", entry.name, entry.purpose);
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
  lines +=
      "\nKernels\n  tiled_gemm (f32, bf16)  library_gemm (f32, bf16, f16, e4m3)  elementwise (gelu, relu, copy; f32, bf16, f16)  "
      "module (of a "
      "file; GPUs)  footprint (sim)\n";
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

using OrderedJson = nlohmann::ordered_json;

OrderedJson backend_json(const BackendEntry& entry) {
  const Result<std::unique_ptr<Backend>> backend = entry.open({});
  OrderedJson document = {{"name", entry.name}, {"purpose", entry.purpose}, {"usable", static_cast<bool>(backend)}};
  document["why_not"] = backend ? OrderedJson() : OrderedJson(backend.error().message);
  document["devices"] = OrderedJson::array();
  if (!backend || (*backend)->provenance() == Provenance::simulated) { return document; }
  for (const DeviceInfo& device : (*backend)->devices()) {
    document["devices"].push_back({{"index", device.index},
                                   {"name", device.name},
                                   {"device", device.limits.name},
                                   {"sms", device.limits.sms.count()},
                                   {"memory_bytes", device.memory.count()}});
  }
  return document;
}

OrderedJson control_json(const Control& control) {
  return {{"name", control.name},
          {"purpose", control.purpose},
          {"values", control.values_in_words},
          {"refused", control.refused_in_words},
          {"searched", control.searched != Searched::no}};
}

std::string list_json() {
  OrderedJson document = {{"schema", "elbowroom.list/1"}};
  for (const char* section :
       {"backends", "devices", "comm_kernels", "suites", "schemes", "collectives", "controls", "environment"}) {
    document[section] = OrderedJson::array();
  }
  for (const BackendEntry& entry : backends()) { document["backends"].push_back(backend_json(entry)); }
  for (const DeviceLimits& device : device_catalog()) {
    document["devices"].push_back({{"name", device.name},
                                   {"title", device.title},
                                   {"architecture", device.architecture},
                                   {"sms", device.sms.count()},
                                   {"simulated", simulated_width(device.name)}});
  }
  for (const Vendor vendor : {Vendor::nvidia, Vendor::amd}) {
    for (const std::string& name : comm_kernel_names(vendor)) { document["comm_kernels"].push_back(name); }
  }
  for (const Suite& suite : suites()) { document["suites"].push_back({{"name", suite.name}, {"purpose", suite.purpose}}); }
  for (const Scheme scheme : schemes()) { document["schemes"].push_back(to_string(scheme)); }
  for (const CollectiveFacts& facts : collectives()) { document["collectives"].push_back(facts.name); }
  for (const Control& control : controls()) { document["controls"].push_back(control_json(control)); }
  for (const EnvironmentVariable& variable : environment_variables()) {
    document["environment"].push_back({{"name", variable.name}, {"meaning", variable.meaning}});
  }
  return document.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

}  // namespace

void add_list_command(CLI::App& app, std::function<int()>& chosen) {
  CLI::App* command = app.add_subcommand("list", "What is here: backends, devices, suites, kernels, collectives, controls");
  // `--json -` as bench has it is the same as `--json`.
  CLI::Option* json = command->add_option("--json", "Write elbowroom.list/1 to standard output instead of lines")->expected(0, 1);
  json->check(CLI::IsMember({"-"}))->type_name("[-]");
  command->callback([&chosen, json] {
    const bool as_json = !json->empty();
    chosen = [as_json] {
      const Status printed =
          as_json ? print(list_json())
                  : print_table(backend_lines() + catalog_lines() + bench_lines() + control_lines() + variable_lines());
      return printed ? exit_ok : complain("elbowroom list", printed.error());
    };
  });
}

}  // namespace elbowroom
