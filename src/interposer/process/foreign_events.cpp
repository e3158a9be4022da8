#include "interposer/process/foreign_events.hpp"

namespace elbowroom::interposer::process {

void ForeignEvents::add(const void* event) {
  const std::lock_guard lock(mutex_);
  overflowed_ = events_.obtain(key_of(event)) == nullptr || overflowed_;
  any_.store(true, std::memory_order_relaxed);
}

bool ForeignEvents::remove(const void* event) {
  if (!any_.load(std::memory_order_relaxed)) { return false; }
  const std::lock_guard lock(mutex_);
  const bool known = events_.find(key_of(event)) != nullptr;
  events_.erase(key_of(event));
  any_.store(overflowed_ || events_.size() > 0, std::memory_order_relaxed);
  return known;
}

bool ForeignEvents::finds(const void* event) {
  const std::lock_guard lock(mutex_);
  return overflowed_ || events_.find(key_of(event)) != nullptr;
}

}  // namespace elbowroom::interposer::process
