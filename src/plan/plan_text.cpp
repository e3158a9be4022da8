#include "elbowroom/plan/plan_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <system_error>
#include <utility>

#include "elbowroom/plan/control_site.hpp"
#include "elbowroom/plan/controls.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "model/json_fields.hpp"

namespace elbowroom {
namespace {

Result<ControlSetting> parse_setting(std::string_view part) {
  const std::size_t sign = part.find('=');
  const std::string_view name = part.substr(0, sign);
  if (std::ranges::none_of(controls(), [&](const Control& control) { return control.name == name; })) {
    std::vector<std::string_view> names;
    for (const Control& control : controls()) { names.push_back(control.name); }
    return invalid_input(
        fmt::format("{}, expected one of {}, with =N where it takes a number", detail::quoted(name), fmt::join(names, ", ")));
  }
  const bool is_switch = control(name).is_switch;
  if (sign == std::string_view::npos && is_switch) { return ControlSetting{std::string(name), std::nullopt}; }
  if (sign == std::string_view::npos) { return invalid_input(fmt::format("{}: no number, expected {}=N", name, name)); }
  const std::string_view digits = part.substr(sign + 1);
  std::int64_t value = 0;
  const auto [rest, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  // Which numbers can act depends on the case; none is greater than this anywhere.
  constexpr std::int64_t greatest = 65'536;
  if (failure != std::errc{} || rest != digits.data() + digits.size() || value < 0 || value > greatest) {
    return invalid_input(fmt::format("{}: {}, expected a number from 0 to {}", name, detail::quoted(digits), greatest));
  }
  if (is_switch && value != 1) { return invalid_input(fmt::format("{}: {}, expected {} alone", name, value, name)); }
  return ControlSetting{std::string(name), value};
}

Status set(const ControlSite& site, OverlapPlan& plan, const Control& control, std::optional<std::int64_t> value) {
  const Result<std::vector<std::int64_t>> values = control.values(site, plan);
  if (!values) { return invalid_input(fmt::format("{}: {}", control.name, values.error().message)); }
  if (!value && control.is_switch) { value = 1; }
  if (value && std::ranges::find(*values, *value) != values->end()) {
    control.set(site, plan, value);
    return {};
  }
  const std::string given = value ? std::to_string(*value) : "no number";
  return invalid_input(fmt::format("{}: {}, expected one of {}", control.name, given, fmt::join(*values, ", ")));
}

}  // namespace

Result<std::vector<ControlSetting>> parse_plan(std::string_view text) {
  std::vector<ControlSetting> settings;
  while (true) {
    const std::size_t comma = text.find(',');
    Result<ControlSetting> setting = parse_setting(text.substr(0, comma));
    if (!setting) { return setting.error(); }
    if (std::ranges::find(settings, setting->name, &ControlSetting::name) != settings.end()) {
      return invalid_input(fmt::format("{}: given twice, expected once", setting->name));
    }
    settings.push_back(std::move(*setting));
    if (comma == std::string_view::npos) { return settings; }
    text.remove_prefix(comma + 1);
  }
}

Result<OverlapPlan> plan_of(const ControlSite& site, const std::vector<ControlSetting>& settings) {
  OverlapPlan plan = plain_plan(site);
  // In their own order: what one may be depends on those before it.
  for (const Control& control : controls()) {
    const auto setting = std::ranges::find(settings, control.name, &ControlSetting::name);
    if (setting == settings.end()) { continue; }
    if (Status done = set(site, plan, control, setting->value); !done) { return done.error(); }
  }
  if (Status legal = check_plan(site, plan); !legal) { return legal.error(); }
  return plan;
}

}  // namespace elbowroom
