#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/report/result_columns.hpp"

// Sentences that the text table and the Markdown table share.
namespace elbowroom {

struct HardwareLimit;

}  // namespace elbowroom

namespace elbowroom::detail {

/// Behind a critical path of which no share can be reached.
inline constexpr std::string_view kNoOverlap = ", nothing to gain by overlap";

/// "alone: compute 12.345 ms (12.300..12.400), comm 10.100 ms (10.000..10.200); critical path 13.500 ms"
std::string alone_line(const CaseResult& result, const TableScale& scale);

/// "hardware limit 11.250 ms: link, best rate reached"
std::string limit_line(const HardwareLimit& limit, const TableScale& scale);

/// "medians of 20 trials, 95 % bootstrap intervals"; of a model that is not fitted on the device the intervals are the model's.
std::string statistics_line(const CaseResult& result, const std::optional<ModelWidth>& model);

/// How the energy was measured and how the GPUs stood, or why there is none; empty where nobody asked.
std::vector<std::string> energy_lines(const CaseResult& result);

/// The controls of the plan that have no column, being rare: "256 comm threads, carve-out 100 %"; empty when it sets none, and when
/// the note says the whole plan.
std::string rare_controls(const SchemeResult& result);

}  // namespace elbowroom::detail
