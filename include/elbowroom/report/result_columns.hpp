#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/model_width.hpp"
#include "elbowroom/base/time.hpp"

namespace elbowroom {

struct CaseResult;
struct SchemeResult;

/// What a table shows for an absent value.
inline constexpr std::string_view kAbsentCell = "-";

/// How the numbers of one table are written. All of a kind have one unit and number of decimals, so that they compare at a glance.
struct TableScale {
  std::string_view unit = "us";
  double microseconds = 1.0;  ///< in one unit
  int decimals = 1;           ///< of times
  int ratio_decimals = 3;
  int share_decimals = 1;  ///< of percentages
};

/// Milliseconds when the case's longest time is at least 1 ms; decimals that leave at most five digits. Of a model that is not
/// fitted on the device at most three digits, ratios in hundredths, shares in whole percents.
ELBOWROOM_API TableScale table_scale(const CaseResult& result, const std::optional<ModelWidth>& model);

/// Without the unit: "42.113".
ELBOWROOM_API std::string format_time(Microseconds time, const TableScale& scale);

enum class Alignment { left, right };
enum class Presence { always, when_used };  ///< when_used: dropped from tables in which every row is absent

/// One reported number. The text table, the Markdown table and the legend all format from this description.
struct ResultColumn {
  std::string tag;         ///< path of the value in a result of the `elbowroom.result/1` document
  std::string_view upper;  ///< heading, first line
  std::string_view lower;  ///< heading, second line; may be empty
  std::string_view unit;   ///< empty: none; "us": a time, which a table may scale to ms
  std::string_view description;
  Alignment alignment = Alignment::right;
  Presence presence = Presence::always;
  std::function<std::string(const SchemeResult& result, const TableScale& scale)> cell = {};  ///< kAbsentCell for an absent value
};

/// Every column, in the order of the table. The first names the scheme.
ELBOWROOM_API std::span<const ResultColumn> result_columns();

/// The columns that a table of this case shows.
ELBOWROOM_API std::vector<ResultColumn> columns_of(const CaseResult& result);

/// "ms" for a time column of a table in milliseconds, otherwise the column's own unit.
ELBOWROOM_API std::string_view unit_of(const ResultColumn& column, const TableScale& scale);

/// The heading in one line: "reduction", "blocks per SM".
ELBOWROOM_API std::string heading_of(const ResultColumn& column);

}  // namespace elbowroom
