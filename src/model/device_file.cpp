#include "elbowroom/model/device_file.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "elbowroom/model/device_facts.hpp"
#include "model/device_members.hpp"
#include "model/json_document.hpp"
#include "model/json_fields.hpp"

namespace elbowroom {
namespace {

using detail::JsonFields;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::size_t kLongestText = 200;
constexpr std::string_view kWidthName = "model.width";

/// On one line of a table.
bool is_short_text(const json& value) {
  if (!value.is_string()) { return false; }
  const auto& text = value.get_ref<const std::string&>();
  const auto prints = [](char c) { return static_cast<unsigned char>(c) >= 0x20 && c != 0x7f; };
  return !text.empty() && text.size() <= kLongestText && std::ranges::all_of(text, prints);
}

bool is_name(std::string_view text) {
  const auto allowed = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  return !text.empty() && text.size() <= 40 && std::ranges::all_of(text, allowed) && text.front() != '-';
}

std::optional<Vendor> vendor_of(std::string_view text) {
  if (text == "nvidia") { return Vendor::nvidia; }
  return text == "amd" ? std::optional(Vendor::amd) : std::nullopt;
}

/// "sm_90" or "gfx90a", as the vendor's compiler has it.
bool is_architecture(std::string_view text, Vendor vendor) {
  const std::string_view prefix = vendor == Vendor::nvidia ? "sm_" : "gfx";
  if (!text.starts_with(prefix) || text.size() == prefix.size() || text.size() > 16) { return false; }
  return std::ranges::all_of(text.substr(prefix.size()), [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); });
}

/// One object of numbers, whose members a table names.
class Numbers {
 public:
  Numbers(const json& object, std::string_view path, const std::string& file)
      : object_(object), path_(path), fields_(object, path_ + ".", file) {}

  /// A finite number of the range; absent where the member is.
  std::optional<double> optional(const detail::NumberMember& member) {
    const json* value = fields_.member(member.name);
    if (value == nullptr) { return std::nullopt; }
    given_.insert(fmt::format("{}.{}", path_, member.name));
    const bool fits = value->is_number() && (!member.whole || value->is_number_integer());
    const double number = fits ? value->get<double>() : std::nan("");
    if (number >= member.least && number <= member.greatest) { return number; }
    fields_.reject(member.name, detail::shown(*value), expected(member));
    return std::nullopt;
  }

  double required(const detail::NumberMember& member) {
    if (const std::optional<double> number = optional(member)) { return *number; }
    if (!object_.contains(member.name)) { fields_.reject(member.name, "missing", expected(member)); }
    return member.least;
  }

  bool flag(const char* name) {
    const json* value = fields_.member(name);
    if (value == nullptr) { return false; }
    given_.insert(fmt::format("{}.{}", path_, name));
    if (!value->is_boolean()) { fields_.reject(name, detail::shown(*value), "true or false"); }
    return value->is_boolean() && value->get<bool>();
  }

  Status finish() { return fields_.finish(); }
  [[nodiscard]] const std::set<std::string>& given() const { return given_; }

 private:
  static std::string expected(const detail::NumberMember& member) {
    return fmt::format("{} from {} to {}", member.whole ? "a whole number" : "a number", member.least, member.greatest);
  }

  const json& object_;
  std::string path_;
  JsonFields fields_;
  std::set<std::string> given_;
};

class DeviceReader {
 public:
  DeviceReader(const json& document, const std::string& file) : file_(file), top_(document, "", file) {}

  Result<DeviceLimits> read() {
    read_names();
    for (Status (DeviceReader::*part)() : {&DeviceReader::read_limits, &DeviceReader::read_rates, &DeviceReader::read_simulator,
                                           &DeviceReader::read_model, &DeviceReader::read_sources}) {
      if (Status done = (this->*part)(); !done) { return done.error(); }
    }
    if (Status done = top_.finish(); !done) { return done.error(); }
    if (Status agrees = check_limits(); !agrees) { return agrees.error(); }
    limits_.facts = std::make_shared<const DeviceFacts>(std::move(facts_));
    return std::move(limits_);
  }

 private:
  Error wrong(std::string_view name, std::string_view value, std::string_view expected) const {
    return invalid_input(fmt::format("{}: {} is {}, expected {}", file_, name, value, expected));
  }

