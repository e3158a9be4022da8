#include "page/reading.hpp"

#include <fmt/format.h>

#include <optional>
#include <utility>

#include "elbowroom/report/scenario_line.hpp"
#include "model/json_document.hpp"
#include "model/json_fields.hpp"
#include "plan/overlap_plan_json.hpp"

namespace elbowroom::page {
namespace {

using nlohmann::json;

const json& member_of(Members& members, const char* name) {
  static const json absent;
  const auto found = members.raw().find(name);
  return found == members.raw().end() ? absent : *found;
}

std::string device_words(Members device) {
  const std::string unit = device.has("vendor") && device.text("vendor") == "amd" ? "CUs" : "SMs";
  return fmt::format("{} x {} ({}, {}, {} {})", device.count("count"), device.text("name"), device.text("catalog"),
                     device.text("architecture"), device.count("sms"), unit);
}

std::string versions_words(Members versions) {
  std::string words;
  for (const auto& [name, version] : versions.raw().items()) {
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", name, versions.text(name.c_str()));
  }
  return words;
}

}  // namespace

Result<Document> read_members(std::string_view text, const std::string& source, std::string_view schema,
                              const std::function<void(Members&, Document&)>& fill) {
  const Result<json> read = detail::read_json_object(text, source, fmt::format("an {} document", schema));
  if (!read) { return read.error(); }
  std::optional<std::string> failure;
  Members members(*read, "", failure);
  Document document;
  document.file = source;
  document.schema = members.text("schema");
  if (!failure && document.schema != schema) { members.reject("schema", json(document.schema), detail::quoted(schema)); }
  fill(members, document);
  if (failure) { return invalid_input(fmt::format("{}: {}", source, *failure)); }
  return document;
}

std::string text_or_none(Members& members, const char* name) { return members.has(name) ? members.text(name) : std::string(); }

std::optional<std::string> text_if_any(Members& members, const char* name) {
  std::string text = text_or_none(members, name);
  return text.empty() ? std::nullopt : std::optional(std::move(text));
}

void add_fact(Document& document, std::string name, Value value) {
  const bool empty = value.is_null() || (value.is_string() && value.get_ref<const std::string&>().empty());
  if (!empty) { document.facts.push_back({std::move(name), std::move(value)}); }
}

void read_origin(Members& members, Document& document) {
  members.need("provenance", "measured or simulated");
  document.provenance = members.text("provenance");
  if (document.provenance != "measured" && document.provenance != "simulated") {
    members.reject("provenance", json(document.provenance), "measured or simulated");
  }
  const bool described = member_of(members, "device").is_object();
  if (members.has("device")) {
    add_fact(document, "device", described ? device_words(members.object("device")) : members.text("device"));
  }
  add_fact(document, "backend", text_or_none(members, "backend"));
  if (members.has("versions")) { add_fact(document, "versions", versions_words(members.object("versions"))); }
  if (members.has("model")) {
    Members model = members.object("model");
    add_fact(document, "model", text_or_none(model, "source"));
  }
  add_fact(document, "seed", members.exact("seed"));
}

OverlapPlan read_plan(Members& members) {
  if (!members.has("plan") || members.failed()) { return {}; }
  const Result<OverlapPlan> plan = detail::read_plan(member_of(members, "plan"), members.path_of("plan"), "");
  if (plan) { return *plan; }
  // The other reader begins with an empty source: ": ".
  members.fail(plan.error().message.substr(plan.error().message.find_first_not_of(": ")));
  return {};
}

std::optional<Scenario> read_case(Members& members, Section& section) {
  if (!members.has("step")) { return read_scenario(members, section); }
  Members object = members.object("step");
  object.need("name", "a text");
  section.title = object.text("name");
  if (members.failed()) { return std::nullopt; }
  const Result<Step> step = parse_step(object.raw().dump(-1, ' ', false, json::error_handler_t::replace), "");
  section.line =
      step ? step_line(*step).substr(step->name.size() + 2) : "a step that this version would refuse" + step.error().message;
  return std::nullopt;
}

std::optional<Scenario> read_scenario(Members& members, Section& section) {
  members.need("scenario", "an elbowroom.scenario/1 document");
  Members object = members.object("scenario");
  object.need("name", "a text");
  section.title = object.text("name");
  if (members.failed()) { return std::nullopt; }
  const Result<Scenario> scenario = parse_scenario(object.raw().dump(-1, ' ', false, json::error_handler_t::replace), "");
  if (scenario) {
    section.line = scenario_line(*scenario).substr(scenario->name.size() + 2);
    return *scenario;
  }
  // What was measured of it stands all the same. The other reader's message begins with its empty source and a colon.
  section.line = "a scenario that this version would refuse" + scenario.error().message;
  return std::nullopt;
}

void read_interval(Members& members, const char* name, Timed& timed) {
  if (!members.has(name)) { return; }
  Members interval = members.object(name);
  timed.median = interval.exact("median");
  timed.low = interval.exact("low");
  timed.high = interval.exact("high");
  timed.trials = interval.exact("trials");
  timed.confidence = interval.exact("confidence");
}

}  // namespace elbowroom::page
