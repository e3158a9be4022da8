#include "interposer/hip/launch_timer.hpp"

namespace elbowroom::interposer::hip {

bool LaunchTimer::can_time() const {
  return calls_.event_create_with_flags != nullptr && calls_.event_record != nullptr && calls_.event_query != nullptr &&
         calls_.event_elapsed_time != nullptr;
}

bool LaunchTimer::make_event(int device, hip::Event& event) {
  const CurrentDevice scope(calls_, device);
  const RelaxedCapture relaxed(calls_);
  return scope.ok() && calls_.event_create_with_flags(&event, 0) == hip::kSuccess;
}

int LaunchTimer::take(int device) {
  int unused = kNone;
  for (std::size_t i = 0; i < kPairs; ++i) {
    if (pairs_[i].stage != Stage::kFree) { continue; }
    if (pairs_[i].device == device) { return static_cast<int>(i); }
    if (pairs_[i].device == kNoDevice && unused == kNone) { unused = static_cast<int>(i); }
  }
  if (unused == kNone) { return kNone; }
  Pair& pair = pairs_[static_cast<std::size_t>(unused)];
  if (!make_event(device, pair.begin)) { return kNone; }
  if (!make_event(device, pair.end)) {
    if (calls_.event_destroy != nullptr) { calls_.event_destroy(pair.begin); }
    return kNone;
  }
  pair.device = device;
  return unused;
}

int LaunchTimer::begin(int device, hip::Stream stream) {
  if (device < 0 || !can_time()) { return kNone; }
  const KeepsLastError errors(calls_);
  const std::lock_guard lock(mutex_);
  const int index = take(device);
  if (index == kNone) { return kNone; }
  Pair& pair = pairs_[static_cast<std::size_t>(index)];
  if (calls_.event_record(pair.begin, stream) != hip::kSuccess) { return kNone; }
  pair.stage = Stage::kOpen;
  return index;
}

void LaunchTimer::end(int pair, hip::Stream stream, Ticket ticket) {
  const KeepsLastError errors(calls_);
  const std::lock_guard lock(mutex_);
  Pair& open = pairs_[static_cast<std::size_t>(pair)];
  if (calls_.event_record(open.end, stream) != hip::kSuccess) {
    open.stage = Stage::kFree;
    core_.on_timing_lost(ticket);
    return;
  }
  open.ticket = ticket;
  open.stage = Stage::kPending;
  awaited_.add(static_cast<std::size_t>(pair), stream);
  pending_.fetch_add(1, std::memory_order_relaxed);
}

void LaunchTimer::drop(int pair) {
  const std::lock_guard lock(mutex_);
  pairs_[static_cast<std::size_t>(pair)].stage = Stage::kFree;
}

bool LaunchTimer::renew(StepEvent& mark, int device) {
  if (mark.device != kNoDevice && calls_.event_destroy != nullptr) { calls_.event_destroy(mark.event); }
  mark = StepEvent{};
  if (!make_event(device, mark.event)) { return false; }
  mark.device = device;
  return true;
}

void LaunchTimer::begin_step(int device, hip::Stream stream, std::uint64_t step) {
  if (device < 0 || !can_time()) { return; }
  const KeepsLastError errors(calls_);
  const std::lock_guard lock(mutex_);
  StepEvent& mark = steps_[step % kSteps];
  mark.step = 0;
  if (mark.device != device && !renew(mark, device)) { return; }
  if (calls_.event_record(mark.event, stream) != hip::kSuccess) { return; }
  mark.stream = stream;
  mark.step = step;
  const std::uint64_t oldest = oldest_step_.load(std::memory_order_relaxed);
  if (oldest == 0 || oldest + kSteps <= step) { oldest_step_.store(step, std::memory_order_relaxed); }
  newest_step_.store(step, std::memory_order_relaxed);
}

void LaunchTimer::poll(std::uint64_t now_ns) {
  const bool steps_wait = oldest_step_.load(std::memory_order_relaxed) < newest_step_.load(std::memory_order_relaxed);
  const bool waits = steps_wait || pending_.load(std::memory_order_relaxed) != 0;
  if (!waits || now_ns < next_poll_.load(std::memory_order_relaxed)) { return; }
  // Asking for an event would break a capture in global mode, also one that another thread begins right now.
  if (core_.capturing()) { return; }
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock.owns_lock()) { return; }
  const KeepsLastError errors(calls_);
  const RelaxedCapture relaxed(calls_);
  next_poll_.store(now_ns + kPollInterval, std::memory_order_relaxed);
  poll_pairs(now_ns);
  poll_steps();
}

bool LaunchTimer::elapsed(hip::Event begin, hip::Event end, int state, std::uint64_t& nanoseconds) const {
  float milliseconds = 0;
  if (state != hip::kSuccess || calls_.event_elapsed_time(&milliseconds, begin, end) != hip::kSuccess) { return false; }
  nanoseconds = static_cast<std::uint64_t>(static_cast<double>(milliseconds) * 1e6);
  return true;
}

void LaunchTimer::poll_pairs(std::uint64_t now_ns) {
  awaited_.look([&](std::size_t pair) { return tell(pairs_[pair], now_ns); });
}

bool LaunchTimer::tell(Pair& pair, std::uint64_t now_ns) {
  const int state = calls_.event_query(pair.end);
  if (state == hip::kErrorNotReady) { return false; }
  std::uint64_t nanoseconds = 0;
  if (elapsed(pair.begin, pair.end, state, nanoseconds)) {
    core_.on_timing(pair.ticket, nanoseconds, now_ns);
  } else {
    core_.on_timing_lost(pair.ticket);
  }
  pair.stage = Stage::kFree;
  pending_.fetch_sub(1, std::memory_order_relaxed);
  return true;
}

void LaunchTimer::poll_steps() {
  const std::uint64_t newest = newest_step_.load(std::memory_order_relaxed);
  std::uint64_t oldest = oldest_step_.load(std::memory_order_relaxed);
  while (oldest < newest) {
    const StepEvent& begun = steps_[oldest % kSteps];
    const StepEvent& next = steps_[(oldest + 1) % kSteps];
    // A step that was not recorded, or on another stream, leaves two times unknown; the trial then begins anew some day.
    if (begun.step == oldest && next.step == oldest + 1 && begun.stream == next.stream) {
      const int state = calls_.event_query(next.event);
      if (state == hip::kErrorNotReady) { return; }
      std::uint64_t nanoseconds = 0;
      if (elapsed(begun.event, next.event, state, nanoseconds)) { core_.on_step_time(oldest, nanoseconds); }
    }
    oldest_step_.store(++oldest, std::memory_order_relaxed);
  }
}

void LaunchTimer::forget(int device) {
  const std::lock_guard lock(mutex_);
  const auto is_gone = [&](const Pair& pair) { return pair.device == device; };
  awaited_.drop([&](std::size_t pair) { return is_gone(pairs_[pair]); });
  for (Pair& pair : pairs_) {
    if (!is_gone(pair)) { continue; }
    if (pair.stage == Stage::kPending) {
      core_.on_timing_lost(pair.ticket);
      pending_.fetch_sub(1, std::memory_order_relaxed);
    }
    pair = Pair{};
  }
  for (StepEvent& mark : steps_) {
    if (mark.device == device) { mark = StepEvent{}; }
  }
}

}  // namespace elbowroom::interposer::hip
