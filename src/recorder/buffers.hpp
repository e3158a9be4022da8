#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <mutex>
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

  /// An empty buffer; null where there is no memory.
  std::uint8_t* take() {
    const std::scoped_lock lock(mutex_);
    ++requests_;
    if (!empty_.empty()) {
      std::uint8_t* const data = empty_.back();
      empty_.pop_back();
      return data;
    }
    return static_cast<std::uint8_t*>(std::aligned_alloc(kAlignment, kBytes));
  }
  void hand_over(std::uint8_t* data, std::size_t valid) {
    const std::scoped_lock lock(mutex_);
    full_.push_back({data, valid});
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
      std::free(data);
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
  std::size_t requests_ = 0;
};

}  // namespace elbowroom::recorder
