#include "explain/document.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>

#include "explain/causes.hpp"
#include "report/json_values.hpp"
#include "report/schemas.hpp"

namespace elbowroom::explain {
namespace {

using detail::number;
using detail::OrderedJson;

OrderedJson bytes_json(const std::optional<std::int64_t>& bytes) { return bytes ? OrderedJson(*bytes) : OrderedJson(); }

/// The parts of a step as members of `json`.
void add_parts(OrderedJson& json, const Parts& parts) {
  json["compute_us"] = number(parts.compute);
  json["communication_us"] = number(parts.communication);
  json["exposed_us"] = number(parts.exposed);
  json["blocking_us"] = number(parts.blocking);
  json["copies_us"] = number(parts.copies);
  json["idle_us"] = number(parts.idle());
  json["host_not_launched_us"] = number(parts.host_not_launched);
  json["waiting_known_us"] = number(parts.waiting_known);
  json["waiting_unknown_us"] = number(parts.waiting_unknown);
  json["rest_us"] = number(parts.rest());
}

OrderedJson rank_json(const RankSummary& rank) {
  OrderedJson json{
      {"rank", rank.rank}, {"file", rank.file}, {"steps", rank.steps}, {"dropped_steps", rank.dropped}, {"anchor", rank.anchor}};
  json["step_us"] = number(rank.parts.step);
  add_parts(json, rank.parts);
  json["collectives"] = rank.collectives;
  json["matched"] = rank.matched;
  json["lost"] = rank.lost;
  return json;
}

OrderedJson ranks_json(const Explanation& explanation) {
  OrderedJson array = OrderedJson::array();
  for (const RankSummary& rank : explanation.ranks) { array.push_back(rank_json(rank)); }
  return array;
}

OrderedJson exposures_json(const Explanation& explanation) {
  OrderedJson array = OrderedJson::array();
  for (const Cost& cost : explanation.costs) {
    array.push_back({{"collective", cost.collective},
                     {"bytes", bytes_json(cost.bytes)},
                     {"us", number(cost.us)},
                     {"cause", to_string(cost.cause)},
                     {"count", cost.count}});
  }
  return array;
}

OrderedJson causes_json(const Explanation& explanation) {
  OrderedJson array = OrderedJson::array();
  for (const CauseSum& sum : causes_of(explanation)) {
    OrderedJson evidence = OrderedJson::array();
    for (const Cost* cost : sum.costs) {
      evidence.push_back(
          {{"collective", cost->collective}, {"bytes", bytes_json(cost->bytes)}, {"rank", cost->rank}, {"words", cost->evidence}});
    }
    array.push_back({{"cause", to_string(sum.cause)},
                     {"us", number(sum.us)},
                     {"count", sum.count},
                     {"words", in_words(sum.cause)},
                     {"evidence", std::move(evidence)}});
  }
  return array;
}

OrderedJson collectives_json(const Explanation& explanation) {
  OrderedJson array = OrderedJson::array();
  for (const CollectiveKind& kind : explanation.kinds) {
    array.push_back({{"collective", kind.op},
                     {"bytes", bytes_json(kind.bytes)},
                     {"count", kind.count},
                     {"us", number(kind.us)},
                     {"transfer_us", number(kind.transfer_us)},
                     {"waiting_us", number(kind.waiting_us)},
                     {"imbalance", number(kind.imbalance)}});
  }
  return array;
}

OrderedJson stragglers_json(const Explanation& explanation) {
  OrderedJson array = OrderedJson::array();
  for (const Straggler& one : explanation.stragglers) {
    array.push_back({{"rank", one.rank},
                     {"last", one.last},
                     {"of", one.of},
                     {"waited_us", number(one.waited_us)},
                     {"waited_sum_us", number(one.waited_sum_us)}});
  }
  return array;
}

OrderedJson inflation_json(const Explanation& explanation) {
  OrderedJson array = OrderedJson::array();
  for (const ClassInflation& one : explanation.inflation) {
    array.push_back({{"class", one.kernels},
                     {"us", number(one.us)},
                     {"ratio", number(one.ratio)},
                     {"runs", one.runs},
                     {"unknown", one.unknown}});
  }
  return array;
}

OrderedJson what_if_json(const Explanation& explanation) {
  OrderedJson array = OrderedJson::array();
  for (const WhatIf& one : explanation.what_if.changes) {
    OrderedJson json{{"change", one.change}, {"words", one.words}};
    if (one.refused.empty()) {
      json["step_us"] = number(one.step.median.count());
      json["low"] = number(one.step.low.count());
      json["high"] = number(one.step.high.count());
      json["provenance"] = "simulated";
      json["ceiling"] = one.ceiling;
      if (!one.how.empty()) { json["how"] = one.how; }
    } else {
      json["refused"] = one.refused;
    }
    array.push_back(std::move(json));
  }
  return array;
}

}  // namespace

std::string to_json(const Explanation& explanation) {
  OrderedJson json;
  json["schema"] = kExplainSchema;
  json["source"] = "kineto";
  json["device"] = explanation.device;
  json["ranks"] = ranks_json(explanation);
  json["steps"] = explanation.steps;
  json["sentence"] = sentence(explanation);
  const RankInterval& step = explanation.step;
  json["step_us"] = {{"median", number(step.median.count())},
                     {"low", number(step.low.count())},
                     {"high", number(step.high.count())},
                     {"mean", number(explanation.parts.step)}};
  json["critical_path_us"] = nullptr;
  json["hardware_limit_us"] = nullptr;
  add_parts(json, explanation.parts);
  json["replay_error"] = number(explanation.what_if.replay_error);
  json["inflation"] = inflation_json(explanation);
  json["exposures"] = exposures_json(explanation);
  json["causes"] = causes_json(explanation);
  json["collectives"] = collectives_json(explanation);
  json["stragglers"] = stragglers_json(explanation);
  json["what_if"] = what_if_json(explanation);
  return detail::dump(json, 1) + "\n";
}

std::vector<std::string> losses(const Explanation& explanation) {
  std::vector<std::string> lines;
  for (const RankSummary& rank : explanation.ranks) {
    for (const std::string& lost : rank.lost) { lines.push_back(rank.file + ": " + lost); }
  }
  return lines;
}

}  // namespace elbowroom::explain
