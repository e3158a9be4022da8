#pragma once

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>

#include "interposer/cuda/cublas_lt_abi.hpp"
#include "interposer/process/routes.hpp"

namespace elbowroom::interposer::cuda {

/// How the library reads and sets the target of a descriptor.
class AttributeCalls {
 public:
  AttributeCalls();
  bool write_target(cublas_lt::Descriptor descriptor, cublas_lt::SmCount sms) const;
  /// False: the program has set one, or the library knows of none.
  [[nodiscard]] bool takes_target(cublas_lt::Descriptor descriptor) const;

 private:
  using Get = int (*)(cublas_lt::Descriptor, int, void*, std::size_t, std::size_t*);
  using Set = int (*)(cublas_lt::Descriptor, int, const void*, std::size_t);
  Get get_;
  Set set_;
};

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
    bool targeted = false;  // by its first user
    bool stuck = false;     // somebody waited in vain: nobody waits any more
  };

  // With the lock held.
  Entry* find(cublas_lt::Descriptor descriptor);
  /// The descriptor's entry or a free one, once no call reads the descriptor with a target, or that one takes too long; null when
  /// there is none.
  Entry* await_plain(cublas_lt::Descriptor descriptor);
  void clear_target(Entry& entry, const AttributeCalls& calls);

  std::mutex mutex_;
  pthread_cond_t cleared_ = PTHREAD_COND_INITIALIZER;  // not the standard one, which is no part of the C library
  std::array<Entry, 64> entries_{};
};

/// A matmul descriptor while a call of the library reads it, with an SM target of ours or without. Threads may share a descriptor.
/// A call with a target is alone with it, so that no call sees the value change or gets another one's answer.
/// Others wait meanwhile, as long as the library takes to enqueue a product or to choose an algorithm. It may take for ever: a full
/// queue of one device may wait for what another thread enqueues on another. Then the others go on, with the target as it is, and
/// the last one takes it away.
class DescriptorUse {
 public:
  /// Sets the target unless it is 0, the program has set one, or another call uses the descriptor.
  DescriptorUse(DescriptorTable& table, cublas_lt::Descriptor descriptor, std::uint32_t sms);
  ~DescriptorUse();
  DescriptorUse(const DescriptorUse&) = delete;
  DescriptorUse& operator=(const DescriptorUse&) = delete;

  [[nodiscard]] bool targeted() const { return targeted_; }

  // To call again after a failure that the other setting may be the cause of.
  /// False: the program has set a target, the library takes none, or another call uses the descriptor.
  bool set(std::uint32_t sms);
  void put_back();

 private:
  DescriptorTable& table_;
  AttributeCalls calls_;
  cublas_lt::Descriptor descriptor_;
  bool listed_ = false;
  bool targeted_ = false;
};

}  // namespace elbowroom::interposer::cuda
