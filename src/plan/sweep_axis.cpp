#include "elbowroom/plan/sweep_axis.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "elbowroom/model/scenario.hpp"
#include "elbowroom/model/size.hpp"
#include "elbowroom/plan/control_site.hpp"
#include "elbowroom/plan/overlap_plan.hpp"
#include "elbowroom/plan/plan_text.hpp"
#include "model/json_fields.hpp"
#include "plan/own_value.hpp"

namespace elbowroom {
namespace {

using OrderedJson = nlohmann::ordered_json;

constexpr std::string_view kOff = "off";
constexpr std::string_view kOn = "on";
// Which numbers a control can take depends on the case; none is greater than this anywhere.
constexpr std::int64_t kGreatestSetting = 65'536;
/// Numbers of a scenario that can vary. Which of compute's it has depends on its kernel.
constexpr std::array<std::string_view, 13> kMembers = {
    "iterations", "gpus",      "collective.bytes", "collective.comm_blocks", "collective.cluster", "compute.bytes", "compute.m",
    "compute.n",  "compute.k", "compute.tile_m",   "compute.tile_n",         "compute.tile_k",     "compute.dtype"};

const Control* find_control(std::string_view name) {
  const auto found = std::ranges::find(controls(), name, &Control::name);
  return found == controls().end() ? nullptr : &*found;
}

std::optional<std::int64_t> whole(std::string_view text) {
  std::int64_t value = 0;
  const auto [rest, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  return failure == std::errc{} && rest == text.data() + text.size() && value >= 0 ? std::optional(value) : std::nullopt;
}

/// A number or a size with a suffix.
std::optional<std::int64_t> amount(std::string_view text) {
  const Result<Bytes> size = parse_size(text);
  return size ? std::optional(size->count()) : std::nullopt;
}

/// As the ends of its range were written.
std::string written(std::int64_t value, bool as_size) { return as_size ? format_size(Bytes(value)) : fmt::format("{}", value); }

/// "4..32+4", "64M..1G*2"
Result<std::vector<std::string>> unfolded(std::string_view range, std::size_t dots) {
  const auto wrong = [&] {
    return invalid_input(fmt::format("{}, expected a range as 1..8, 4..32+4 or 64M..1G*2", detail::quoted(range)));
  };
  const std::string_view begin = range.substr(0, dots);
  std::string_view rest = range.substr(dots + 2);
  const std::size_t sign = rest.find_first_of("+*");
  const bool by_factor = sign != std::string_view::npos && rest[sign] == '*';
  const auto first = amount(begin);
  const auto last = amount(rest.substr(0, sign));
  const auto step = sign == std::string_view::npos ? std::optional<std::int64_t>(1) : amount(rest.substr(sign + 1));
  if (!first || !last || !step || *first > *last) { return wrong(); }
  if (by_factor ? *step < 2 || *first < 1 : *step < 1) { return wrong(); }
  const bool as_size = !whole(begin);
  std::vector<std::string> values;
  for (std::int64_t value = *first;;) {
    if (values.size() == kMostSweepValues) {
      return invalid_input(fmt::format("{}, expected at most {} values", detail::quoted(range), kMostSweepValues));
    }
    values.push_back(written(value, as_size));
    // No sum or product is formed that the last value does not bound.
    const bool over = by_factor ? value > *last / *step : value > *last - *step;
    if (over) { return values; }
    value = by_factor ? value * *step : value + *step;
  }
}

/// A value of a control as it is kept; absent where it is none.
std::optional<std::string> setting_value(const Control& control, std::string_view text) {
  if (text == kOff) { return std::string(kOff); }
  if (control.is_switch) { return text == kOn || text == "1" ? std::optional(std::string(kOn)) : std::nullopt; }
  const auto number = whole(text);
  return number && *number <= kGreatestSetting ? std::optional(fmt::format("{}", *number)) : std::nullopt;
}

Result<std::string> one_value(const std::string& name, std::string_view text) {
  if (const Control* control = find_control(name)) {
    const auto value = setting_value(*control, text);
    const std::string expected = control->is_switch ? "on or off" : fmt::format("off or a number from 0 to {}", kGreatestSetting);
    return value ? Result<std::string>(*value) : invalid_input(fmt::format("{}, expected {}", detail::quoted(text), expected));
  }
  // What is possible is the scenario's to say; it is a word, a number or a size.
  constexpr std::size_t longest = 24;
  const bool plain = !text.empty() && text.size() <= longest && std::ranges::all_of(text, [](unsigned char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  });
  return plain ? Result<std::string>(std::string(text))
               : invalid_input(fmt::format("{}, expected a number, a size or a word", detail::quoted(text)));
}

Status add_values(SweepAxis& axis, std::string_view part) {
  const std::size_t dots = part.find("..");
  const Result<std::vector<std::string>> texts =
      dots == std::string_view::npos ? std::vector{std::string(part)} : unfolded(part, dots);
  if (!texts) { return texts.error(); }
  for (const std::string& text : *texts) {
    Result<std::string> value = one_value(axis.name, text);
    if (!value) { return value.error(); }
    if (std::ranges::find(axis.values, *value) != axis.values.end()) {
      return invalid_input(fmt::format("{}: given twice, expected once", *value));
    }
    axis.values.push_back(std::move(*value));
    if (axis.values.size() > kMostSweepValues) {
      return invalid_input(fmt::format("expected at most {} values", kMostSweepValues));
    }
  }
  return {};
}

Result<SweepAxis> parse_axis(std::string_view text) {
  const std::size_t sign = text.find('=');
  const std::string_view name = text.substr(0, sign);
  SweepAxis axis{std::string(name), {}};
  if (!axis.is_control() && std::ranges::find(kMembers, name) == kMembers.end()) {
    std::vector<std::string_view> names;
    for (const Control& control : controls()) { names.push_back(control.name); }
    return invalid_input(
        fmt::format("{}, expected one of {}, {}", detail::quoted(name), fmt::join(names, ", "), fmt::join(kMembers, ", ")));
  }
  if (sign == std::string_view::npos) {
    if (axis.is_control()) { return axis; }
    return invalid_input(fmt::format("{}: no values, expected {}=A:B:C", name, name));
  }
  for (std::string_view left = text.substr(sign + 1);;) {
    const std::size_t colon = left.find(':');
    if (Status added = add_values(axis, left.substr(0, colon)); !added) {
      return invalid_input(fmt::format("{}: {}", name, added.error().message));
    }
    if (colon == std::string_view::npos) { return axis; }
    left.remove_prefix(colon + 1);
  }
}

}  // namespace

bool SweepAxis::is_control() const { return find_control(name) != nullptr; }

Result<std::vector<SweepAxis>> parse_sweep(std::string_view text) {
  std::vector<SweepAxis> axes;
  while (true) {
    const std::size_t comma = text.find(',');
    Result<SweepAxis> axis = parse_axis(text.substr(0, comma));
    if (!axis) { return axis.error(); }
    if (std::ranges::find(axes, axis->name, &SweepAxis::name) != axes.end()) {
      return invalid_input(fmt::format("{}: given twice, expected once", axis->name));
    }
    if (axes.size() == kMostSweepAxes) {
      return invalid_input(
          fmt::format("{}: one axis more, expected at most {} (values stand behind =, by colon)", axis->name, kMostSweepAxes));
    }
    axes.push_back(std::move(*axis));
    if (comma == std::string_view::npos) { return axes; }
    text.remove_prefix(comma + 1);
  }
}

Result<std::vector<std::string>> values_at(const SweepAxis& axis, const ControlSite& site, const OverlapPlan& plan) {
  if (!axis.values.empty()) { return axis.values; }
  const Control& control = elbowroom::control(axis.name);
  const Result<std::vector<std::int64_t>> values = control.values(site, plan);
  if (!values) { return invalid_input(fmt::format("{}: {}", axis.name, values.error().message)); }
  std::vector<std::string> texts;
  const std::int64_t own = detail::own_value(control, site, plan);
  const auto behind = std::ranges::find_if(*values, [own](std::int64_t value) { return value >= own; });
  for (auto value = values->begin(); value != values->end(); ++value) {
    if (value == behind) { texts.emplace_back(kOff); }
    texts.push_back(control.is_switch ? std::string(kOn) : fmt::format("{}", *value));
  }
  if (behind == values->end()) { texts.emplace_back(kOff); }
  if (texts.size() <= kMostSweepValues) { return texts; }
  return invalid_input(fmt::format("{}: {} values can act, expected at most {}: name some, as {}=A:B:C", axis.name, texts.size(),
                                   kMostSweepValues, axis.name));
}

Result<Scenario> with_member(const Scenario& scenario, const SweepAxis& axis, const std::string& value) {
  OrderedJson document = OrderedJson::parse(to_json(scenario, -1), nullptr, /*allow_exceptions=*/false);
  const std::size_t dot = axis.name.find('.');
  OrderedJson& object = dot == std::string::npos ? document : document[axis.name.substr(0, dot)];
  const auto number = whole(value);
  object[dot == std::string::npos ? axis.name : axis.name.substr(dot + 1)] = number ? OrderedJson(*number) : OrderedJson(value);
  Result<Scenario> changed = parse_scenario(document.dump(), scenario.name);
  const Status valid = changed ? validate(*changed) : Status();
  return valid ? changed : Result<Scenario>(invalid_input(fmt::format("{}: {}", scenario.name, valid.error().message)));
}

void add_setting(std::vector<ControlSetting>& settings, const SweepAxis& axis, const std::string& value) {
  if (value == kOff) { return; }
  settings.push_back({axis.name, value == kOn ? std::optional<std::int64_t>() : whole(value)});
}

}  // namespace elbowroom
