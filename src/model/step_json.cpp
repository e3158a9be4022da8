// The `elbowroom.step/1` document: text to Step and back.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/most_ranks.hpp"
#include "elbowroom/model/size.hpp"
#include "elbowroom/model/step.hpp"
#include "model/json_document.hpp"
#include "model/json_fields.hpp"
#include "model/scenario_words.hpp"
#include "model/step_limits.hpp"
#include "model/step_schema.hpp"
#include "model/work_json.hpp"

namespace elbowroom {
namespace {

using detail::JsonFields;
using detail::shown;
using nlohmann::json;
using nlohmann::ordered_json;

constexpr std::string_view kBefore = "@-1";

Error wrong(const std::string& source, const std::string& field, const json& value, std::string_view expected) {
  return invalid_input(fmt::format("{}: {}: {}, expected {}", source, field, shown(value), expected));
}

/// Position of the element with that name; -1: there is none.
template <class Named>
int index_of(const std::vector<Named>& all, const json& name) {
  if (!name.is_string()) { return -1; }
  const auto found = std::ranges::find(all, name.get_ref<const std::string&>(), &Named::name);
  return found == all.end() ? -1 : static_cast<int>(found - all.begin());
}

bool is_count(const json& value, std::uint64_t greatest) {
  return value.is_number_unsigned() && value.get<std::uint64_t>() <= greatest;
}

bool is_time(const json& value) { return value.is_number() && std::isfinite(value.get<double>()) && value.get<double>() >= 0; }

/// One operation's fields with what they refer to.
class OperationReader {
 public:
  OperationReader(const Step& step, const json& object, std::size_t at, const std::string& source)
      : step_(step), source_(source), path_(fmt::format("operations[{}].", at)), fields_(object, path_, source) {}

  /// All but what it waits for, which may come later in the document.
  Result<Operation> read() {
    Operation operation;
    operation.name = fields_.text("name");
    if (const json* lane = fields_.member("lane")) {
      if (!lane->is_string() || lane->get_ref<const std::string&>().empty()) {
        return wrong("lane", *lane, "a text that is not empty");
      }
      operation.lane = lane->get<std::string>();
    }
    if (const json* gap = fields_.member("host_gap_us")) {
      if (!is_time(*gap)) { return wrong("host_gap_us", *gap, "a number from 0"); }
      operation.host_gap = Microseconds(gap->get<double>());
    }
    static_cast<void>(fields_.member("after"));
    if (Status placed = read_who_runs(operation); !placed) { return placed.error(); }
    if (Status worked = read_work(operation); !worked) { return worked.error(); }
    if (Status finished = fields_.finish(); !finished) { return finished.error(); }
    return operation;
  }

 private:
  [[nodiscard]] Error wrong(const std::string& field, const json& value, std::string_view expected) const {
    return elbowroom::wrong(source_, path_ + field, value, expected);
  }

  Status read_who_runs(Operation& operation) {
    const bool mesh = !step_.mesh.empty();
    if (const json* group = fields_.member("group")) {
      const std::string_view expected = mesh ? "the name of an axis of the mesh, or a list of them" : "the name of a group";
      if (!mesh) {
        operation.group = index_of(step_.groups, *group);
        if (*operation.group < 0) { return wrong("group", *group, expected); }
      }
      const json listed = group->is_array() ? *group : json::array({*group});
      if (mesh && listed.empty()) { return wrong("group", *group, expected); }
      for (const json& name : listed) {
        if (!mesh) { break; }
        operation.along.push_back(index_of(step_.mesh, name));
        if (operation.along.back() < 0) { return wrong("group", name, expected); }
      }
    }
    const json* at = fields_.member("at");
    if (at == nullptr) { return {}; }
    if (!mesh) {
      operation.at_group = index_of(step_.groups, *at);
      return *operation.at_group < 0 ? wrong("at", *at, "the name of a group") : Status();
    }
    if (!at->is_object() || at->empty()) { return wrong("at", *at, "coordinates by axis such as {\"pp\": 1}"); }
    for (const auto& [name, coordinate] : at->items()) {
      const int axis = index_of(step_.mesh, json(name));
      if (axis < 0) { return wrong("at", json(name), "an axis of the mesh"); }
      if (!is_count(coordinate, kMostRanks)) { return wrong("at." + name, coordinate, "a coordinate from 0"); }
      operation.at.push_back({axis, coordinate.get<int>()});
    }
    std::ranges::sort(operation.at, {}, &Coordinate::axis);
    return {};
  }

