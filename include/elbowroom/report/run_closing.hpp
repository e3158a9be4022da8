#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/time.hpp"
#include "elbowroom/report/run_report.hpp"

namespace elbowroom {

/// What the closing line of a run says, before it is put into words.
struct ClosingFacts {
  /// A step of the program without and with what was changed.
  struct Steps {
    Microseconds before{0};
    Microseconds after{0};
    bool in_turns = false;  ///< both kinds of steps took turns; else one kind followed the other

    /// Percent of the step before; below zero where steps take less time now.
    [[nodiscard]] double change() const { return (after / before - 1) * 100; }
  };
  enum class Bits : std::uint8_t { same, sums, products };

  /// A change that was in force when the program ended.
  struct Kept {
    std::string what;                   ///< "DDP buckets on symmetric memory"
    std::optional<Steps> steps = {};    ///< absent: not compared in this run
    std::string why_not_compared = {};  ///< empty where it was
    Bits may_change = Bits::same;       ///< what may differ in its last bits
    std::int64_t extra_bytes = 0;       ///< on each GPU, at most so many more than the program took
  };

  std::vector<Kept> kept = {};               ///< the greatest gain first, what was not compared last
  std::vector<std::string> left_alone = {};  ///< why nothing more was changed, or nothing; the most telling reason first
  std::optional<std::string> option = {};    ///< one that may help this program and is off by default
  bool unknown = false;                      ///< no process told what it did; the first reason says why
};

/// What the processes of a run tell of it, together. All of them gained the least that one of them gained.
ELBOWROOM_API ClosingFacts closing_facts(const RunReport& report);

/// True where this run says the line of its job: it has rank 0, no process of it knows its rank, or it failed.
ELBOWROOM_API bool speaks_for_job(const RunReport& report);

/// With "elbowroom: " before it and without a newline; bytes, of which a character of a terminal has at least one.
inline constexpr std::size_t kLongestClosingLine = 160;

/// "elbowroom: about 65.9 ms a step instead of 72.3 (-8.8 %): FSDP2 staging buffers on symmetric memory; +970 MiB on each GPU;
/// ...", or "elbowroom: nothing changed: ..." with the reason. One line; what there is no room for is left out.
ELBOWROOM_API std::string closing_line(const ClosingFacts& facts);

}  // namespace elbowroom
