#include "backend/watchdog.hpp"

#include <utility>

namespace elbowroom::detail {

Watchdog::Watchdog(std::chrono::milliseconds patience, std::function<void()> overdue)
    : overdue_(std::move(overdue)), thread_([this, patience] { watch(patience); }) {}

void Watchdog::watch(std::chrono::milliseconds patience) {
  std::unique_lock lock(mutex_);
  if (changed_.wait_for(lock, patience, [this] { return stopped_; })) { return; }
  called_ = true;
  overdue_();
}

bool Watchdog::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopped_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) { thread_.join(); }
  return !called_;
}

}  // namespace elbowroom::detail