  Status read_work(Operation& operation) {
    const json* compute = fields_.member("compute");
    const json* collective = fields_.member("collective");
    const json* transfer = fields_.member("send_recv");
    const int given = (compute != nullptr ? 1 : 0) + (collective != nullptr ? 1 : 0) + (transfer != nullptr ? 1 : 0);
    if (given != 1) {
      return invalid_input(fmt::format("{}: {}compute: {} of compute, collective and send_recv, expected one", source_, path_,
                                       given == 0 ? "none" : "several"));
    }
    for (const auto& [name, object] : {std::pair{"compute", compute}, {"collective", collective}, {"send_recv", transfer}}) {
      if (object != nullptr && !object->is_object()) { return wrong(name, *object, "an object"); }
    }
    if (compute != nullptr) { return read_compute(*compute, operation); }
    if (transfer != nullptr) { return read_transfer(*transfer, operation); }
    Result<Collective> read = detail::read_collective(*collective, path_ + "collective.", source_);
    if (!read) { return read.error(); }
    operation.what = *read;
    return {};
  }

  Status read_compute(const json& object, Operation& operation) {
    const auto kernel = object.find("kernel");
    if (kernel != object.end() && *kernel == "recorded") { return read_recorded(object, operation); }
    Result<Compute> read = detail::read_compute(object, path_ + "compute.", source_);
    if (!read) { return read.error(); }
    operation.what = *read;
    return {};
  }

  Status read_transfer(const json& object, Operation& operation) {
    SendRecv transfer;
    transfer.from = static_cast<int>(fields_.integer("from", 0, kMostRanks));
    transfer.to = static_cast<int>(fields_.integer("to", 0, kMostRanks));
    JsonFields inner(object, path_ + "send_recv.", source_);
    transfer.bytes = inner.size("bytes");
    transfer.dtype = detail::read_dtype(inner, detail::kCollectiveTypes);
    operation.what = transfer;
    return inner.finish();
  }

  Status read_recorded(const json& object, Operation& operation) {
    JsonFields inner(object, path_ + "compute.", source_);
    static_cast<void>(inner.member("kernel"));
    RecordedKernel kernel;
    kernel.name = inner.text("name");
    const json* times = inner.member("us");
    if (times == nullptr || !times->is_array() || !std::ranges::all_of(*times, is_time)) {
      return wrong("compute.us", times == nullptr ? json() : *times, "a list of times in microseconds");
    }
    for (const json& time : *times) { kernel.times.emplace_back(time.get<double>()); }
    kernel.blocks = Blocks(inner.integer("blocks", 1, detail::kMostBlocks));
    if (const json* footprint = inner.member("footprint")) {
      if (!footprint->is_object()) { return wrong("compute.footprint", *footprint, "an object"); }
      if (Status read = read_footprint(*footprint, kernel); !read) { return read; }
    }
    operation.what = std::move(kernel);
    return inner.finish();
  }