  void read_names() {
    top_.word<bool>(
        "schema", [](std::string_view text) { return text == kDeviceSchema ? std::optional(true) : std::nullopt; },
        detail::quoted(kDeviceSchema), true);
    limits_.name = top_.text("name");
    if (!is_name(limits_.name)) { top_.reject("name", detail::quoted(limits_.name), "1 to 40 of a to z, 0 to 9 and -"); }
    limits_.title = top_.text("title");
    if (!is_short_text(limits_.title)) { top_.reject("title", detail::quoted(limits_.title), "one line of 1 to 200 bytes"); }
    limits_.vendor = top_.word<Vendor>("vendor", vendor_of, "\"nvidia\" or \"amd\"", Vendor::nvidia);
    limits_.architecture = top_.text("architecture");
    if (!is_architecture(limits_.architecture, limits_.vendor)) {
      top_.reject("architecture", detail::quoted(limits_.architecture),
                  limits_.vendor == Vendor::nvidia ? "as sm_90" : "as gfx90a");
    }
    const json* names = top_.member("names");
    if (names == nullptr) { return; }
    if (!names->is_array() || !std::ranges::all_of(*names, is_short_text)) {
      top_.reject("names", detail::shown(*names), "an array of texts of 1 to 200 bytes");
      return;
    }
    facts_.names = names->get<std::vector<std::string>>();
  }

  /// The object of that name, null where it is absent.
  Result<const json*> section(const char* name, bool needed) {
    const json* value = top_.member(name);
    if (value == nullptr && needed) { return wrong(name, "missing", "an object"); }
    if (value != nullptr && !value->is_object()) { return wrong(name, detail::shown(*value), "an object"); }
    return value;
  }

  Status read_limits() {
    const Result<const json*> object = section("limits", true);
    if (!object) { return object.error(); }
    Numbers numbers(**object, "limits", file_);
    for (const detail::LimitMember& member : detail::limit_members()) {
      member.set(limits_, static_cast<std::int64_t>(numbers.required(member.number)));
    }
    given_.merge(std::set(numbers.given()));
    return numbers.finish();
  }

  Status read_rates() {
    const Result<const json*> object = section("rates", false);
    if (!object || *object == nullptr) { return object ? Status() : Status(object.error()); }
    Numbers numbers(**object, "rates", file_);
    DeviceRates rates;
    bool all = true;
    for (const detail::RateMember& member : detail::rate_members()) {
      const std::optional<double> peak = numbers.optional(member.peak);
      const std::optional<double> reached = numbers.optional(member.reached);
      all = all && (peak || !member.needed);
      rates.*member.part = {peak.value_or(0) * member.unit, reached ? std::optional(*reached * member.unit) : std::nullopt};
    }
    rates.switch_adds = numbers.flag("switch_adds");
    given_.merge(std::set(numbers.given()));
    if (all) { facts_.rates = rates; }
    return numbers.finish();
  }

  Status read_simulator() {
    const Result<const json*> object = section("simulator", false);
    if (!object || *object == nullptr) { return object ? Status() : Status(object.error()); }
    Numbers numbers(**object, "simulator", file_);
    SimulatedSpeeds speeds;
    for (const detail::SpeedMember& member : detail::speed_members()) {
      member.set(speeds, member.needed ? numbers.required(member.number) : numbers.optional(member.number).value_or(member.absent));
    }
    given_.merge(std::set(numbers.given()));
    facts_.simulated = speeds;
    return numbers.finish();
  }

  /// {"width": 0.05}
  Status read_model() {
    const Result<const json*> object = section("model", false);
    if (!object || *object == nullptr) { return object ? Status() : Status(object.error()); }
    if (!facts_.simulated) { return wrong("model", detail::shown(**object), "\"simulator\" beside it, whose width it is"); }
    Numbers numbers(**object, "model", file_);
    facts_.model = ModelWidth{Basis::fitted, numbers.required(detail::kModelWidth), ""};
    given_.merge(std::set(numbers.given()));
    return numbers.finish();
  }

  /// [{"numbers": ["limits.sms"], "source": "..."}]
  Status read_sources() {
    const json* sources = top_.member("sources");
    if (sources == nullptr || !sources->is_array()) {
      return wrong("sources", sources == nullptr ? "missing" : detail::shown(*sources),
                   "an array of {\"numbers\": [...], \"source\": ...}");
    }
    std::set<std::string> sourced;
    std::vector<std::string> of_limits;
    for (const json& one : *sources) {
      if (Status read = read_source(one, sourced, of_limits); !read) { return read; }
    }
    for (const std::string& number : given_) {
      if (!sourced.contains(number)) {
        return invalid_input(fmt::format("{}: {} has no source, expected one in sources", file_, number));
      }
    }
    limits_.source = fmt::format("{}", fmt::join(of_limits, ", "));
    return {};
  }

