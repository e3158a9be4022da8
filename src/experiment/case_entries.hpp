#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "elbowroom/base/result.hpp"
#include "elbowroom/energy/scheme_energy.hpp"
#include "elbowroom/experiment/bench_case.hpp"
#include "elbowroom/experiment/case_trials.hpp"
#include "elbowroom/experiment/timed_rounds.hpp"
#include "elbowroom/report/result_document.hpp"
#include "elbowroom/trace/timeline.hpp"

namespace elbowroom::detail {

/// One schedule of a case, and what was seen of it.
struct CaseEntry : TimedSchedule {
  std::optional<std::string> note;
  std::vector<Timeline> recordings;
  std::optional<SchemeEnergy> energy;
  std::optional<std::size_t> same_as;  ///< position of the entry whose schedule this is, too: that one alone is run
};

/// Positions of the entries that every case has.
inline constexpr std::size_t kComputeAlone = 0;
inline constexpr std::size_t kCommAlone = 1;
inline constexpr std::size_t kSequential = 2;

/// One recording is one sample; its figures are medians of these.
inline constexpr int kRecordings = 3;

struct CaseEntries {
  std::vector<CaseEntry> entries;
  std::vector<Refusal> refusals;
};

/// The schedules that the settings ask for. Screens schemes of which one plan is chosen. A scheme that cannot act becomes a
/// refusal; `tuned` is the entry whose schedule it has, where there is one. A device error is an Error.
Result<CaseEntries> choose_entries(CaseTrials& trials, const BenchSettings& settings, CaseObserver& observer);

/// Tells what so many entries are to take.
void expect_measurement(CaseObserver& observer, const BenchSettings& settings, std::size_t entries);

}  // namespace elbowroom::detail
