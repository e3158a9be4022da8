#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "elbowroom/model/scenario.hpp"
#include "model/json_members.hpp"
#include "page/model.hpp"
#include "page/readers.hpp"

// What the readers of this room share.
namespace elbowroom {

struct OverlapPlan;

}  // namespace elbowroom

namespace elbowroom::page {

using Members = detail::JsonMembers;

/// Reads the whole of a document: its schema, then what `fill` takes from it.
Result<Document> read_members(std::string_view text, const std::string& source, std::string_view schema,
                              const std::function<void(Members&, Document&)>& fill);

/// Empty where the member is absent or null.
std::string text_or_none(Members& members, const char* name);
/// The same; absent where the document leaves it out or empty.
std::optional<std::string> text_if_any(Members& members, const char* name);

/// Where figures come from: provenance, which must be said, and what else is there of device, backend, versions, seed and model.
void read_origin(Members& members, Document& document);

/// The plan in the member `plan`; absent is the empty plan.
OverlapPlan read_plan(Members& members);

/// The scenario in the member `scenario`, which becomes title and line of the section. Nothing where this version would refuse it:
/// another may have run it.
std::optional<Scenario> read_scenario(Members& members, Section& section);

/// The same, or the step in the member `step`, which is no scenario.
std::optional<Scenario> read_case(Members& members, Section& section);

/// Median, low, high and what else is there of an interval in the member `name`, which may be absent.
void read_interval(Members& members, const char* name, Timed& timed);

void add_fact(Document& document, std::string name, Value value);

}  // namespace elbowroom::page
