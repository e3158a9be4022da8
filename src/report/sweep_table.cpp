#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "elbowroom/report/scenario_line.hpp"
#include "elbowroom/report/sweep_document.hpp"

namespace elbowroom {
namespace {

constexpr std::size_t kLeastWidth = 9;

/// Of the first axis down and the second across; a single axis stands across.
struct Sides {
  const SweepAxis* down = nullptr;
  const SweepAxis* across = nullptr;
};

Sides sides_of(const SweepCase& swept) {
  if (swept.axes.size() == 1) { return {nullptr, &swept.axes[0]}; }
  return {&swept.axes[0], &swept.axes[1]};
}

std::string cell_text(const std::optional<SweepCell>& cell) {
  if (!cell) { return "-"; }
  return cell->time ? fmt::format("{:.3f}", cell->time->median.count() / 1000) : "refused";
}

std::string words_at(const SweepCase& swept, const std::vector<std::size_t>& at) {
  std::string words;
  for (std::size_t axis = 0; axis < at.size(); ++axis) {
    words += fmt::format("{}{}={}", words.empty() ? "" : ", ", swept.axes[axis].name, swept.axes[axis].values[at[axis]]);
  }
  return words;
}

std::string flatness_lines(const SweepCase& swept) {
  std::string text;
  const std::vector<GridAxis> grid = swept.grid();
  for (const Flatness& flatness : swept.flatness()) {
    const SweepCell& best = *swept.cells[cell_index(grid, flatness.best)];
    text += fmt::format("# best {}: {:.3f} ms, {:.3f} of two plain streams", words_at(swept, flatness.best),
                        best.time->median.count() / 1000, best.ratio->median);
    if (flatness.second) {
      text += fmt::format("; second {}: {:.2f} % more", words_at(swept, *flatness.second), 100 * flatness.second_loss);
    }
    text += "\n";
    for (const auto& [axis, slacks] : flatness.slack) {
      const SweepAxis& along = swept.axes[axis];
      text += fmt::format("#   {}", along.name);
      for (const Slack& slack : slacks) {
        text += fmt::format("; within {:g} %: {} to {}", 100 * slack.loss, along.values[slack.from], along.values[slack.to]);
      }
      text += "\n";
    }
  }
  return text;
}

std::string refusal_lines(const SweepCase& swept) {
  std::vector<std::string> reasons;
  for (const std::optional<SweepCell>& cell : swept.cells) {
    if (cell && cell->refused && std::ranges::find(reasons, *cell->refused) == reasons.end()) { reasons.push_back(*cell->refused); }
  }
  std::string text;
  for (const std::string& reason : reasons) { text += fmt::format("# refused: {}\n", reason); }
  return text;
}

}  // namespace

std::string to_table(const SweepCase& swept, const Origin& origin) {
  const auto [down, across] = sides_of(swept);
  std::string text = fmt::format("# {}: {}\n# medians in ms, {}{} across\n", to_string(origin.provenance), case_line(swept.what),
                                 down != nullptr ? down->name + " down, " : "", across->name);
  std::size_t first = 0;
  if (down != nullptr) {
    for (const std::string& value : down->values) { first = std::max(first, value.size()); }
  }
  std::size_t width = kLeastWidth;
  for (const std::string& value : across->values) { width = std::max(width, value.size() + 1); }
  text += fmt::format("# {:>{}}", "", first);
  for (const std::string& value : across->values) { text += fmt::format("{:>{}}", value, width); }
  text += "\n";
  const std::size_t rows = down != nullptr ? down->values.size() : 1;
  for (std::size_t row = 0; row < rows; ++row) {
    text += fmt::format("  {:>{}}", down != nullptr ? down->values[row] : "", first);
    for (std::size_t column = 0; column < across->values.size(); ++column) {
      text += fmt::format("{:>{}}", cell_text(swept.cells[row * across->values.size() + column]), width);
    }
    text += "\n";
  }
  return text + flatness_lines(swept) + refusal_lines(swept);
}

}  // namespace elbowroom
