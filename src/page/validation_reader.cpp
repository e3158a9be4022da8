#include <tuple>
#include <utility>

#include "page/reading.hpp"
#include "report/schemas.hpp"

namespace elbowroom::page {
namespace {

Figures figures_of(Members& members, const char* name, std::string title) {
  Figures all{std::move(title), {}};
  members.need(name, "an object");
  Members figures = members.object(name);
  for (const auto& [tag, label, unit] : {std::tuple("rows", "rows", ""),
                                         {"median_error", "median error", "share"},
                                         {"p90_error", "90th percentile of errors", "share"},
                                         {"worst_error", "worst error", "share"},
                                         {"groups", "groups to choose in", ""},
                                         {"best_pick_rate", "best one picked", "share"}}) {
    figures.need(tag, "a finite number");
    all.figures.push_back({label, figures.exact(tag), unit, std::string(name) + "." + tag});
  }
  return all;
}

}  // namespace

Result<Document> read_validation(std::string_view text, const std::string& source) {
  return read_members(text, source, kValidationSchema, [](Members& members, Document& document) {
    document.provenance = "simulated against measured";
    Section section{"The simulator against measured rows", "errors are |simulated / measured - 1|", {}};
    section.views.emplace_back(
        figures_of(members, "given_isolated", "Isolated times given, sequential and concurrent rows simulated"));
    section.views.emplace_back(figures_of(members, "absolute", "Nothing given but the scenario, every row simulated"));
    document.sections.push_back(std::move(section));
  });
}

}  // namespace elbowroom::page
