#pragma once

#include <atomic>
#include <cstdint>
#include <utility>

#include "backend_gpu/handles.hpp"
#include "elbowroom/base/result.hpp"

namespace elbowroom::gpu {

/// Holds streams back until everything is enqueued, so that a schedule's time holds no host time. A held stream waits for a word of
/// memory that the host writes. Whatever happens, destruction releases the streams.
class StartLine {
 public:
  virtual ~StartLine() { release(); }
  StartLine(const StartLine&) = delete;
  StartLine& operator=(const StartLine&) = delete;

  /// Everything enqueued on `stream` of `device`, which must be current, after this call waits for the next release().
  virtual Status hold(int device, StreamHandle stream) = 0;

  void release() {
    word().store(round_, std::memory_order_release);
    ++round_;
  }

 protected:
  /// `word` has 8 bytes that the host and all devices reach.
  explicit StartLine(Memory word) : word_(std::move(word)) { this->word().store(0, std::memory_order_relaxed); }

  /// Its lower half comes first on every host that has such devices.
  [[nodiscard]] void* address() const { return word_.get(); }
  /// What the word holds from the next release on; it only grows.
  [[nodiscard]] std::uint64_t round() const { return round_; }

 private:
  [[nodiscard]] std::atomic_ref<std::uint64_t> word() const { return std::atomic_ref(*static_cast<std::uint64_t*>(word_.get())); }

  Memory word_;
  std::uint64_t round_ = 1;
};

}  // namespace elbowroom::gpu
