#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>

#include "interposer/core/own_mutex.hpp"
#include "interposer/core/table.hpp"

namespace elbowroom::interposer::process {

/// The events that other processes record: to wait for one is to wait for something that no stream of this process does.
/// More of them than fit make every event count as one.
class ForeignEvents {
 public:
  /// `any`: where others read whether there are any; null: nobody does.
  explicit ForeignEvents(std::atomic<bool>* any = nullptr) : any_(any == nullptr ? own_any_ : *any) {
    any_.store(false, std::memory_order_relaxed);
  }

  void add(const void* event);
  /// Whether it was one.
  bool remove(const void* event);
  bool contains(const void* event) { return any_.load(std::memory_order_relaxed) && finds(event); }

 private:
  bool finds(const void* event);

  OwnMutex mutex_;
  std::atomic<bool> own_any_{false};
  std::atomic<bool>& any_;  // read without the lock: programs without such events pay nothing
  bool overflowed_ = false;
  FixedTable<bool, 1024> events_;
};

}  // namespace elbowroom::interposer::process
