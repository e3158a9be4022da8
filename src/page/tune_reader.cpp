#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "page/energy_view.hpp"
#include "page/reading.hpp"
#include "report/schedule_words.hpp"
#include "report/schemas.hpp"

namespace elbowroom::page {
namespace {

using detail::schedule_words;

std::string joined(const std::vector<std::string>& words) {
  std::string all;
  for (const std::string& word : words) { all += (all.empty() ? "" : ", ") + word; }
  return all;
}

struct Chosen {
  std::string scheme;
  OverlapPlan plan;
};

Tried tried_of(Members candidate, const Chosen& chosen) {
  Tried tried;
  candidate.need("scheme", "a text");
  const std::string scheme = candidate.text("scheme");
  const OverlapPlan plan = read_plan(candidate);
  tried.label = schedule_words(scheme, plan);
  tried.how = text_or_none(candidate, "reason");
  tried.dropped = text_if_any(candidate, "dropped");
  tried.predicted = candidate.exact("predicted_us");
  tried.trials = candidate.exact("trials");
  Timed time;
  read_interval(candidate, "time_us", time);
  tried.median = time.median;
  tried.low = time.low;
  tried.high = time.high;
  tried.chosen = scheme == chosen.scheme && plan == chosen.plan;
  return tried;
}

Figures chosen_figures(Members& members, const Chosen& chosen) {
  Figures all{"Chosen", {}};
  const auto add = [&](const std::string& name, Value value, const char* unit, const std::string& tag) {
    const bool says = !value.is_null() && value != Value("");
    if (says) { all.figures.push_back({name, std::move(value), unit, tag}); }
  };
  add("plan", schedule_words(chosen.scheme, chosen.plan), "", "plan");
  for (const auto& [tag, name] : {std::pair("objective", "least"),
                                  {"acts_on", "acts on a part"},
                                  {"reason", "because"},
                                  {"limited_by", "limited by"},
                                  {"baseline", "best baseline"},
                                  {"ending", "ended"}}) {
    add(name, text_or_none(members, tag), "", tag);
  }
  for (const auto& [tag, name] : {std::pair("time_us", "time"),
                                  {"baseline_time_us", "time of the best baseline"},
                                  {"sequential_us", "one after the other"},
                                  {"critical_path_us", "critical path"},
                                  {"hardware_limit_us", "hardware limit"},
                                  {"compute_alone_us", "compute alone"},
                                  {"comm_alone_us", "communication alone"}}) {
    add(name, members.exact(tag), "us", tag);
  }
  add("share of what the critical path saves", members.exact("overlap_efficiency"), "share", "overlap_efficiency");
  Timed ratio;
  read_interval(members, "ratio", ratio);
  add("ratio to the best baseline", ratio.median, "", "ratio.median");
  add("ratio, low", ratio.low, "", "ratio.low");
  add("ratio, high", ratio.high, "", "ratio.high");
  add("rounds", members.exact("rounds"), "", "rounds");
  add("trials of the search", members.exact("trials"), "", "trials");
  add("search", members.exact("spent_s"), "s", "spent_s");
  return all;
}

/// What was timed afresh when the search had ended, run by run.
Times afresh_of(Members& members, EnergyView& energy) {
  Times times{"Timed afresh, each run", "us", {}, {}, "chosen"};
  members.each("afresh", [&](Members schedule) {
    Timed timed;
    timed.label = schedule.text("schedule");
    const OverlapPlan plan = read_plan(schedule);
    if (plan != OverlapPlan{}) { timed.detail = in_words(plan); }
    energy.add(schedule, timed.label, timed.detail);
    for (const nlohmann::json& time : schedule.exact_numbers("times_us")) { timed.times.emplace_back(time); }
    times.rows.push_back(std::move(timed));
  });
  return times;
}

std::vector<Reference> references_of(Members& members) {
  std::vector<Reference> references;
  for (const auto& [name, label] : {std::pair("critical_path_us", "critical path"),
                                    {"hardware_limit_us", "hardware limit"},
                                    {"baseline_time_us", "best baseline"}}) {
    if (Value value = members.exact(name); !value.is_null()) { references.push_back({label, std::move(value)}); }
  }
  return references;
}

Table candidates_table(const Search& search) {
  Table table{"Every candidate",
              {{"candidate", "", "plan", "what it sets"},
               {"how", "", "reason", "why it was tried"},
               {"predicted", "us", "predicted_us", "by the simulator, before it was measured"},
               {"time", "us", "time_us.median", "median of its trials"},
               {"low", "us", "time_us.low", ""},
               {"high", "us", "time_us.high", ""},
               {"trials", "", "trials", ""},
               {"dropped", "", "dropped", "why it was not tried on"}},
              {},
              {}};
  for (const Tried& tried : search.tried) {
    if (tried.chosen) { table.marked = table.rows.size(); }
    table.rows.push_back(
        {tried.label, tried.how, tried.predicted, tried.median, tried.low, tried.high, tried.trials, tried.dropped.value_or("")});
  }
  return table;
}

/// What was chosen for each case, for documents of several.
class ChosenOverview {
 public:
  void add(const std::string& name, const Chosen& chosen, Members& members) {
    Timed ratio;
    ratio.label = name;
    const std::string plan = schedule_words(chosen.scheme, chosen.plan);
    ratio.detail = plan;
    read_interval(members, "ratio", ratio);
    table_.rows.push_back({name, plan, members.exact("time_us"), text_or_none(members, "baseline"),
                           members.exact("baseline_time_us"), ratio.median, ratio.low, ratio.high,
                           members.exact("overlap_efficiency")});
    if (!ratio.median.is_null()) { ratios_.rows.push_back(std::move(ratio)); }
  }