  Status read_source(const json& one, std::set<std::string>& sourced, std::vector<std::string>& of_limits) {
    const bool right = one.is_object() && one.size() == 2 && one.contains("numbers") && one.contains("source") &&
                       is_short_text(one["source"]) && one["numbers"].is_array() && !one["numbers"].empty() &&
                       std::ranges::all_of(one["numbers"], is_short_text);
    if (!right) { return wrong("sources", detail::shown(one), "{\"numbers\": [names], \"source\": text of 1 to 200 bytes}"); }
    const auto& text = one["source"].get_ref<const std::string&>();
    for (const json& name : one["numbers"]) {
      const auto& number = name.get_ref<const std::string&>();
      if (!given_.contains(number)) {
        return invalid_input(fmt::format("{}: {} has a source and no value", file_, detail::quoted(number)));
      }
      sourced.insert(number);
      if (number == kWidthName) { facts_.model->source = text; }
      if (number.starts_with("limits.") && std::ranges::find(of_limits, text) == of_limits.end()) { of_limits.push_back(text); }
    }
    return {};
  }

  [[nodiscard]] Status check_limits() const {
    const auto at_most = [&](std::string_view name, std::int64_t value, std::string_view other, std::int64_t most) {
      return value <= most ? Status() : Status(wrong(name, fmt::format("{}", value), fmt::format("at most {} ({})", most, other)));
    };
    const std::int64_t warp = limits_.warp.count();
    const std::int64_t share = limits_.registers_per_sm.count() / limits_.sub_partitions;
    for (const Status& holds :
         {at_most("limits.shared_per_block", limits_.shared_per_block.count(), "limits.shared_per_sm",
                  limits_.shared_per_sm.count()),
          at_most("limits.threads_per_block", limits_.max_threads_per_block.count(), "limits.threads_per_sm",
                  limits_.max_threads_per_sm.count()),
          at_most("limits.warp", warp, "limits.threads_per_block", limits_.max_threads_per_block.count()),
          at_most("limits.register_granule", limits_.register_granule.count(), "a sub-partition's registers", share)}) {
      if (!holds) { return holds; }
    }
    if (limits_.max_threads_per_sm.count() % warp != 0) {
      return wrong("limits.threads_per_sm", fmt::format("{}", limits_.max_threads_per_sm.count()),
                   fmt::format("a multiple of {} (limits.warp)", warp));
    }
    return {};
  }

  const std::string& file_;
  JsonFields top_;
  DeviceLimits limits_;
  DeviceFacts facts_;
  std::set<std::string> given_;  ///< "limits.sms"
};

ordered_json rates_json(const DeviceRates& rates) {
  ordered_json made = ordered_json::object();
  for (const detail::RateMember& member : detail::rate_members()) {
    const PartRate& part = rates.*member.part;
    if (!part.known()) { continue; }
    made[member.peak.name] = part.peak / member.unit;
    if (part.reached) { made[member.reached.name] = *part.reached / member.unit; }
  }
  if (rates.switch_adds) { made["switch_adds"] = true; }
  return made;
}

}  // namespace

std::string to_json(const DeviceLimits& device, std::span<const NumberSource> sources) {
  const DeviceFacts* facts = facts_of(device);
  ordered_json document{{"schema", kDeviceSchema}, {"name", device.name}, {"title", device.title}};
  if (facts != nullptr && !facts->names.empty()) { document["names"] = facts->names; }
  document["vendor"] = device.vendor == Vendor::nvidia ? "nvidia" : "amd";
  document["architecture"] = device.architecture;
  for (const detail::LimitMember& member : detail::limit_members()) { document["limits"][member.number.name] = member.get(device); }
  if (facts != nullptr && facts->rates) { document["rates"] = rates_json(*facts->rates); }
  if (facts != nullptr && facts->simulated) {
    for (const detail::SpeedMember& member : detail::speed_members()) {
      if (!member.stands(*facts->simulated)) { continue; }
      const double value = member.get(*facts->simulated);
      document["simulator"][member.number.name] = member.number.whole ? ordered_json(std::llround(value)) : ordered_json(value);
    }
  }
  if (facts != nullptr && facts->model) { document["model"][detail::kModelWidth.name] = facts->model->width; }
  document["sources"] = ordered_json::array();
  for (const NumberSource& one : sources) { document["sources"].push_back({{"numbers", one.numbers}, {"source", one.source}}); }
  return document.dump(2) + "\n";
}

Result<DeviceLimits> parse_device(std::string_view text, const std::string& file) {
  const Result<json> document = detail::read_json_object(text, file, "an elbowroom.device/1 document");
  if (!document) { return document.error(); }
  return DeviceReader(*document, file).read();
}

}  // namespace elbowroom
