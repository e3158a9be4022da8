#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom {

struct ControlSetting;
struct ControlSite;
struct OverlapPlan;
struct Scenario;

inline constexpr std::size_t kMostSweepAxes = 2;
/// Of one axis.
inline constexpr std::size_t kMostSweepValues = 64;

/// What a sweep varies, and through which values: a control of the plan, or a number of the scenario.
struct SweepAxis {
  std::string name;                 ///< of one of controls(); or a scenario's member: "collective.bytes", "compute.m", "iterations"
  std::vector<std::string> values;  ///< as they are typed; empty: off, and every value with which the control can act

  /// A control is chosen; a size or shape is given, and has a best choice for each of its values.
  [[nodiscard]] ELBOWROOM_API bool is_control() const;

  bool operator==(const SweepAxis&) const = default;
};

/// Reads "blocks_per_sm,comm_blocks=4:8:16": one or two axes by comma, each with values by colon. A value is a number, a size
/// ("64M"), "off" of a control, "on" of a switch, or a range: "1..8", "4..32+4" in steps, "64M..1G*2" by a factor. Only controls
/// may lack values. `invalid_input` names the axis, the part and what was expected.
ELBOWROOM_API Result<std::vector<SweepAxis>> parse_sweep(std::string_view text);

/// The values of an axis at a site: its own, or of a control off and every value with which it can act beside `plan`. Off stands
/// where the value would stand that the kernel or the library takes by itself: neighbours act alike. `invalid_input` where it
/// cannot act.
ELBOWROOM_API Result<std::vector<std::string>> values_at(const SweepAxis& axis, const ControlSite& site, const OverlapPlan& plan);

/// `scenario` with another value of the member that the axis names. `invalid_input` as parse_scenario says.
ELBOWROOM_API Result<Scenario> with_member(const Scenario& scenario, const SweepAxis& axis, const std::string& value);

/// Adds the control's setting, and nothing for "off". `value` is one that parse_sweep or values_at gave.
ELBOWROOM_API void add_setting(std::vector<ControlSetting>& settings, const SweepAxis& axis, const std::string& value);

}  // namespace elbowroom
