#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "page/reading.hpp"
#include "report/schemas.hpp"

namespace elbowroom::page {
namespace {

Times step_of(Members& members) {
  Times times{"Where a step's time goes", "us", {}, {}, ""};
  Timed step;
  step.label = "step";
  read_interval(members, "step_us", step);
  if (!step.median.is_null()) { times.rows.push_back(std::move(step)); }
  for (const auto& [name, label] : {std::pair("compute_us", "computation"),
                                    {"communication_us", "communication"},
                                    {"exposed_us", "exposed communication"},
                                    {"blocking_us", "blocking communication"},
                                    {"copies_us", "copies alone"},
                                    {"idle_us", "idle"},
                                    {"host_not_launched_us", "idle, host had not launched"},
                                    {"waiting_known_us", "idle, known producer"},
                                    {"waiting_unknown_us", "idle, producer unknown"}}) {
    Timed part;
    part.label = label;
    part.median = members.exact(name);
    if (!part.median.is_null()) { times.rows.push_back(std::move(part)); }
  }
  for (const auto& [name, label] : {std::pair("critical_path_us", "critical path"), {"hardware_limit_us", "hardware limit"}}) {
    if (Value value = members.exact(name); !value.is_null()) { times.references.push_back({label, std::move(value)}); }
  }
  return times;
}

/// The entries of a list: a column is the member that it names, text where `texts` says so and a number elsewhere.
Table entries_of(Members& members, const char* list, std::string title, std::vector<Column> columns,
                 std::initializer_list<std::string_view> texts) {
  Table table{std::move(title), std::move(columns), {}, {}};
  members.each(list, [&](Members one) {
    std::vector<Value>& row = table.rows.emplace_back();
    for (const Column& column : table.columns) {
      const char* const name = column.tag.c_str();
      if (std::ranges::find(texts, column.tag) != texts.end()) {
        row.emplace_back(one.text(name));
      } else {
        row.emplace_back(one.exact(name));
      }
    }
  });
  return table;
}

Table exposures_of(Members& members) {
  return entries_of(members, "exposures", "Exposed communication and its causes",
                    {{"collective", "", "collective", ""},
                     {"bytes", "B", "bytes", ""},
                     {"exposed", "us", "us", ""},
                     {"cause", "", "cause", ""},
                     {"count", "", "count", ""}},
                    {"collective", "cause"});
}

Table causes_of(Members& members) {
  Table table{"What shows the causes",
              {{"cause", "", "cause", ""},
               {"a step", "us", "us", ""},
               {"count", "", "count", ""},
               {"collective", "", "evidence.collective", "whose exposure is the longest"},
               {"rank", "", "evidence.rank", ""},
               {"evidence", "", "evidence.words", ""}},
              {},
              {}};
  members.each("causes", [&](Members cause) {
    const std::string name = cause.text("cause");
    const Value us = cause.exact("us");
    const Value count = cause.exact("count");
    bool first = true;  // the others are shorter
    cause.each("evidence", [&](Members one) {
      if (first) { table.rows.push_back({name, us, count, one.text("collective"), one.text("rank"), one.text("words")}); }
      first = false;
    });
  });
  return table;
}

Table met_collectives_of(Members& members) {
  return entries_of(members, "collectives", "Collectives, medians",
                    {{"collective", "", "collective", ""},
                     {"bytes", "B", "bytes", ""},
                     {"duration", "us", "us", ""},
                     {"transfer", "us", "transfer_us", "of the participant that came last"},
                     {"waiting", "us", "waiting_us", "of the others for it"}},
                    {"collective"});
}

Table stragglers_of(Members& members) {
  return entries_of(members, "stragglers", "Who comes last",
                    {{"rank", "", "rank", ""},
                     {"last", "", "last", "how often"},
                     {"of", "", "of", "collectives with others"},
                     {"waited", "us", "waited_us", "for it, by the others, in the median"},
                     {"waited a step", "us", "waited_sum_us", ""}},
                    {"rank"});
}

Table ranks_of(Members& members) {
  return entries_of(members, "ranks", "Ranks",
                    {{"rank", "", "rank", ""},
                     {"step", "us", "step_us", "mean"},
                     {"computation", "us", "compute_us", ""},
                     {"exposed", "us", "exposed_us", ""},
                     {"idle", "us", "idle_us", ""}},
                    {"rank"});
}

Table inflation_of(Members& members) {
  return entries_of(members, "inflation", "How much longer kernels take beside communication",
                    {{"class", "", "class", ""}, {"more", "us", "us", ""}}, {"class"});
}

/// What each change would make of the step; what is refused goes to a table.
void add_changes(Members& members, Section& section) {
  Times times{"What each change would make of a step", "us", {}, {}, ""};
  Table refused{"Changes that cannot act", {{"change", "", "change", ""}, {"reason", "", "refused", ""}}, {}, {}};
  members.each("what_if", [&](Members one) {
    Timed timed;
    timed.label = one.text("change");
    if (one.has("refused")) {
      refused.rows.push_back({timed.label, one.text("refused")});
      return;
    }
    timed.median = one.exact("step_us");
    timed.low = one.exact("low");
    timed.high = one.exact("high");
    timed.provenance = text_if_any(one, "provenance");
    times.rows.push_back(std::move(timed));
  });
  if (!times.rows.empty()) { section.views.emplace_back(std::move(times)); }
  if (!refused.rows.empty()) { section.views.emplace_back(std::move(refused)); }
}

}  // namespace

Result<Document> read_explain(std::string_view text, const std::string& source) {
  return read_members(text, source, kExplainSchema, [](Members& members, Document& document) {
    document.provenance = "read from a trace";
    for (const char* name : {"sentence", "source", "device"}) { add_fact(document, name, text_or_none(members, name)); }
    for (const char* name : {"steps", "replay_error"}) { add_fact(document, name, members.exact(name)); }
    members.need("step_us", "an object");
    Section section{"A step", std::nullopt, {}};
    section.views.emplace_back(step_of(members));
    add_changes(members, section);
    for (Table table : {exposures_of(members), causes_of(members), met_collectives_of(members), ranks_of(members),
                        stragglers_of(members), inflation_of(members)}) {
      if (!table.rows.empty()) { section.views.emplace_back(std::move(table)); }
    }
    document.sections.push_back(std::move(section));
  });
}

}  // namespace elbowroom::page
