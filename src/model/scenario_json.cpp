// The `elbowroom.scenario/1` document: text to Scenario and back.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <utility>

#include "base/most_ranks.hpp"
#include "elbowroom/model/scenario.hpp"
#include "model/json_document.hpp"
#include "model/json_fields.hpp"
#include "model/scenario_words.hpp"
#include "model/work_json.hpp"

namespace elbowroom {
namespace {

using detail::JsonFields;
using nlohmann::json;

constexpr const char* kScenarioSchema = "elbowroom.scenario/1";

Result<Scenario> read_scenario(const json& document, const std::string& source) {
  JsonFields fields(document, "", source);
  const auto is_schema = [](std::string_view word) { return word == kScenarioSchema ? std::optional(word) : std::nullopt; };
  fields.word<std::string_view>("schema", is_schema, fmt::format("\"{}\"", kScenarioSchema), kScenarioSchema);
  Scenario scenario;
  scenario.name = fields.text("name");
  scenario.gpus = static_cast<int>(fields.integer("gpus", 2, kMostRanks));
  scenario.iterations = static_cast<int>(fields.integer("iterations", 1, 10'000));
  scenario.pattern = fields.word("pattern", detail::word_of(detail::kPatterns), "\"pipeline\" or \"pair\"", Pattern::pipeline);
  const json* compute = detail::object_member(fields, "compute");
  const json* collective = detail::object_member(fields, "collective");
  if (Status status = fields.finish(); !status) { return status.error(); }

  Result<Compute> read = detail::read_compute(*compute, "compute.", source);
  if (!read) { return read.error(); }
  scenario.compute = *read;
  Result<Collective> ends = detail::read_collective(*collective, "collective.", source);
  if (!ends) { return ends.error(); }
  scenario.collective = *ends;
  return scenario;
}

}  // namespace

Result<Scenario> parse_scenario(std::string_view text, std::string_view source) {
  const std::string where(source);
  const Result<json> document = detail::read_json_object(text, where, fmt::format("an {} document", kScenarioSchema));
  if (!document) { return document.error(); }
  Result<Scenario> scenario = read_scenario(*document, where);
  if (!scenario) { return scenario; }
  if (Status status = validate(*scenario); !status) { return invalid_input(fmt::format("{}: {}", where, status.error().message)); }
  return scenario;
}

std::string to_json(const Scenario& scenario, int indent) {
  const nlohmann::ordered_json document{{"schema", kScenarioSchema},
                                        {"name", scenario.name},
                                        {"gpus", scenario.gpus},
                                        {"iterations", scenario.iterations},
                                        {"pattern", to_string(scenario.pattern)},
                                        {"compute", detail::compute_json(scenario.compute)},
                                        {"collective", detail::collective_json(scenario.collective)}};
  return document.dump(indent, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace elbowroom
