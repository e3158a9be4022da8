#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "preload/cublas_lt_abi.hpp"

namespace headroom::preload {

/// The matmul descriptors that calls are reading at this moment: one for each thread at most. Further ones go without a target.
class DescriptorTable {
 public:
  /// The heuristic was asked with a target. Programs keep algorithms and hand them on: any later product may have such a one.
  std::atomic<bool> chosen_for_target{false};

 private:
  friend class DescriptorUse;
  struct Entry {
    cublas_lt::Descriptor descriptor = nullptr;  // null: free
    int users = 0;
    bool targeted = false;
  };

  // With the lock held.
  Entry* find(cublas_lt::Descriptor descriptor);
  static bool set_target(Entry& entry, std::uint32_t sms);
  static void clear_target(Entry& entry);

  std::mutex mutex_;
  std::array<Entry, 64> entries_{};
};

/// A matmul descriptor while a call of the library reads it, with an SM target of ours or without. Threads may share a descriptor: a
/// target stays until the last call that began beside it has returned, so that no call sees the value change.
class DescriptorUse {
 public:
  /// Sets the target unless it is 0, the program has set one, or another call uses the descriptor.
  DescriptorUse(DescriptorTable& table, cublas_lt::Descriptor descriptor, std::uint32_t sms);
  ~DescriptorUse();
  DescriptorUse(const DescriptorUse&) = delete;
  DescriptorUse& operator=(const DescriptorUse&) = delete;

  /// Whether this use set the target that is in force.
  [[nodiscard]] bool targeted() const { return targeted_; }

  // To call again after a failure that the other setting may be the cause of: whoever else uses the descriptor.
  /// False: the program has set a target, or the library takes none.
  bool set(std::uint32_t sms);
  void put_back();

 private:
  DescriptorTable& table_;
  cublas_lt::Descriptor descriptor_;
  bool listed_ = false;
  bool targeted_ = false;
};

}  // namespace headroom::preload
