#include "interposer/core/core_state.hpp"

// Steps of the program, the comparison of arms between them, and the rest where it found nothing to gain.

namespace elbowroom::interposer {

std::optional<unsigned> CoreState::remembered_arm() const {
  const char* const device = known.models_differ ? "" : known.model.data();
  return known_arm({known.choices.data, known.choices.size}, {device, known.library, known.steps.pattern()}, rules);
}

void CoreState::tell_ranks() {
  if (platform.ranks.want == nullptr) { return; }
  const std::uint64_t pattern = known.steps.locked() ? known.steps.pattern() : 0;
  RankWish wish{known.ranks.value(known.trial.arm(), comparison() == AbTrial::State::settled), known.ranks.ready()};
  if (wish.value != 0) { wish.value |= mark_of(pattern); }
  platform.ranks.want(wish);
}

// As of the last step where no repetition is known: what was compared before is compared again when it is back.
AbTrial::State CoreState::comparison() const {
  if (!known.steps.locked()) { return known.compared; }
  if (known.ranks.chooses()) { return known.trial.state(); }
  return known.ranks.kept() ? AbTrial::State::settled : AbTrial::State::trying;
}

unsigned CoreState::arm_in_force() const {
  if (known.ranks.mode() == RanksInStep::Mode::alone) { return known.trial.arm(); }
  return known.ranks.arm(platform.ranks.agreed());
}

void CoreState::begin_trial() {
  known.trial.on_pattern(known.steps.pattern(), remembered_arm());
  ++known.step;  // a gap in the numbers: the time from the step before to the next one is no step's
}

void CoreState::find_step() {
  known.ranks.on_pattern(known.steps.pattern(), standing());
  if (known.ranks.chooses()) { begin_trial(); }
  tell_ranks();
}

void CoreState::lose_step() {
  if (known.ranks.chooses()) { known.trial.on_lost(); }
  known.ranks.on_lost();
  tell_ranks();
}

void CoreState::begin_step() {
  const RankStanding now = standing();
  const RanksInStep::Mode before = known.ranks.mode();
  const bool chose = known.ranks.chooses();
  known.ranks.on_step_begun(now);
  if (known.ranks.mode() != before) {
    if (chose) { known.trial.on_lost(); }
    if (known.ranks.chooses()) { begin_trial(); }
  }
  if (known.ranks.counts()) { known.trial.on_step_begun(known.step); }
  tell_ranks();
}

// Whatever the policy: energy is told by the step.
StepMarks::Mark CoreState::count_step(std::uint64_t signature, std::uint64_t host_time_ns) {
  const StepMarks::Mark mark = known.steps.on_collective(signature);
  if (mark == StepMarks::Mark::lost) { known.stretches.on_lost(); }
  if (mark == StepMarks::Mark::step) {
    known.stretches.on_step(known.steps.period(), known.steps.repetitions_per_step(), host_time_ns);
  }
  return mark;
}

std::uint64_t CoreState::note_collective(std::uint64_t signature, std::uint64_t host_time_ns) {
  bool begun = false;
  const bool was_locked = known.steps.locked();
  const StepMarks::Mark mark = count_step(signature, host_time_ns);
  if (!compares(rules)) { return 0; }
  switch (mark) {
    case StepMarks::Mark::none:
      break;
    case StepMarks::Mark::lost:
      lose_step();
      break;
    case StepMarks::Mark::step:
      begun = true;
      ++known.step;
      begin_step();
      break;
  }
  if (known.steps.locked() && !was_locked) { find_step(); }
  put_in_force();
  begin_or_end_rest(begun);
  // Whoever follows compares nothing.
  return begun && known.ranks.chooses() ? known.step : 0;
}

// A plain arm follows nothing, so that it costs what the program costs after the comparison. What events are behind is not known
// when the order is followed again.
void CoreState::put_in_force() {
  const Controls now = controls(rules, arm_in_force());
  const bool follows = now.gate || now.shape || now.sm_target;
  if (!follows && follows_order.exchange(false)) { known.lanes.forget_events(); }
  if (follows && !follows_order.load()) {
    known.lanes.forget_events();
    follows_order.store(true, std::memory_order_release);
  }
  if (now == known.active) { return; }
  known.active = now;
  times_ends.store(now.gate && !known.begins_seen && known.watched.next == 0, std::memory_order_relaxed);
  fast_path.forget_functions(counted());  // of caps
  publish();
}

void Core::on_step_time(std::uint64_t step, std::uint64_t nanoseconds) {
  CoreState::Hold hold(*state_);
  Knowledge& known = state_->known;
  known.trial.on_step_time(step, nanoseconds);
  state_->put_in_force();
}

void Core::on_step_lost(std::uint64_t step) {
  CoreState::Hold hold(*state_);
  Knowledge& known = state_->known;
  known.trial.on_step_lost(step);
  state_->put_in_force();
}

// In a comparison the program as it is costs what it would after it: nothing but a look at its collectives.
void CoreState::begin_or_end_rest(bool may_begin) {
  known.compared = comparison();
  const bool plain = known.compared != AbTrial::State::waiting && !known.active.any();
  if (plain == known.resting || (plain && !may_begin)) { return; }
  fast_path.tell_counts(counted());
  known.resting = plain;
}

}  // namespace elbowroom::interposer
