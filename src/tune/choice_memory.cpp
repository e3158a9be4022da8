#include "tune/choice_memory.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/files.hpp"
#include "base/known_file.hpp"
#include "model/json_document.hpp"
#include "model/json_fields.hpp"
#include "run/choices.hpp"
#include "run/limits.hpp"
#include "tune/json_rows.hpp"
#include "tune/stored_document.hpp"

namespace elbowroom::detail {
namespace {

using OrderedJson = nlohmann::ordered_json;

StoredDocument memory_at(const std::string& path) { return {target_of(path), kChoicesSchema, "memory of choices"}; }

OrderedJson choice_json(const RememberedChoice& choice) {
  OrderedJson json = OrderedJson::object();
  OrderedJson& key = json["key"] = OrderedJson::object();
  key["device"] = choice.key.device;
  key["driver"] = choice.key.driver;
  key["library_version"] = choice.key.library;
  key["options"] = choice.key.options;
  key["sequence"] = run::key_text(choice.key.sequence);
  json["arm"] = choice.arm;
  json["ranks"] = choice.ranks;
  json["gain_percent"] = choice.gain;
  json["low"] = choice.low;
  json["high"] = choice.high;
  json["decisions"] = choice.decisions;
  json["stored_at"] = choice.stored_at;
  return json;
}

double percent_of(JsonFields& fields, const char* name) {
  const nlohmann::json* value = fields.member(name);
  if (value != nullptr && value->is_number() && std::isfinite(value->get<double>())) { return value->get<double>(); }
  fields.reject(name, value == nullptr ? "missing" : shown(*value), "a number of percent");
  return 0;
}

Result<ChoiceKey> read_key(const nlohmann::json& object, const std::string& path, const std::string& source) {
  JsonFields fields(object, path + ".", source);
  ChoiceKey key;
  key.device = line_of(fields, "device");
  if (key.device.empty() || key.device.size() > run::kLongestDeviceName) {
    fields.reject("device", shown(key.device), fmt::format("a name of 1 to {} bytes", run::kLongestDeviceName));
  }
  key.driver = line_of(fields, "driver");
  key.library = static_cast<std::uint32_t>(fields.integer("library_version", 0, UINT32_MAX));
  key.options = line_of(fields, "options");
  const auto sequence = [](const std::string& text) { return run::parse_key(text); };
  key.sequence = fields.word<run::Key>("sequence", sequence, "16 hexadecimal digits, not all 0", 0);
  if (Status read = fields.finish(); !read) { return read.error(); }
  return key;
}

Result<RememberedChoice> read_choice(const nlohmann::json& object, const std::string& path, const std::string& source) {
  JsonFields fields(object, path + ".", source);
  RememberedChoice choice;
  const auto arm = [](const std::string& text) { return run::is_arm(text) ? std::optional(text) : std::nullopt; };
  choice.arm = fields.word<std::string>("arm", arm, "names of controls", "");
  choice.ranks = static_cast<int>(fields.integer("ranks", 0, 1'000'000));
  choice.gain = percent_of(fields, "gain_percent");
  choice.low = percent_of(fields, "low");
  choice.high = percent_of(fields, "high");
  choice.decisions = fields.integer("decisions", 1, 1'000'000'000);
  choice.stored_at = fields.integer("stored_at", 0, kGreatestTime);
  const nlohmann::json* key = fields.member("key");
  if (key == nullptr || !key->is_object()) { fields.reject("key", key == nullptr ? "missing" : shown(*key), "an object"); }
  if (Status read = fields.finish(); !read) { return read.error(); }
  Result<ChoiceKey> read = read_key(*key, path + ".key", source);
  if (!read) { return read.error(); }
  choice.key = std::move(*read);
  return choice;
}

}  // namespace

void ChoiceMemory::put(RememberedChoice choice) {
  const auto place = places_.find(choice.key);
  const bool compared = choice.decisions > 0;
  if (place == places_.end()) {
    if (!compared) { return; }
    places_.emplace(choice.key, choices_.size());
    choices_.push_back(std::move(choice));
    return;
  }
  RememberedChoice* const known = &choices_[place->second];
  const bool newer = choice.stored_at >= known->stored_at;
  if (choice.arm != known->arm) {
    if (compared && newer) { *known = std::move(choice); }
    return;
  }
  const std::int64_t decisions = known->decisions + choice.decisions;
  const std::int64_t last = std::max(known->stored_at, choice.stored_at);
  if (compared && newer) { *known = std::move(choice); }
  known->decisions = decisions;
  known->stored_at = last;
}

void ChoiceMemory::forget(const ChoiceKey& key) {
  if (!places_.contains(key)) { return; }
  std::erase_if(choices_, [&](const RememberedChoice& choice) { return choice.key == key; });
  find_places();
}

void ChoiceMemory::find_places() {
  places_.clear();
  for (std::size_t at = 0; at < choices_.size(); ++at) { places_.emplace(choices_[at].key, at); }
}

void ChoiceMemory::drop_old() {
  std::ranges::stable_sort(choices_, std::ranges::greater(), &RememberedChoice::stored_at);
  if (choices_.size() > run::kMostChoices) { choices_.resize(run::kMostChoices); }
  find_places();
}

Result<ChoiceMemory> parse_choices(std::string_view json, const std::string& source) {
  const Result<nlohmann::json> document = read_json_object(json, source, fmt::format("an {} document", kChoicesSchema));
  if (!document) { return document.error(); }
  JsonFields fields(*document, "", source);
  const auto is_ours = [](const std::string& text) { return text == kChoicesSchema ? std::optional(true) : std::nullopt; };
  fields.word<bool>("schema", is_ours, fmt::format("\"{}\"", kChoicesSchema), false);
  const nlohmann::json& choices = list_of(fields, "choices", Presence::required);
  if (Status read = fields.finish(); !read) { return read.error(); }
  ChoiceMemory memory;
  const auto put = [&](RememberedChoice choice) { memory.put(std::move(choice)); };
  if (Status read = read_each(choices, "choices", source, read_choice, put); !read) { return read.error(); }
  return memory;
}

std::string to_json(const ChoiceMemory& memory) {
  return fmt::format("{{\"schema\": \"{}\",\n \"choices\": [{}]}}\n", kChoicesSchema, lines_of(memory.choices(), choice_json));
}

ChoiceMemory load_choices_or_none(const std::string& path, const NoticeSink& notice) {
  const Result<std::optional<std::string>> text = read_stored(memory_at(path));
  Result<ChoiceMemory> memory = !text ? Result<ChoiceMemory>(text.error()) : *text ? parse_choices(**text, path) : ChoiceMemory();
  if (memory) { return *std::move(memory); }
  if (notice) { notice(fmt::format("memory of choices ignored: {}", memory.error().message)); }
  return {};
}

Status remember_choices(const std::string& path, const NewChoices& more, const NoticeSink& notice) {
  const StoredDocument document = memory_at(path);
  make_private_folders(std::filesystem::path(document.path).parent_path());
  const auto merged = [&](const std::string& text) -> Result<std::string> {
    Result<ChoiceMemory> memory = text.empty() ? ChoiceMemory() : parse_choices(text, document.path);
    if (!memory) { return memory.error(); }
    for (const ChoiceKey& key : more.disagreed) { memory->forget(key); }
    for (const RememberedChoice& choice : more.kept) { memory->put(choice); }
    memory->drop_old();
    return to_json(*memory);
  };
  return rewrite_stored(document, merged, notice);
}

}  // namespace elbowroom::detail
