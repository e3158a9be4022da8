#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "elbowroom/tune/tuner.hpp"
#include "model/json_document.hpp"
#include "model/json_fields.hpp"
#include "plan/candidate_json.hpp"
#include "plan/overlap_plan_json.hpp"

namespace elbowroom {
namespace {

using OrderedJson = nlohmann::ordered_json;
using detail::JsonFields;

constexpr std::int64_t kMost = 1'000'000;
constexpr std::size_t kMostCandidates = 10'000;

OrderedJson state_json(const MeasuredCandidate& measured) {
  OrderedJson json = detail::candidate_json(measured.candidate);
  json["times_us"] = OrderedJson::array();
  for (const Microseconds time : measured.times) { json["times_us"].push_back(time.count()); }
  json["dropped"] = measured.dropped.value_or("");
  return json;
}

/// Not negative and finite; otherwise a failure of `fields`.
double number_of(JsonFields& fields, const char* name, const nlohmann::json* value) {
  const bool good = value != nullptr && value->is_number() && std::isfinite(value->get<double>()) && value->get<double>() >= 0;
  if (!good) { fields.reject(name, value == nullptr ? "missing" : detail::shown(*value), "a number of at least 0"); }
  return good ? value->get<double>() : 0;
}

std::vector<double> numbers_of(JsonFields& fields, const char* name) {
  std::vector<double> numbers;
  const nlohmann::json* array = fields.member(name);
  if (array == nullptr || !array->is_array()) {
    fields.reject(name, array == nullptr ? "missing" : detail::shown(*array), "a list of numbers");
    return numbers;
  }
  for (const nlohmann::json& value : *array) { numbers.push_back(number_of(fields, name, &value)); }
  return numbers;
}

/// A text that may be empty.
std::string words_of(JsonFields& fields, const char* name) {
  const nlohmann::json* value = fields.member(name);
  if (value != nullptr && value->is_string()) { return value->get<std::string>(); }
  fields.reject(name, value == nullptr ? "missing" : detail::shown(*value), "a text");
  return {};
}

std::vector<std::size_t> positions_of(JsonFields& fields, const char* name, std::size_t below) {
  std::vector<std::size_t> positions;
  for (const double number : numbers_of(fields, name)) {
    const bool good = number < static_cast<double>(below) && number == std::floor(number);
    if (!good) { fields.reject(name, fmt::format("{}", number), fmt::format("whole numbers below {}", below)); }
    positions.push_back(good ? static_cast<std::size_t>(number) : 0);
  }
  return positions;
}

Result<MeasuredCandidate> read_candidate(const nlohmann::json& object, const std::string& path, const std::string& source) {
  if (!object.is_object()) {
    return invalid_input(fmt::format("{}: {}: {}, expected an object", source, path, detail::shown(object)));
  }
  JsonFields fields(object, path + ".", source);
  MeasuredCandidate measured;
  const auto scheme = [](const std::string& name) {
    const Result<Scheme> parsed = parse_scheme(name);
    return parsed ? std::optional(*parsed) : std::nullopt;
  };
  measured.candidate.scheme = fields.word<Scheme>("scheme", scheme, "a scheme", Scheme::tuned);
  const auto reason = [](const std::string& words) { return parse_reason(words); };
  measured.candidate.reason = fields.word<Reason>("reason", reason, "a way to make room", {});
  if (const nlohmann::json* predicted = fields.member("predicted_us"); predicted != nullptr && !predicted->is_null()) {
    measured.candidate.predicted = Microseconds(number_of(fields, "predicted_us", predicted));
  }
  for (const double time : numbers_of(fields, "times_us")) { measured.times.emplace_back(time); }
  if (std::string why = words_of(fields, "dropped"); !why.empty()) { measured.dropped = std::move(why); }
  const nlohmann::json* plan = fields.member("plan");
  if (plan == nullptr) { fields.reject("plan", "missing", "an object"); }
  if (Status read = fields.finish(); !read) { return read.error(); }
  Result<OverlapPlan> read = detail::read_plan(*plan, path + ".plan", source);
  if (!read) { return read.error(); }
  measured.candidate.plan = *read;
  return measured;
}

}  // namespace

std::string Tuner::state(std::string_view subject) const {
  OrderedJson json = OrderedJson::object();
  json["schema"] = kTuningSchema;
  json["subject"] = subject;
  json["seed"] = options_.seed;
  json["spent_s"] = spent_.count();
  json["trials"] = trials_;
  json["rounds"] = rounds_;
  json["rounds_left"] = rounds_left_;
  json["wave"] = wave_;
  json["queue"] = queue_;
  json["candidates"] = OrderedJson::array();
  for (const MeasuredCandidate& measured : candidates_) { json["candidates"].push_back(state_json(measured)); }
  return json.dump(1, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

Result<Tuner> Tuner::resume(TunerOptions options, Neighbours neighbours, std::string_view state, std::string_view subject,
                            const std::string& source) {
  const Result<nlohmann::json> document = detail::read_json_object(state, source, "an elbowroom.tuning/1 document");
  if (!document) { return document.error(); }
  JsonFields fields(*document, "", source);
  Tuner tuner(options, std::move(neighbours));
  const auto is = [](std::string_view wanted) {
    return [wanted](const std::string& text) { return text == wanted ? std::optional(true) : std::nullopt; };
  };
  fields.word<bool>("schema", is(kTuningSchema), std::string(kTuningSchema), false);
  fields.word<bool>("subject", is(subject), "the case that is being tuned", false);
  if (fields.member("seed") == nullptr || *fields.member("seed") != options.seed) {
    fields.reject("seed", "another", fmt::format("{}", options.seed));
  }
  tuner.spent_ = Seconds(number_of(fields, "spent_s", fields.member("spent_s")));
  tuner.trials_ = static_cast<int>(fields.integer("trials", 0, kMost));
  tuner.rounds_ = static_cast<std::uint64_t>(fields.integer("rounds", 0, kMost));
  tuner.rounds_left_ = static_cast<int>(fields.integer("rounds_left", 0, kMost));
  const nlohmann::json* listed = fields.member("candidates");
  const bool list = listed != nullptr && listed->is_array() && !listed->empty() && listed->size() <= kMostCandidates;
  if (!list) { fields.reject("candidates", "no list", fmt::format("a list of 1 to {}", kMostCandidates)); }
  const std::size_t count = list ? listed->size() : 0;
  tuner.wave_ = positions_of(fields, "wave", count);
  tuner.queue_ = positions_of(fields, "queue", count);
  if (list && tuner.queue_.empty()) { fields.reject("queue", "[]", "the candidates of a round that is not over"); }
  if (Status read = fields.finish(); !read) { return read.error(); }
  for (std::size_t at = 0; at < count; ++at) {
    Result<MeasuredCandidate> read = read_candidate((*listed)[at], fmt::format("candidates[{}]", at), source);
    if (!read) { return read.error(); }
    tuner.candidates_.push_back(std::move(*read));
  }
  return tuner;
}

}  // namespace elbowroom
