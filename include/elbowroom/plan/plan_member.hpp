#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

namespace elbowroom {

struct OverlapPlan;

/// How tables of results show a member.
struct PlanColumn {
  enum class Shown {
    always,
    when_used,  ///< the column is dropped where no row sets it
    in_words,   ///< no column: below the table, where a row sets it
  };
  Shown shown = Shown::in_words;
  std::string_view upper;  ///< heading, first line
  std::string_view lower;  ///< heading, second line; may be empty
  std::string_view meaning;
};

/// One member of an OverlapPlan: how it is read, written and said. Values are counts in the member's unit; switches have the one
/// value 1.
struct PlanMember {
  std::string_view name;   ///< in JSON, on the command line and in columns
  std::string_view unit;   ///< empty: a plain count
  std::string_view words;  ///< of a sentence, with {} for the value: "{} comm blocks"
  PlanColumn column;
  bool is_switch = false;  ///< on or off, no number
  // What documents may hold. No device passes these bounds; what one device takes is narrower and its backend's to say.
  std::int64_t least = 1;
  std::int64_t greatest = 1;
  /// Absent: off.
  std::optional<std::int64_t> (*get)(const OverlapPlan& plan) = nullptr;
  /// Leaves every other member as it is.
  void (*put)(OverlapPlan& plan, std::optional<std::int64_t> value) = nullptr;
};

}  // namespace elbowroom
