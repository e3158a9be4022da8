#include "page/run_energy_view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <utility>

namespace elbowroom::page {
namespace {

struct Shown {
  const char* name;
  const char* unit;
  const char* member;
};

constexpr Shown kJoules[] = {
    {"energy", "J", "joules_per_step"}, {"low", "J", "low"}, {"high", "J", "high"}, {"idle", "J", "idle_joules"}};
constexpr Shown kReasons[] = {{"not known", "", "why_absent"}, {"idle not known", "", "why_no_idle"}, {"counter", "", "counter"}};
constexpr Shown kBasis[] = {
    {"steps", "", "steps"},    {"collectives in a step", "", "collectives_per_step"}, {"span", "s", "span_s"},
    {"step", "us", "step_us"}, {"resolution, share of the span", "", "resolution"},   {"counter moves every", "ms", "period_ms"}};

std::string tag_of(const Shown& shown) { return fmt::format("energy.{}", shown.member); }

Figures figures_of(Members& energy) {
  Figures figures{"Energy of a step, all GPUs of the command together", {}};
  const auto add_number = [&](const Shown& shown) {
    if (Value value = energy.exact(shown.member); !value.is_null()) {
      figures.figures.push_back({shown.name, std::move(value), shown.unit, tag_of(shown)});
    }
  };
  for (const Shown& shown : kJoules) { add_number(shown); }
  for (const Shown& shown : kReasons) {
    if (std::string text = text_or_none(energy, shown.member); !text.empty()) {
      figures.figures.push_back({shown.name, std::move(text), "", tag_of(shown)});
    }
  }
  for (const Shown& shown : kBasis) { add_number(shown); }
  for (const std::string& note : energy.texts("notes")) { figures.figures.push_back({"note", note, "", "energy.notes"}); }
  return figures;
}

Table gpus_of(Members& energy) {
  Table gpus{"GPUs of the command",
             {{"GPU", "", "energy.gpus.bus_id", "place on the bus"},
              {"energy", "J", "energy.gpus.joules_per_step", "of a step"},
              {"temperature", "C", "energy.gpus.greatest_celsius", "the greatest"},
              {"SM clock from", "MHz", "energy.gpus.least_sm_mhz", ""},
              {"to", "MHz", "energy.gpus.greatest_sm_mhz", ""},
              {"clocks fell by", "", "energy.gpus.clocks_fell_by", ""},
              {"processes", "", "energy.gpus.processes", "with work on it, the most at a time"},
              {"of the command", "", "energy.gpus.own_processes", "that reported it"}},
             {},
             {}};
  energy.each("gpus", [&](Members gpu) {
    gpus.rows.push_back({text_or_none(gpu, "bus_id"), gpu.exact("joules_per_step"), gpu.exact("greatest_celsius"),
                         gpu.exact("least_sm_mhz"), gpu.exact("greatest_sm_mhz"),
                         fmt::format("{}", fmt::join(gpu.texts("clocks_fell_by"), ", ")), gpu.exact("processes"),
                         gpu.exact("own_processes")});
  });
  return gpus;
}

}  // namespace

void add_run_energy(Members& run, Document& document) {
  if (!run.has("energy")) { return; }
  Members energy = run.object("energy");
  Section section{"energy", "a step is one repetition of the collectives that the program repeats", {}};
  section.views.emplace_back(figures_of(energy));
  if (Table gpus = gpus_of(energy); !gpus.rows.empty()) { section.views.emplace_back(std::move(gpus)); }
  document.sections.push_back(std::move(section));
}

}  // namespace elbowroom::page
