#pragma once

#include <cstddef>
#include <cstdint>

#include "recorder/recording.hpp"
#include "recorder/repetition.hpp"

namespace elbowroom::recorder {

/// What the recorder does next.
enum class Action : std::uint8_t {
  wait,      ///< go on as it is
  start,     ///< begin to record
  discard,   ///< end a look at the program, and forget what was recorded
  announce,  ///< what was begun as a look is the recording: say so to the other ranks
  finish,    ///< end the recording and write it
};

struct Limits {
  Time after = 60'000'000'000;           ///< from the command's begin to the recording, at the latest
  std::size_t repetitions = 50;          ///< a program that has done as many is warm
  std::size_t steps = 8;                 ///< to record
  Time least = 1'000'000'000;            ///< shorter recordings may hold a part of a step that repeats
  Time longest = 15'000'000'000;         ///< a recording
  Time look = 1'500'000'000;             ///< at a program that may be warm
  Time first_look = 5'000'000'000;       ///< from the command's begin; later ones at twice the time each
  std::size_t most_records = 1'000'000;  ///< 100 MB at most
};

/// Decides when to record: at `after`, or earlier where a short look finds that the program has done its repetitions. Looks begin
/// at the same instants on all ranks of a host. Pure: the clock comes in.
class Schedule {
 public:
  /// `command_begin` and `process_begin` are on the clock of `now`.
  Schedule(const Limits& limits, Time command_begin, Time process_begin)
      : limits_(limits), command_begin_(command_begin), process_begin_(process_begin), next_look_(limits.first_look) {}

  /// `announced`: another rank records. `repetition` and `records` are of what is recorded now.
  Action next(Time now, bool announced, const Repetition& repetition, std::size_t records);

  [[nodiscard]] bool over() const { return phase_ == Phase::over; }
  /// It is not known yet whether this becomes the recording.
  [[nodiscard]] bool looking() const { return phase_ == Phase::looking; }

 private:
  enum class Phase : std::uint8_t { waiting, looking, recording, over };

  Action begin(Phase phase, Time now);
  Action look(Time now, bool announced, const Repetition& repetition, std::size_t records);

  Limits limits_;
  Time command_begin_, process_begin_;
  Time next_look_;  ///< from the command's begin
  Time began_ = 0;  ///< what is recorded now
  Phase phase_ = Phase::waiting;
};

}  // namespace elbowroom::recorder
