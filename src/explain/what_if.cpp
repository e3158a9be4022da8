#include "explain/what_if.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "elbowroom/base/time.hpp"
#include "explain/block_budget.hpp"
#include "explain/delays.hpp"
#include "explain/inflation.hpp"
#include "explain/replay.hpp"

namespace elbowroom::explain {
namespace {

constexpr double kMostError = 0.05;
constexpr std::string_view kBlocksCommand = "elbowroom run --set comm_blocks=N -- COMMAND";

struct ChangeRow {
  std::string_view name;
  std::string_view words;
  Conditions conditions;
  bool ceiling;
  std::string_view how;
};

const std::array<ChangeRow, 13>& all_changes() {
  static const std::array<ChangeRow, 13> rows{{
      {"undisturbed",
       "kernels beside communication last as long as alone",
       {.undisturbed = true},
       true,
       "elbowroom run -- COMMAND: collectives on few SMs"},
      {"symmetric_memory",
       "collectives that NCCL has kernels on symmetric memory for disturb nobody",
       {.symmetric = true},
       true,
       "elbowroom run -- COMMAND"},
      {"no_communication",
       "collectives take no time, and disturb nobody",
       {.undisturbed = true, .peers_on_time = true, .transfer = 0},
       true,
       ""},
      {"link=2", "a link of twice the speed", {.transfer = 0.5}, false, ""},
      {"priority",
       "collectives begin before computation that was launched later",
       {.communication_first = true},
       true,
       "elbowroom run --policy priority -- COMMAND"},
      {"gate", "that computation waits until they have begun", {.gate = true}, true, "elbowroom run --policy gate -- COMMAND"},
      {"comm_blocks=4", "rings of 4 blocks", {.by_class = true, .comm_blocks = 4}, false, kBlocksCommand},
      {"comm_blocks=8", "rings of 8 blocks", {.by_class = true, .comm_blocks = 8}, false, kBlocksCommand},
      {"comm_blocks=16", "rings of 16 blocks", {.by_class = true, .comm_blocks = 16}, false, kBlocksCommand},
      {"comm_blocks=32", "rings of 32 blocks", {.by_class = true, .comm_blocks = 32}, false, kBlocksCommand},
      {"own_communicator",
       "collectives do not queue behind one another",
       {.own_streams = true},
       true,
       "a process group for each kind of collective"},
      {"peers_on_time", "no rank waits for another", {.peers_on_time = true}, true, "equal work on all ranks"},
      {"host_ahead", "everything is launched before", {.host_ahead = true}, true, "CUDA graphs, torch.compile"},
  }};
  return rows;
}

/// What a trace has of the things that changes act on.
struct Subjects {
  bool lost_race = false, shared_stream = false, waiting = false, inflation = false, symmetric = false;
};

Subjects subjects_of(const std::vector<RankView>& views) {
  Subjects found;
  for (const RankView& view : views) {
    for (std::size_t i = 0; i < view.collectives.size(); ++i) {
      const Delay delay = delay_of(view, i);
      found.lost_race = found.lost_race || delay.by_compute > 0;
      found.shared_stream = found.shared_stream || delay.by_collective > 0;
      found.symmetric = found.symmetric || has_symmetric_kernel(view.trace, view.collectives[i]);
      found.waiting = found.waiting || view.waiting[i].has_value();
    }
    const std::vector<Inflation> inflation = inflation_of(view);
    found.inflation =
        found.inflation || std::any_of(inflation.begin(), inflation.end(), [](const Inflation& one) { return one.runs > 0; });
  }
  return found;
}

/// Why a change cannot act, whatever the replay says.
std::string_view refusal(const Conditions& conditions, const Subjects& subjects) {
  if (conditions.transfer == 0) { return ""; }
  if ((conditions.communication_first || conditions.gate) && !subjects.lost_race) {
    return "no collective waited for SMs that later computation took";
  }
  if (conditions.own_streams && !subjects.shared_stream) { return "no collective queued behind another"; }
  if (conditions.peers_on_time && !subjects.waiting) { return "no collective is in the traces of two ranks"; }
  if (conditions.symmetric && !subjects.symmetric) {
    return "no collective is a ring that NCCL has a kernel on symmetric memory for";
  }
  if ((conditions.undisturbed || conditions.symmetric) && !subjects.inflation) {
    return "no kernel runs both beside communication and alone";
  }
  return "";
}

/// The same of a number of blocks, by the first rank that has a reason.
std::string refusal(std::int64_t comm_blocks, const std::vector<Replay>& replays) {
  for (const Replay& replay : replays) {
    const BlockBudget& budget = replay.budget();
    if (!budget.refusal().empty()) { return budget.refusal(); }
    if (budget.greatest() == comm_blocks) { return fmt::format("rings have {} blocks as it is", comm_blocks); }
  }
  return "";
}

struct ReplayedStep {
  const Replay* replay = nullptr;
  Interval step;
  Time as_it_ran = 0;
};

double ratio_of(Time a, Time b) { return static_cast<double>(a) / static_cast<double>(b); }

double median_ratio(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Of the steps of one rank, as shares of its median step.
struct RankPrediction {
  double ratio = 1;
  double low = 1;
  double high = 1;
};

/// Absent for a rank without steps.
std::optional<RankPrediction> of_rank(const Replay& replay, const Conditions& conditions, const std::vector<ReplayedStep>& steps) {
  std::vector<Microseconds> measured, predicted;
  for (const ReplayedStep& step : steps) {
    if (step.replay != &replay) { continue; }
    const Time before = conditions.by_class ? std::max<Time>(replay.length(step.step, {.by_class = true}), 1) : step.as_it_ran;
    measured.emplace_back(static_cast<double>(step.step.length()) / 1000);
    predicted.push_back(measured.back() * ratio_of(replay.length(step.step, conditions), before));
  }
  if (measured.empty()) { return std::nullopt; }
  const Microseconds median = rank_interval(measured).median;
  const RankInterval times = rank_interval(predicted);
  return RankPrediction{times.median / median, times.low / median, times.high / median};
}

/// Ranks end a step together: the one that gains least says how long it takes. Where no rank waits for another that is the one
/// which gains most. The interval is over its steps, widened by what the replay misses.
void predict(WhatIf& one, Microseconds median, const Conditions& conditions, const std::vector<Replay>& replays,
             const std::vector<ReplayedStep>& steps, double error) {
  std::optional<RankPrediction> chosen;
  const bool balanced = conditions.peers_on_time && conditions.transfer != 0;
  for (const Replay& replay : replays) {
    const std::optional<RankPrediction> rank = of_rank(replay, conditions, steps);
    if (!rank) { continue; }
    const bool decides = !chosen || (balanced ? rank->ratio < chosen->ratio : rank->ratio > chosen->ratio);
    if (decides) { chosen = rank; }
  }
  one.ratio = chosen->ratio;
  one.step = {median * one.ratio, median * chosen->low * (1 - error), median * chosen->high * (1 + error)};
  if (one.ratio >= 1) { one.how.clear(); }
}

/// The host's launches are where they were, but behind waits that the trace has. A program that polls waits unseen.
void refuse_what_gains_nothing(std::vector<WhatIf>& changes) {
  const bool host_bound = std::any_of(changes.begin(), changes.end(), [](const WhatIf& one) {
    return one.change == "host_ahead" && one.refused.empty() && one.ratio < 1 - kMostError;
  });
  for (WhatIf& one : changes) {
    constexpr double kLeast = 0.0005;
    if (one.refused.empty() && one.ceiling && one.ratio > 1 + kLeast) { one.refused = "it costs more than it can gain"; }
    if (!one.refused.empty() || std::abs(one.ratio - 1) >= kLeast) { continue; }
    one.refused = host_bound ? "the host launches what follows too late, unless it waits itself and the trace does not say so"
                             : "the step waits for nothing that this changes";
  }
}

}  // namespace

WhatIfs what_if(const std::vector<RankView>& views, Microseconds median) {
  WhatIfs result;
  const bool communicates = std::any_of(views.begin(), views.end(), [](const RankView& view) { return !view.collectives.empty(); });
  std::vector<Replay> replays;
  replays.reserve(views.size());
  std::vector<ReplayedStep> steps;
  std::vector<double> errors;
  for (const RankView& view : views) {
    replays.emplace_back(view);
    for (const Interval& step : view.steps.windows) {
      const Time replayed = std::max<Time>(replays.back().length(step, {}), 1);
      steps.push_back({&replays.back(), step, replayed});
      errors.push_back(std::abs(ratio_of(replayed, step.length()) - 1));
    }
  }
  result.replay_error = median_ratio(std::move(errors));
  const std::string missed =
      *result.replay_error > kMostError
          ? fmt::format("the replay misses steps by {:.0f} %: the trace lacks what kernels waited for", 100 * *result.replay_error)
          : "";
  const Subjects subjects = subjects_of(views);
  for (const ChangeRow& row : all_changes()) {
    if (!communicates && !row.conditions.host_ahead) { continue; }
    result.changes.push_back({std::string(row.name),
                              std::string(row.words),
                              {},
                              1,
                              row.ceiling,
                              std::string(row.how),
                              missed.empty() ? std::string(refusal(row.conditions, subjects)) : missed});
    WhatIf& one = result.changes.back();
    if (one.refused.empty() && row.conditions.comm_blocks > 0) { one.refused = refusal(row.conditions.comm_blocks, replays); }
    if (!one.refused.empty()) { continue; }
    predict(one, median, row.conditions, replays, steps, *result.replay_error);
    // Of one rank alone a late peer cannot be told from a slow link.
    one.ceiling = one.ceiling || (row.conditions.transfer != 1 && !subjects.waiting);
  }
  refuse_what_gains_nothing(result.changes);
  std::stable_sort(result.changes.begin(), result.changes.end(), [](const WhatIf& a, const WhatIf& b) {
    return a.refused.empty() != b.refused.empty() ? a.refused.empty() : a.ratio < b.ratio;
  });
  return result;
}

}  // namespace elbowroom::explain
