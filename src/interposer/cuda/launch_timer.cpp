#include "interposer/cuda/launch_timer.hpp"

namespace elbowroom::interposer::cuda {
namespace {

// An event that its driver does not take back is lost, and nothing else is.
void destroy(const DriverCalls& driver, cu::Event event) {
  if (driver.event_destroy != nullptr) { driver.event_destroy(event); }
}

}  // namespace

int LaunchTimer::take(cu::Context context) {
  int unused = kNone;
  for (std::size_t i = 0; i < kPairs; ++i) {
    if (pairs_[i].stage != Stage::kFree) { continue; }
    if (pairs_[i].context == context) { return static_cast<int>(i); }
    if (pairs_[i].context == nullptr && unused == kNone) { unused = static_cast<int>(i); }
  }
  if (unused == kNone || driver_.event_create == nullptr) { return kNone; }
  const CurrentContext scope(driver_, context);
  Pair& pair = pairs_[static_cast<std::size_t>(unused)];
  if (!scope.ok() || driver_.event_create(&pair.begin, 0) != cu::kSuccess) { return kNone; }
  if (driver_.event_create(&pair.end, 0) != cu::kSuccess) {
    destroy(driver_, pair.begin);
    return kNone;
  }
  pair.context = context;
  return unused;
}

int LaunchTimer::begin(cu::Context context, cu::Stream stream) {
  if (context == nullptr || driver_.event_record == nullptr || driver_.event_query == nullptr ||
      driver_.event_elapsed_time == nullptr) {
    return kNone;
  }
  const std::lock_guard lock(mutex_);
  const int index = take(context);
  if (index == kNone) { return kNone; }
  Pair& pair = pairs_[static_cast<std::size_t>(index)];
  if (driver_.event_record(pair.begin, stream) != cu::kSuccess) { return kNone; }
  pair.stage = Stage::kOpen;
  return index;
}

void LaunchTimer::end(int pair, cu::Stream stream, Ticket ticket) {
  const std::lock_guard lock(mutex_);
  Pair& open = pairs_[static_cast<std::size_t>(pair)];
  if (driver_.event_record(open.end, stream) != cu::kSuccess) {
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

bool LaunchTimer::renew(StepEvent& mark, cu::Context context) {
  const RelaxedCapture relaxed(driver_);
  if (mark.context != nullptr) {
    const CurrentContext scope(driver_, mark.context);
    if (scope.ok()) { destroy(driver_, mark.event); }
  }
  mark = StepEvent{};
  const CurrentContext scope(driver_, context);
  if (!scope.ok() || driver_.event_create(&mark.event, 0) != cu::kSuccess) { return false; }
  mark.context = context;
  return true;
}

void LaunchTimer::begin_step(cu::Context context, cu::Stream stream, std::uint64_t step) {
  if (context == nullptr || driver_.event_record == nullptr || driver_.event_create == nullptr ||
      driver_.event_elapsed_time == nullptr) {
    return;
  }
  const std::lock_guard lock(mutex_);
  StepEvent& mark = steps_[step % kSteps];
  mark.step = 0;
  if (mark.context != context && !renew(mark, context)) { return; }
  if (driver_.event_record(mark.event, stream) != cu::kSuccess) { return; }
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
  const RelaxedCapture relaxed(driver_);
  next_poll_.store(now_ns + kPollInterval, std::memory_order_relaxed);
  poll_pairs(now_ns);
  poll_steps();
}

void LaunchTimer::poll_pairs(std::uint64_t now_ns) {
  awaited_.look([&](std::size_t pair) { return tell(pairs_[pair], now_ns); });
}

bool LaunchTimer::tell(Pair& pair, std::uint64_t now_ns) {
  const int state = driver_.event_query(pair.end);
  if (state == cu::kErrorNotReady) { return false; }
  float milliseconds = 0;
  if (state == cu::kSuccess && driver_.event_elapsed_time(&milliseconds, pair.begin, pair.end) == cu::kSuccess) {
    core_.on_timing(pair.ticket, static_cast<std::uint64_t>(static_cast<double>(milliseconds) * 1e6), now_ns);
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
    const bool comparable = begun.step == oldest && next.step == oldest + 1 && begun.stream == next.stream;
    if (comparable) {
      const int state = driver_.event_query(next.event);
      if (state == cu::kErrorNotReady) { return; }
      float milliseconds = 0;
      if (state == cu::kSuccess && driver_.event_elapsed_time(&milliseconds, begun.event, next.event) == cu::kSuccess) {
        core_.on_step_time(oldest, static_cast<std::uint64_t>(static_cast<double>(milliseconds) * 1e6));
      }
    }
    oldest_step_.store(++oldest, std::memory_order_relaxed);
  }
}

void LaunchTimer::forget(cu::Context context) {
  const std::lock_guard lock(mutex_);
  const auto is_gone = [&](const Pair& pair) { return context == nullptr || pair.context == context; };
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
    if (context == nullptr || mark.context == context) { mark = StepEvent{}; }
  }
}

}  // namespace elbowroom::interposer::cuda