  Status read_footprint(const json& object, RecordedKernel& kernel) {
    JsonFields fields(object, path_ + "compute.footprint.", source_);
    if (const auto threads = fields.optional_integer("threads", 1, 1'024)) { kernel.threads = Threads(*threads); }
    if (const auto registers = fields.optional_integer("registers", 0, 512)) {
      kernel.registers_per_thread = Registers(*registers);
    }
    if (const auto bytes = fields.optional_integer("static_shared", 0, detail::kMostShared)) {
      kernel.static_shared = Bytes(*bytes);
    }
    if (const auto bytes = fields.optional_integer("dynamic_shared", 0, detail::kMostShared)) {
      kernel.dynamic_shared = Bytes(*bytes);
    }
    if (const auto cluster = fields.optional_integer("cluster", 1, 16)) { kernel.cluster = static_cast<int>(*cluster); }
    return fields.finish();
  }

  const Step& step_;
  const std::string& source_;
  std::string path_;
  JsonFields fields_;
};

using Names = std::map<std::string, int, std::less<>>;

Status read_after(Step& step, const Names& names, const json& object, std::size_t at, const std::string& source) {
  const auto after = object.find("after");
  if (after == object.end()) { return {}; }
  const std::string field = fmt::format("operations[{}].after", at);
  if (!after->is_array()) { return wrong(source, field, *after, "a list of names of operations"); }
  for (const json& name : *after) {
    Dependency before;
    std::string plain = name.is_string() ? name.get<std::string>() : "";
    before.of_previous = plain.ends_with(kBefore);
    if (before.of_previous) { plain.erase(plain.size() - kBefore.size()); }
    const auto found = names.find(plain);
    if (found == names.end()) { return wrong(source, field, name, "the name of an operation, or name@-1 for the repeat before"); }
    before.operation = found->second;
    step.operations[at].after.push_back(before);
  }
  return {};
}

/// The axes in the order of the text, which a sorted object no longer has.
Status read_mesh(const json& mesh, std::string_view text, const std::string& source, Step& step) {
  if (!mesh.is_object() || mesh.empty()) { return wrong(source, "mesh", mesh, "sizes by axis such as {\"dp\": 2, \"pp\": 2}"); }
  std::int64_t product = 1;
  const ordered_json document = ordered_json::parse(text, nullptr, false);
  for (const auto& [name, size] : document["mesh"].items()) {
    if (!is_count(json(size), kMostRanks) || size.get<int>() < 1) {
      return wrong(source, "mesh." + shown(json(name)), json(size), fmt::format("a whole number from 1 to {}", kMostRanks));
    }
    step.mesh.push_back({name, size.get<int>()});
    product = std::min<std::int64_t>(product * size.get<int>(), kMostRanks + 1);
  }
  step.ranks = static_cast<int>(product);
  return {};
}

Status read_groups(const json& groups, const std::string& source, Step& step) {
  if (!groups.is_array()) { return wrong(source, "groups", groups, "a list of groups"); }
  for (std::size_t at = 0; at < groups.size(); ++at) {
    const std::string path = fmt::format("groups[{}]", at);
    if (!groups[at].is_object()) { return wrong(source, path, groups[at], "an object"); }
    JsonFields fields(groups[at], path + ".", source);
    Group group{fields.text("name"), {}};
    const json* ranks = fields.member("ranks");
    const auto is_rank = [](const json& rank) { return is_count(rank, kMostRanks); };
    if (ranks == nullptr || !ranks->is_array() || !std::ranges::all_of(*ranks, is_rank)) {
      return wrong(source, path + ".ranks", ranks == nullptr ? json() : *ranks, "a list of ranks");
    }
    for (const json& rank : *ranks) { group.ranks.push_back(rank.get<int>()); }
    if (Status finished = fields.finish(); !finished) { return finished; }
    step.groups.push_back(std::move(group));
  }
  return {};
}

Status read_operations(const json& operations, const std::string& source, Step& step) {
  if (!operations.is_array() || operations.size() > detail::kMostOperations) {
    return wrong(source, "operations", operations, fmt::format("a list of at most {} operations", detail::kMostOperations));
  }
  for (std::size_t at = 0; at < operations.size(); ++at) {
    if (!operations[at].is_object()) { return wrong(source, fmt::format("operations[{}]", at), operations[at], "an object"); }
    Result<Operation> operation = OperationReader(step, operations[at], at, source).read();
    if (!operation) { return operation.error(); }
    step.operations.push_back(std::move(*operation));
  }
  Names names;
  for (std::size_t at = 0; at < operations.size(); ++at) { names.emplace(step.operations[at].name, static_cast<int>(at)); }
  for (std::size_t at = 0; at < operations.size(); ++at) {
    if (Status read = read_after(step, names, operations[at], at, source); !read) { return read; }
  }
  return {};
}

Status read_memory(const json& object, const std::string& source, Step& step) {
  if (!object.is_object()) { return wrong(source, "memory", object, "an object"); }
  JsonFields fields(object, "memory.", source);
  const auto bytes = [&](const char* name) { return Bytes(fields.integer(name, 0, std::int64_t{1} << 50)); };
  step.memory = TrainingMemory{bytes("parameters"), bytes("gradients"), bytes("optimizer"), bytes("activations")};
  return fields.finish();
}

Result<Step> read_step(const json& document, std::string_view text, const std::string& source) {
  JsonFields fields(document, "", source);
  const auto is_schema = [](std::string_view word) { return word == kStepSchema ? std::optional(word) : std::nullopt; };
  fields.word<std::string_view>("schema", is_schema, fmt::format("\"{}\"", kStepSchema), kStepSchema);
  Step step;
  step.name = fields.text("name");
  step.repeats = static_cast<int>(fields.optional_integer("repeats", 1, detail::kMostRepeats).value_or(1));
  const json* mesh = fields.member("mesh");
  const json* groups = fields.member("groups");
  const json* operations = fields.member("operations");
  const json* memory = fields.member("memory");
  if (mesh == nullptr) { step.ranks = static_cast<int>(fields.integer("ranks", 1, kMostRanks)); }
  if (operations == nullptr) { fields.reject("operations", "missing", "a list of operations"); }
  if (Status finished = fields.finish(); !finished) { return finished.error(); }
  if (mesh != nullptr && groups != nullptr) { return wrong(source, "groups", *groups, "none beside a mesh"); }
  if (mesh != nullptr) {
    if (Status read = read_mesh(*mesh, text, source, step); !read) { return read.error(); }
  }
  if (groups != nullptr) {
    if (Status read = read_groups(*groups, source, step); !read) { return read.error(); }
  }
  if (memory != nullptr) {
    if (Status read = read_memory(*memory, source, step); !read) { return read.error(); }
  }
  if (Status read = read_operations(*operations, source, step); !read) { return read.error(); }
  return step;
}

ordered_json recorded_json(const RecordedKernel& kernel) {
  ordered_json times = ordered_json::array();
  for (const Microseconds time : kernel.times) { times.push_back(time.count()); }
  ordered_json object{{"kernel", "recorded"}, {"name", kernel.name}, {"us", std::move(times)}, {"blocks", kernel.blocks.count()}};
  ordered_json footprint = ordered_json::object();
  if (kernel.threads) { footprint["threads"] = kernel.threads->count(); }
  if (kernel.registers_per_thread) { footprint["registers"] = kernel.registers_per_thread->count(); }
  if (kernel.static_shared) { footprint["static_shared"] = kernel.static_shared->count(); }
  if (kernel.dynamic_shared) { footprint["dynamic_shared"] = kernel.dynamic_shared->count(); }
  if (kernel.cluster) { footprint["cluster"] = *kernel.cluster; }
  if (!footprint.empty()) { object["footprint"] = std::move(footprint); }
  return object;
}

void write_who_runs(const Step& step, const Operation& operation, ordered_json& object) {
  const auto axis = [&](int at) { return step.mesh[static_cast<std::size_t>(at)].name; };
  const auto group = [&](int at) { return step.groups[static_cast<std::size_t>(at)].name; };
  if (operation.group) { object["group"] = group(*operation.group); }
  if (operation.along.size() == 1) { object["group"] = axis(operation.along.front()); }
  if (operation.along.size() > 1) {
    for (const int at : operation.along) { object["group"].push_back(axis(at)); }
  }
  if (operation.at_group) { object["at"] = group(*operation.at_group); }
  for (const Coordinate& coordinate : operation.at) { object["at"][axis(coordinate.axis)] = coordinate.at; }
}

ordered_json operation_json(const Step& step, const Operation& operation) {
  ordered_json object{{"name", operation.name}};
  if (const auto* compute = std::get_if<Compute>(&operation.what)) { object["compute"] = detail::compute_json(*compute); }
  if (const auto* recorded = std::get_if<RecordedKernel>(&operation.what)) { object["compute"] = recorded_json(*recorded); }
  if (const auto* collective = std::get_if<Collective>(&operation.what)) {
    object["collective"] = detail::collective_json(*collective);
  }
  if (const auto* transfer = std::get_if<SendRecv>(&operation.what)) {
    object["send_recv"] = {{"bytes", format_size(transfer->bytes)}, {"dtype", to_string(transfer->dtype)}};
    object["from"] = transfer->from;
    object["to"] = transfer->to;
  }
  write_who_runs(step, operation, object);
  if (operation.lane) { object["lane"] = *operation.lane; }
  if (operation.host_gap != Microseconds(0)) { object["host_gap_us"] = operation.host_gap.count(); }
  for (const Dependency& before : operation.after) {
    object["after"].push_back(step.operations[static_cast<std::size_t>(before.operation)].name +
                              std::string(before.of_previous ? kBefore : ""));
  }
  return object;
}

}  // namespace

Result<Step> parse_step(std::string_view text, std::string_view source) {
  const std::string where(source);
  const Result<json> document = detail::read_json_object(text, where, fmt::format("an {} document", kStepSchema));
  if (!document) { return document.error(); }
  if (const auto schema = document->find("schema"); schema != document->end() && *schema == "elbowroom.scenario/1") {
    const Result<Scenario> scenario = parse_scenario(text, source);
    return scenario ? Result(step_of(*scenario)) : scenario.error();
  }
  Result<Step> step = read_step(*document, text, where);
  if (!step) { return step; }
  if (Status status = validate(*step); !status) { return invalid_input(fmt::format("{}: {}", where, status.error().message)); }
  return step;
}

std::string to_json(const Step& step, int indent) {
  ordered_json document{{"schema", kStepSchema}, {"name", step.name}, {"repeats", step.repeats}};
  for (const MeshAxis& axis : step.mesh) { document["mesh"][axis.name] = axis.size; }
  if (step.mesh.empty()) { document["ranks"] = step.ranks; }
  for (const Group& group : step.groups) { document["groups"].push_back({{"name", group.name}, {"ranks", group.ranks}}); }
  if (step.memory) {
    document["memory"] = {{"parameters", step.memory->parameters.count()},
                          {"gradients", step.memory->gradients.count()},
                          {"optimizer", step.memory->optimizer.count()},
                          {"activations", step.memory->activations.count()}};
  }
  document["operations"] = ordered_json::array();
  for (const Operation& operation : step.operations) { document["operations"].push_back(operation_json(step, operation)); }
  return document.dump(indent, ' ', false, ordered_json::error_handler_t::replace);
}

}  // namespace elbowroom
