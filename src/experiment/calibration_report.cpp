#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "elbowroom/experiment/calibration.hpp"
#include "elbowroom/model/device_catalog.hpp"
#include "elbowroom/model/device_facts.hpp"
#include "elbowroom/model/device_file.hpp"
#include "model/device_members.hpp"

namespace elbowroom {
namespace {

constexpr std::size_t kWorstShown = 5;
constexpr std::size_t kLongestSource = 200;

bool was_fitted(const Calibration& calibration, std::string_view name) {
  return std::ranges::any_of(calibration.constants, [&](const FittedConstant& one) { return one.name == name; });
}

std::string point_line(const CalibrationPoint& point) {
  return fmt::format("  {:>+6.1f} {:>10.3f} {:>10.3f}  {}: {}\n", 100 * (point.simulated / point.measured - 1),
                     point.measured.count() / 1000, point.simulated.count() / 1000, point.name, point.schedule);
}

std::vector<const CalibrationPoint*> held_out_worst_first(const Calibration& calibration) {
  std::vector<const CalibrationPoint*> held_out;
  for (const CalibrationPoint& point : calibration.points) {
    if (point.held_out) { held_out.push_back(&point); }
  }
  std::ranges::stable_sort(held_out, [](const auto* a, const auto* b) { return a->error() > b->error(); });
  return held_out;
}

/// A source is one line of limited length.
std::string source_line(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) { c = ' '; }
  }
  return text.substr(0, kLongestSource);
}

std::vector<std::string> limit_names(const DeviceLimits& device) {
  std::vector<std::string> names;
  for (const detail::LimitMember& member : detail::limit_members()) {
    names.push_back(fmt::format("limits.{}", member.number.name));
  }
  const std::optional<DeviceRates>& rates = device.facts->rates;
  if (!rates) { return names; }
  for (const detail::RateMember& member : detail::rate_members()) {
    names.push_back(fmt::format("rates.{}", member.peak.name));
    if (((*rates).*member.part).reached) { names.push_back(fmt::format("rates.{}", member.reached.name)); }
  }
  if (rates->switch_adds) { names.emplace_back("rates.switch_adds"); }
  return names;
}

std::string limits_source(const DeviceLimits& device, std::string_view version) {
  if (find_device(device.name)) { return fmt::format("data/devices/{}.json of elbowroom {}", device.name, version); }
  return device.source.empty() ? "the driver" : source_line(device.source);
}

}  // namespace

std::string to_table(const Calibration& calibration) {
  const std::vector<const CalibrationPoint*> held_out = held_out_worst_first(calibration);
  std::string text = fmt::format(
      "# {} schedules; of {} held out ones half are within {:.1f} %, nine in ten within {:.1f} %, all within {:.1f} %\n",
      calibration.points.size(), held_out.size(), 100 * calibration.median, 100 * calibration.nine_in_ten, 100 * calibration.worst);
  text += fmt::format("# {:<22} {:>12} {:>12}\n", "constant", "from " + calibration.start, "fitted");
  for (const FittedConstant& constant : calibration.constants) {
    text += fmt::format("  {:<22} {:>12.5g} {:>12.5g}\n", constant.name, constant.start, constant.fitted);
  }
  text += fmt::format("# {:>6} {:>10} {:>10}\n# {:>6} {:>10} {:>10}  worst of what was held out\n", "error", "measured",
                      "simulated", "(%)", "(ms)", "(ms)");
  for (std::size_t at = 0; at < std::min(held_out.size(), kWorstShown); ++at) { text += point_line(*held_out[at]); }
  for (const std::string& refused : calibration.refused) { text += fmt::format("# not run: {}\n", refused); }
  return text;
}

std::string measured_csv(const Calibration& calibration) {
  std::string text = "case,schedule,held_out,measured_ms,simulated_ms\n";
  for (const CalibrationPoint& point : calibration.points) {
    text += fmt::format("{},\"{}\",{},{:.4f},{:.4f}\n", point.name, point.schedule, point.held_out ? 1 : 0,
                        point.measured.count() / 1000, point.simulated.count() / 1000);
  }
  return text;
}

std::string device_file(const Calibration& calibration, std::string_view version) {
  const Origin& origin = calibration.origin;
  const std::string by = fmt::format("elbowroom calibrate {} on {}", version, origin.device.name);
  NumberSource limits{limit_names(calibration.device), limits_source(calibration.device, version)};
  NumberSource fitted{{}, source_line(fmt::format("{}, {}: {}", by, to_string(origin.provenance), versions_line(origin)))};
  NumberSource kept{{},
                    calibration.start == calibration.device.name
                        ? fmt::format("data/devices/{}.json of elbowroom {}", calibration.start, version)
                        : "memory and devices: as they are; one GPC and no copies: not known"};
  for (const detail::SpeedMember& member : detail::speed_members()) {
    if (!member.stands(*calibration.device.facts->simulated)) { continue; }
    NumberSource& of = was_fitted(calibration, member.number.name) ? fitted : kept;
    of.numbers.push_back(fmt::format("simulator.{}", member.number.name));
  }
  NumberSource width{{"model.width"},
                     source_line(fmt::format("{}: of what was held out nine in ten lie within {:.1f} %, the worst within {:.1f} %",
                                             by, 100 * calibration.nine_in_ten, 100 * calibration.worst))};
  return to_json(calibration.device, std::array{limits, fitted, kept, width});
}

}  // namespace elbowroom
