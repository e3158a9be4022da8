// The `elbowroom.machine/1` document: text to MachineSpec and back.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "elbowroom/model/device_catalog.hpp"
#include "elbowroom/network/machine.hpp"
#include "model/json_document.hpp"
#include "model/json_fields.hpp"

namespace elbowroom {
namespace {

using detail::JsonFields;
using nlohmann::json;

constexpr const char* kMachineSchema = "elbowroom.machine/1";
constexpr double kGbPerSecond = 1e3;  // bytes per microsecond
constexpr int kMostHostGpus = 1'024;

double number(JsonFields& fields, const char* name, double least, double greatest) {
  const json* value = fields.member(name);
  if (value != nullptr && value->is_number()) {
    const auto given = value->get<double>();
    if (given >= least && given <= greatest) { return given; }
  }
  fields.reject(name, value == nullptr ? "missing" : detail::shown(*value), fmt::format("a number from {} to {}", least, greatest));
  return least;
}

/// An object with one field wrong where the member is missing or none.
const json& object(JsonFields& fields, const char* name) {
  static const json none = json::object();
  const json* value = fields.member(name);
  if (value != nullptr && value->is_object()) { return *value; }
  fields.reject(name, value == nullptr ? "missing" : detail::shown(*value), "an object");
  return none;
}

Result<HostLinks> read_links(const json& member, const std::string& source) {
  JsonFields fields(member, "links.", source);
  HostLinks links;
  links.rate = number(fields, "gb_s", 1e-3, 1e6) * kGbPerSecond;
  links.turn_share = number(fields, "turn_share", 0, 10);
  links.packet_share = number(fields, "packet_share", 1e-3, 1);
  links.start = Microseconds(number(fields, "start_us", 0, 1e6));
  links.rank = Microseconds(number(fields, "rank_us", 0, 1e6));
  if (member.contains("switch_share")) { links.switch_share = number(fields, "switch_share", 0, 1); }
  if (Status good = fields.finish(); !good) { return good.error(); }
  return links;
}

Result<Rails> read_rails(const json& member, const std::string& source) {
  JsonFields fields(member, "rails.", source);
  Rails rails;
  rails.count = static_cast<int>(fields.integer("count", 0, kMostHostGpus));
  rails.rate = number(fields, "gb_s", 1e-3, 1e6) * kGbPerSecond;
  rails.share = number(fields, "share", 1e-3, 1);
  if (Status good = fields.finish(); !good) { return good.error(); }
  return rails;
}

}  // namespace

Result<MachineSpec> parse_machine(std::string_view text, std::string_view source) {
  const std::string file(source);
  const Result<json> document = detail::read_json_object(text, file, fmt::format("an {} document", kMachineSchema));
  if (!document) { return document.error(); }
  JsonFields fields(*document, "", file);
  const auto is_schema = [](std::string_view word) { return word == kMachineSchema ? std::optional(word) : std::nullopt; };
  fields.word<std::string_view>("schema", is_schema, fmt::format("\"{}\"", kMachineSchema), kMachineSchema);
  MachineSpec machine;
  machine.name = fields.text("name");
  machine.device = fields.text("device");
  machine.host_gpus = static_cast<int>(fields.integer("host_gpus", 1, kMostHostGpus));
  const json& links = object(fields, "links");
  const json& rails = object(fields, "rails");
  if (const auto known = find_device(machine.device); !known) { fields.reject("device", machine.device, known.error().message); }
  if (Status good = fields.finish(); !good) { return good.error(); }
  const Result<HostLinks> within = read_links(links, file);
  if (!within) { return within.error(); }
  const Result<Rails> between = read_rails(rails, file);
  if (!between) { return between.error(); }
  machine.links = *within;
  machine.rails = *between;
  return machine;
}

std::string to_json(const MachineSpec& machine) {
  nlohmann::ordered_json document;
  document["schema"] = kMachineSchema;
  document["name"] = machine.name;
  document["device"] = machine.device;
  document["host_gpus"] = machine.host_gpus;
  document["links"] = {{"gb_s", machine.links.rate / kGbPerSecond},
                       {"turn_share", machine.links.turn_share},
                       {"packet_share", machine.links.packet_share},
                       {"start_us", machine.links.start.count()},
                       {"rank_us", machine.links.rank.count()}};
  if (machine.links.switch_share > 0) { document["links"]["switch_share"] = machine.links.switch_share; }
  document["rails"] = {{"count", machine.rails.count}, {"gb_s", machine.rails.rate / kGbPerSecond}, {"share", machine.rails.share}};
  return document.dump(2) + "\n";
}

}  // namespace elbowroom
