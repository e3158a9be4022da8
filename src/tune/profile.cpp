#include "elbowroom/tune/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "model/json_document.hpp"
#include "model/json_fields.hpp"
#include "model/scenario_words.hpp"
#include "plan/overlap_plan_json.hpp"
#include "tune/json_rows.hpp"

namespace elbowroom {
namespace {

using OrderedJson = nlohmann::ordered_json;
using detail::JsonFields;
using detail::kGreatestTime;
using detail::line_of;
using detail::lines_of;
using detail::list_of;
using detail::read_each;

constexpr std::string_view kDocument = "an elbowroom.profile/1 document";

OrderedJson key_json(const ProfileKey& key) {
  OrderedJson json = OrderedJson::object();
  json["provenance"] = to_string(key.surroundings.provenance);
  json["device"] = key.surroundings.device;
  json["driver"] = key.surroundings.driver.value_or("");
  json["comm_library"] = key.surroundings.comm_library ? in_words(*key.surroundings.comm_library) : "";
  json["ranks"] = key.ranks;
  if (const auto* step = std::get_if<StepKey>(&key.what)) {
    json["step"] = in_words(*step);
    return json;
  }
  const auto& pair = std::get<PairKey>(key.what);
  json["pattern"] = to_string(pair.pattern);
  json["compute"] = in_words(pair.compute);
  json["compute_class"] = in_words(pair.compute_class);
  json["collective"] = in_words(pair.collective);
  json["collective_class"] = in_words(pair.collective_class);
  return json;
}

OrderedJson choice_json(const StoredChoice& choice) {
  OrderedJson json = OrderedJson::object();
  json["key"] = key_json(choice.key);
  json["scheme"] = to_string(choice.scheme);
  json["plan"] = detail::plan_json(choice.plan);
  json["reason"] = choice.reason;
  json["time_us"] = choice.time.count();
  json["baseline"] = to_string(choice.baseline);
  json["baseline_time_us"] = choice.baseline_time.count();
  json["trials"] = choice.trials;
  if (choice.made_for) {
    json["made_for"] = {{"iterations", choice.made_for->iterations},
                        {"compute", choice.made_for->compute},
                        {"collective_bytes", choice.made_for->collective.count()}};
  }
  json["stored_at"] = choice.stored_at;
  return json;
}

Microseconds time_of(JsonFields& fields, const char* name) {
  const nlohmann::json* value = fields.member(name);
  const double number = value != nullptr && value->is_number() ? value->get<double>() : -1;
  if (number >= 0 && number <= static_cast<double>(kGreatestTime)) { return Microseconds(number); }
  fields.reject(name, value == nullptr ? "missing" : detail::shown(*value), "a number of microseconds of at least 0");
  return Microseconds(0);
}

Scheme scheme_of(JsonFields& fields, const char* name) {
  const auto parse = [](const std::string& text) {
    const Result<Scheme> scheme = parse_scheme(text);
    return scheme ? std::optional(*scheme) : std::nullopt;
  };
  return fields.word<Scheme>(name, parse, "a scheme", Scheme::concurrent);
}

/// One line, of which an empty one names nothing.
std::optional<std::string> name_of(JsonFields& fields, const char* member) {
  std::string line = line_of(fields, member);
  return line.empty() ? std::nullopt : std::optional(std::move(line));
}

PairKey read_pair(JsonFields& fields) {
  PairKey pair;
  pair.pattern = fields.word<Pattern>("pattern", detail::word_of(detail::kPatterns), "\"pipeline\" or \"pair\"", Pattern::pipeline);
  pair.compute =
      fields.word<KernelKey>("compute", parse_kernel, R"(a block as "256x32 0+0 1" or a kernel as "library_gemm bf16")", {});
  pair.compute_class =
      fields.word<ComputeClass>("compute_class", parse_compute_class, R"("2^40 flop", "2^38 flop 2^12 blocks" or "2^32 B")", {});
  pair.collective =
      fields.word<CollectiveKey>("collective", parse_collective, R"(a collective as "all_reduce bf16 8 blocks cluster 1")", {});
  pair.collective_class = fields.word<ByteClass>("collective_class", parse_byte_class, R"("2^29 B")", {});
  return pair;
}

Result<ProfileKey> read_key(const nlohmann::json& object, const std::string& path, const std::string& source) {
  JsonFields fields(object, path + ".", source);
  const auto provenance = [](const std::string& text) -> std::optional<Provenance> {
    for (const Provenance known : {Provenance::measured, Provenance::simulated}) {
      if (text == to_string(known)) { return known; }
    }
    return std::nullopt;
  };
  ProfileKey key;
  key.surroundings.provenance = fields.word<Provenance>("provenance", provenance, "measured or simulated", Provenance::simulated);
  key.surroundings.device = line_of(fields, "device");
  key.surroundings.driver = name_of(fields, "driver");
  if (const auto library = name_of(fields, "comm_library")) { key.surroundings.comm_library = parse_comm_library(*library); }
  key.ranks = static_cast<int>(fields.integer("ranks", 1, 1'000'000));
  if (fields.member("step") != nullptr) {
    key.what = fields.word<StepKey>("step", parse_step_key, "16 hexadecimal digits, not all 0", {});
  } else {
    key.what = read_pair(fields);
  }
  if (Status read = fields.finish(); !read) { return read.error(); }
  return key;
}

Result<CaseSize> read_size(const nlohmann::json& object, const std::string& path, const std::string& source) {
  JsonFields fields(object, path + ".", source);
  CaseSize size;
  size.iterations = static_cast<int>(fields.integer("iterations", 1, 1'000'000));
  size.collective = Bytes(fields.integer("collective_bytes", 1, std::int64_t{1} << 50));
  const nlohmann::json* compute = fields.member("compute");
  size.compute = compute != nullptr && compute->is_number() ? compute->get<double>() : 0;
  if (!(size.compute > 0 && std::isfinite(size.compute))) {
    fields.reject("compute", compute == nullptr ? "missing" : detail::shown(*compute), "a number of flop or bytes above 0");
  }
  if (Status read = fields.finish(); !read) { return read.error(); }
  return size;
}

Result<StoredChoice> read_choice(const nlohmann::json& object, const std::string& path, const std::string& source) {
  JsonFields fields(object, path + ".", source);
  StoredChoice choice;
  choice.scheme = scheme_of(fields, "scheme");
  choice.reason = line_of(fields, "reason");
  choice.time = time_of(fields, "time_us");
  choice.baseline = scheme_of(fields, "baseline");
  choice.baseline_time = time_of(fields, "baseline_time_us");
  choice.trials = static_cast<int>(fields.integer("trials", 0, 1'000'000'000));
  choice.stored_at = fields.integer("stored_at", 0, kGreatestTime);
  const nlohmann::json* key = fields.member("key");
  if (key == nullptr || !key->is_object()) { fields.reject("key", key == nullptr ? "missing" : detail::shown(*key), "an object"); }
  const nlohmann::json* plan = fields.member("plan");
  const nlohmann::json* size = fields.member("made_for");
  if (size != nullptr && !size->is_object()) { fields.reject("made_for", detail::shown(*size), "an object"); }
  if (plan == nullptr || !plan->is_object()) {
    fields.reject("plan", plan == nullptr ? "missing" : detail::shown(*plan), "an object");
  }
  if (Status read = fields.finish(); !read) { return read.error(); }
  Result<ProfileKey> read = read_key(*key, path + ".key", source);
  if (!read) { return read.error(); }
  choice.key = std::move(*read);
  const Result<OverlapPlan> read_plan = detail::read_plan(*plan, path + ".plan", source);
  if (!read_plan) { return read_plan.error(); }
  choice.plan = *read_plan;
  if (size == nullptr) { return choice; }
  const Result<CaseSize> made_for = read_size(*size, path + ".made_for", source);
  if (!made_for) { return made_for.error(); }
  choice.made_for = *made_for;
  return choice;
}

}  // namespace

void Profile::put(StoredChoice choice) {
  const auto [known, is_new] = positions_.try_emplace(choice.key, choices_.size());
  if (is_new) {
    choices_.push_back(std::move(choice));
  } else if (StoredChoice& older = choices_[known->second]; older.stored_at <= choice.stored_at) {
    older = std::move(choice);
  }
}

const StoredChoice* Profile::find(const ProfileKey& key) const {
  const auto known = positions_.find(key);
  return known == positions_.end() ? nullptr : &choices_[known->second];
}

Result<Profile> parse_profile(std::string_view json, std::string_view source) {
  const std::string file(source);
  const Result<nlohmann::json> document = detail::read_json_object(json, file, kDocument);
  if (!document) { return document.error(); }
  JsonFields fields(*document, "", file);
  const auto is_ours = [](const std::string& text) { return text == kProfileSchema ? std::optional(true) : std::nullopt; };
  fields.word<bool>("schema", is_ours, fmt::format("\"{}\"", kProfileSchema), false);
  const nlohmann::json& choices = list_of(fields, "choices", detail::Presence::required);
  list_of(fields, "durations", detail::Presence::optional);  // of launches, in profiles of older versions
  if (Status read = fields.finish(); !read) { return read.error(); }
  Profile profile;
  const auto put = [&profile](StoredChoice choice) { profile.put(std::move(choice)); };
  if (Status read = read_each(choices, "choices", file, read_choice, put); !read) { return read.error(); }
  return profile;
}

std::string to_json(const Profile& profile) {
  return fmt::format("{{\"schema\": \"{}\",\n \"choices\": [{}]}}\n", kProfileSchema, lines_of(profile.choices(), choice_json));
}

}  // namespace elbowroom
