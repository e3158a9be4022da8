#include "explain/inflation.hpp"

#include <algorithm>
#include <map>
#include <utility>

#include "explain/communication.hpp"

namespace elbowroom::explain {
namespace {

struct Runs {
  std::vector<Time> alone;
  std::vector<Time> beside;
};

/// By name and shape, within the steps.
std::map<std::pair<TextId, std::uint32_t>, Runs> runs_of(const RankView& view) {
  std::map<std::pair<TextId, std::uint32_t>, Runs> result;
  const Rows& rows = view.trace.rows;
  const Intervals steps = merged(view.steps.windows);
  for (const std::uint32_t row : view.compute_rows) {
    const Interval time{rows.begin[row], rows.end[row]};
    if (length_within(steps, time) < time.length() || time.length() == 0) { continue; }
    const Time beside = length_within(view.communication, time);
    Runs& runs = result[{rows.name[row], rows.shape[row]}];
    if (beside == 0) {
      runs.alone.push_back(time.length());
    } else if (2 * beside >= time.length()) {
      runs.beside.push_back(time.length());
    }
  }
  return result;
}

Time median(std::vector<Time>& times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

}  // namespace

std::vector<Inflation> inflation_of(const RankView& view) {
  std::map<std::string, Inflation> classes;
  for (auto& [key, runs] : runs_of(view)) {
    if (runs.beside.empty()) { continue; }
    const std::string kernels(kernel_class(view.trace.texts.text(key.first)));
    Inflation& inflation = classes[kernels];
    inflation.kernels = kernels;
    if (runs.alone.empty()) {
      inflation.unknown += runs.beside.size();
      continue;
    }
    const Time alone = median(runs.alone);
    for (const Time time : runs.beside) { inflation.more += time - alone; }
    inflation.alone += alone * static_cast<Time>(runs.beside.size());
    inflation.runs += runs.beside.size();
  }
  std::vector<Inflation> result;
  result.reserve(classes.size());
  for (auto& [name, inflation] : classes) { result.push_back(std::move(inflation)); }
  std::stable_sort(result.begin(), result.end(), [](const Inflation& a, const Inflation& b) { return a.more > b.more; });
  return result;
}

}  // namespace elbowroom::explain
