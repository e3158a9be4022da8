#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "page/reading.hpp"
#include "report/schedule_words.hpp"
#include "report/schemas.hpp"

namespace elbowroom::page {
namespace {

// More would be no picture: the page draws a column for each profile.
constexpr std::size_t kMostProfiles = 64;

/// One schedule of a case: a baseline or what a profile offers.
struct Offered {
  std::string from;
  std::string plan;
  std::string differs;
  std::string refused;
  Timed time;
  Timed ratio;
  Value regret;
  bool baseline = false;
};

Offered read_offered(Members& members, const char* name, bool baseline) {
  Offered row;
  row.baseline = baseline;
  members.need(name, "a text");
  row.from = members.text(name);
  row.differs = fmt::format("{}", fmt::join(members.texts("differs"), "; "));
  row.refused = text_or_none(members, "refused");
  if (!row.refused.empty()) { return row; }
  members.need("scheme", "a text");
  row.plan = detail::schedule_words(members.text("scheme"), read_plan(members));
  read_interval(members, "time_us", row.time);
  read_interval(members, "ratio", row.ratio);
  row.regret = members.exact("regret");
  row.ratio.label = row.from;
  row.ratio.detail = row.plan;
  return row;
}

Table offered_table(const std::vector<Offered>& rows, const std::string& best) {
  Table table{"Every schedule",
              {{"from", "", "transferred.profile", "a baseline, or the profile that offers it"},
               {"plan", "", "plan", "what it sets here"},
               {"made for", "", "differs", "how the case that it was chosen in is another one"},
               {"time", "us", "time_us.median", "median"},
               {"low", "us", "time_us.low", ""},
               {"high", "us", "time_us.high", ""},
               {"ratio", "", "ratio.median", "to the best of the case, in the same rounds"},
               {"low", "", "ratio.low", ""},
               {"high", "", "ratio.high", ""},
               {"regret", "share", "regret", "what it takes more than the best"},
               {"refused", "", "refused", "why it cannot act"}},
              {},
              {}};
  for (const Offered& row : rows) {
    if (row.from == best && !table.marked) { table.marked = table.rows.size(); }
    table.rows.push_back({row.from, row.plan, row.differs, row.time.median, row.time.low, row.time.high, row.ratio.median,
                          row.ratio.low, row.ratio.high, row.regret, row.refused});
  }
  return table;
}

/// What each profile's choice costs in each case, for a picture of all of them.
class Regrets {
 public:
  void add(const std::string& name, const std::vector<Offered>& rows) {
    names_.push_back(name);
    std::vector<Value>& line = cells_.emplace_back(profiles_.size());
    for (const Offered& row : rows) {
      if (row.baseline) { continue; }
      const auto at = static_cast<std::size_t>(std::ranges::find(profiles_, row.from) - profiles_.begin());
      if (at == kMostProfiles) { continue; }
      if (at == profiles_.size()) {
        profiles_.push_back(row.from);
        line.emplace_back();
      }
      line[at] = row.regret;
    }
  }

  [[nodiscard]] Section section() && {
    Grid grid{"Regret by profile and case", "share", "profile", "case", {}, {}, std::move(cells_)};
    grid.x.assign(profiles_.begin(), profiles_.end());
    grid.y.assign(names_.begin(), names_.end());
    for (std::vector<Value>& line : grid.cells) { line.resize(profiles_.size()); }
    return {"All cases", "", {std::move(grid)}};
  }

  [[nodiscard]] bool tells() const { return names_.size() > 1 && !profiles_.empty(); }

 private:
  std::vector<std::string> names_;
  std::vector<std::string> profiles_;
  std::vector<std::vector<Value>> cells_;
};

Section transfer_section(Members members, Regrets& regrets) {
  Section section;
  read_scenario(members, section);
  members.need("best", "an object");
  Members least = members.object("best");
  const std::string best = least.text("of");
  std::vector<Offered> rows;
  members.need("baselines", "an array");
  members.need("transferred", "an array");
  members.each("baselines", [&](Members one) { rows.push_back(read_offered(one, "scheme", true)); });
  members.each("transferred", [&](Members one) { rows.push_back(read_offered(one, "profile", false)); });
  Times ratios{"Time over that of the best", "", {}, {}, "least median"};
  for (const Offered& row : rows) {
    if (row.ratio.median.is_null()) { continue; }
    ratios.rows.push_back(row.ratio);
    ratios.rows.back().aside = row.baseline;
  }
  regrets.add(section.title, rows);
  if (!ratios.rows.empty()) { section.views.emplace_back(std::move(ratios)); }
  section.views.emplace_back(offered_table(rows, best));
  return section;
}

}  // namespace

Result<Document> read_transfer(std::string_view text, const std::string& source) {
  return read_members(text, source, kTransferSchema, [](Members& members, Document& document) {
    read_origin(members, document);
    add_fact(document, "trials", members.exact("trials"));
    members.need("cases", "an array");
    Regrets regrets;
    members.each("cases", [&](Members one) { document.sections.push_back(transfer_section(std::move(one), regrets)); });
    if (regrets.tells()) { document.sections.insert(document.sections.begin(), std::move(regrets).section()); }
  });
}

}  // namespace elbowroom::page