  [[nodiscard]] std::optional<Section> section() && {
    if (table_.rows.size() < 2) { return std::nullopt; }
    Section section{"All cases", std::nullopt, {}};
    if (!ratios_.rows.empty()) { section.views.emplace_back(std::move(ratios_)); }
    section.views.emplace_back(std::move(table_));
    return section;
  }

 private:
  Times ratios_{"Time of the chosen plan over that of the best baseline", "", {}, {}, ""};
  Table table_{"What was chosen",
               {{"case", "", "scenario.name", ""},
                {"plan", "", "plan", ""},
                {"time", "us", "time_us", ""},
                {"baseline", "", "baseline", "the best"},
                {"its time", "us", "baseline_time_us", ""},
                {"ratio", "", "ratio.median", "time / the best baseline's"},
                {"low", "", "ratio.low", ""},
                {"high", "", "ratio.high", ""},
                {"crit. path", "share", "overlap_efficiency", "share reached of what the critical path saves"}},
               {},
               {}};
};

Section section_of(Members members, ChosenOverview& overview) {
  Section section;
  read_case(members, section);
  members.need("scheme", "a text");
  members.need("candidates", "an array");
  const Chosen chosen{members.text("scheme"), read_plan(members)};
  overview.add(section.title, chosen, members);
  Search search{"The search: what was tried, in its order", "us", {}, references_of(members)};
  members.each("candidates", [&](Members candidate) { search.tried.push_back(tried_of(std::move(candidate), chosen)); });
  EnergyView energy;
  Times afresh = afresh_of(members, energy);
  afresh.references = search.references;
  Table candidates = candidates_table(search);
  section.views.emplace_back(std::move(search));
  if (!afresh.rows.empty()) { section.views.emplace_back(std::move(afresh)); }
  std::move(energy).add_to(section, members);
  section.views.emplace_back(chosen_figures(members, chosen));
  section.views.emplace_back(std::move(candidates));
  return section;
}

}  // namespace

Result<Document> read_tune(std::string_view text, const std::string& source) {
  return read_members(text, source, kTuneSchema, [](Members& members, Document& document) {
    read_origin(members, document);
    add_fact(document, "without", joined(members.texts("without")));
    members.need("cases", "an array");
    ChosenOverview overview;
    members.each("cases", [&](Members one) { document.sections.push_back(section_of(std::move(one), overview)); });
    if (std::optional<Section> all = std::move(overview).section()) {
      document.sections.insert(document.sections.begin(), *std::move(all));
    }
  });
}

}  // namespace elbowroom::page
