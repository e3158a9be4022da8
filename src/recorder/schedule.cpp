#include "recorder/schedule.hpp"

namespace elbowroom::recorder {

Action Schedule::begin(Phase phase, Time now) {
  phase_ = phase;
  began_ = now;
  return Action::start;
}

Action Schedule::look(Time now, bool announced, const Repetition& repetition, std::size_t records) {
  const bool warm = repetition.count >= 3 && now - process_begin_ >= limits_.repetitions * repetition.length;
  if (announced || warm) {
    phase_ = Phase::recording;
    return Action::announce;
  }
  if (now - began_ < limits_.look && records < limits_.most_records) { return Action::wait; }
  phase_ = Phase::waiting;
  return Action::discard;
}

Action Schedule::next(Time now, bool announced, const Repetition& repetition, std::size_t records) {
  const Time since = now > command_begin_ ? now - command_begin_ : 0;
  switch (phase_) {
    case Phase::waiting:
      if (announced || since >= limits_.after) { return begin(Phase::recording, now); }
      if (since < next_look_) { return Action::wait; }
      while (next_look_ <= since) { next_look_ *= 2; }
      // A process that has just begun is not warm, and the recording at `after` needs no look.
      if (now - process_begin_ < limits_.look || since + 2 * limits_.look > limits_.after) { return Action::wait; }
      return begin(Phase::looking, now);
    case Phase::looking:
      return look(now, announced, repetition, records);
    case Phase::recording: {
      if (records == 0) { began_ = now; }  // a program that is still loading has its time when it comes
      const Time length = now - began_;
      const bool enough = repetition.count >= limits_.steps && length >= limits_.least;
      if (!enough && length < limits_.longest && records < limits_.most_records) { return Action::wait; }
      phase_ = Phase::over;
      return Action::finish;
    }
    case Phase::over:
      break;
  }
  return Action::wait;
}

}  // namespace elbowroom::recorder
