#include "elbowroom/report/flatness.hpp"

#include <algorithm>
#include <map>

namespace elbowroom {
namespace {

using Costs = std::span<const std::optional<double>>;
using Axes = std::span<const GridAxis>;

/// Positions on the axes that are given: what a best choice belongs to.
std::vector<std::size_t> given_of(Axes axes, const std::vector<std::size_t>& at) {
  std::vector<std::size_t> given;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    if (!axes[axis].chosen) { given.push_back(at[axis]); }
  }
  return given;
}

Slack slack_along(Axes axes, Costs costs, const std::vector<std::size_t>& best, std::size_t axis, double loss) {
  const double most = *costs[cell_index(axes, best)] * (1 + loss);
  const auto good = [&](std::size_t position) {
    std::vector<std::size_t> at = best;
    at[axis] = position;
    const std::optional<double> cost = costs[cell_index(axes, at)];
    return cost && *cost <= most;
  };
  Slack slack{loss, best[axis], best[axis]};
  while (slack.from > 0 && good(slack.from - 1)) { --slack.from; }
  while (slack.to + 1 < axes[axis].values && good(slack.to + 1)) { ++slack.to; }
  return slack;
}

Flatness flatness_among(Axes axes, Costs costs, std::vector<std::size_t> cells) {
  std::ranges::stable_sort(cells, {}, [&](std::size_t cell) { return *costs[cell]; });
  Flatness flatness;
  flatness.best = cell_positions(axes, cells.front());
  if (cells.size() > 1) {
    flatness.second = cell_positions(axes, cells[1]);
    flatness.second_loss = *costs[cells[1]] / *costs[cells.front()] - 1;
  }
  for (std::size_t axis = 0; axis < axes.size(); ++axis) {
    if (!axes[axis].chosen) { continue; }
    std::vector<Slack>& along = flatness.slack.emplace_back(axis, std::vector<Slack>()).second;
    for (const double loss : kLosses) { along.push_back(slack_along(axes, costs, flatness.best, axis, loss)); }
  }
  return flatness;
}

}  // namespace

std::size_t cell_index(Axes axes, std::span<const std::size_t> at) {
  std::size_t index = 0;
  for (std::size_t axis = 0; axis < axes.size(); ++axis) { index = index * axes[axis].values + at[axis]; }
  return index;
}

std::vector<std::size_t> cell_positions(Axes axes, std::size_t index) {
  std::vector<std::size_t> at(axes.size());
  for (std::size_t axis = axes.size(); axis-- > 0;) {
    at[axis] = index % axes[axis].values;
    index /= axes[axis].values;
  }
  return at;
}

std::vector<Flatness> flatness_of(Axes axes, Costs costs) {
  std::map<std::vector<std::size_t>, std::vector<std::size_t>> slices;
  for (std::size_t cell = 0; cell < costs.size(); ++cell) {
    if (costs[cell]) { slices[given_of(axes, cell_positions(axes, cell))].push_back(cell); }
  }
  std::vector<Flatness> all;
  const bool any_chosen = std::ranges::any_of(axes, &GridAxis::chosen);
  for (auto& [given, cells] : slices) {
    if (any_chosen) { all.push_back(flatness_among(axes, costs, std::move(cells))); }
  }
  return all;
}

}  // namespace elbowroom
