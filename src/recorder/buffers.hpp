#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <set>
#include <utility>
#include <vector>

namespace elbowroom::recorder {

/// CUPTI's buffers: threads of the program take empty ones and hand full ones over; the recorder's thread reads these.
class Buffers {
 public:
  struct Full {
    std::uint8_t* data = nullptr;
    std::size_t valid = 0;
  };

  /// An empty buffer; null where there is no memory, or where no more are given.
  std::uint8_t* take() {
    const std::scoped_lock lock(mutex_);
    ++requests_;
    if (closed_) { return nullptr; }
    std::uint8_t* data = nullptr;
    if (empty_.empty()) {
      data = static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, kBytes));
    } else {
      data = empty_.back();
      empty_.pop_back();
    }
    taken_.insert(data);
    return data;
  }
  void hand_over(std::uint8_t* data, std::size_t valid) {
    const std::scoped_lock lock(mutex_);
    if (taken_.erase(data) > 0) {
      full_.push_back({data, valid});
    } else {
      foreign_ = true;
    }
  }
  /// CUPTI handed over a buffer of another profiler, whose callbacks stood in its place before. The buffer stays that profiler's.
  bool foreign() {
    const std::scoped_lock lock(mutex_);
    return foreign_;
  }
  /// From now on CUPTI drops its records.
  void close() {
    const std::scoped_lock lock(mutex_);
    closed_ = true;
  }

  std::vector<Full> full() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(full_, {});
  }
  void give_back(std::uint8_t* data) {
    const std::scoped_lock lock(mutex_);
    if (empty_.size() < kMostEmpty) {
      empty_.push_back(data);
    } else {
      const std::unique_ptr<std::uint8_t, decltype(&std::free)> freed(data, &std::free);
    }
  }
  /// Buffers taken since this was asked last. None: the program's own profiler gets the records, or nothing ran.
  std::size_t new_requests() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(requests_, 0);
  }

  /// CUPTI hands a buffer over when all of its records are complete. While a GPU is busy that is when it is full.
  static constexpr std::size_t kBytes = std::size_t{128} << 10;

 private:
  static constexpr std::size_t kAlignment = 8;
  static constexpr std::size_t kMostEmpty = 64;

  std::mutex mutex_;
  std::vector<std::uint8_t*> empty_;
  std::vector<Full> full_;
  std::set<std::uint8_t*> taken_;  ///< by CUPTI
  std::size_t requests_ = 0;
  bool foreign_ = false;
  bool closed_ = false;
};

}  // namespace elbowroom::recorder
