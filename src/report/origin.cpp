#include "elbowroom/report/origin.hpp"

#include <fmt/format.h>

#include "elbowroom/base/gibibytes.hpp"

namespace elbowroom {

std::string device_line(const Origin& origin) {
  const ReportedDevice& device = origin.device;
  return fmt::format("{} {} x {} ({}, {}, {} {}, {:.1f} GiB each), backend {}, seed {}",
                     origin.provenance == Provenance::measured ? "measured on" : "simulated for", device.count, device.name,
                     device.limits.name, device.limits.architecture, device.limits.sms.count(),
                     device.limits.vendor == Vendor::amd ? "CUs" : "SMs", in_gibibytes(device.memory), origin.backend, origin.seed);
}

std::string versions_line(const Origin& origin) {
  std::string line;
  for (const auto& [name, version] : origin.versions) { line += fmt::format("{}{} {}", line.empty() ? "" : ", ", name, version); }
  return line.empty() ? "none known" : line;
}

std::optional<std::string> model_line(const Origin& origin) {
  if (!origin.device.model) { return std::nullopt; }
  return fmt::format("model: {}", origin.device.model->source);
}

}  // namespace elbowroom
