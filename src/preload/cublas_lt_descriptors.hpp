#pragma once

#include <cstdint>

#include "preload/cublas_lt_abi.hpp"

namespace headroom::preload {

/// A matmul descriptor while a call of the library reads it, with an SM target of ours or without. Threads may share a descriptor: a
/// target stays until the last call that began beside it has returned, so that no call sees the value change.
class DescriptorUse {
 public:
  /// Sets the target unless it is 0, the program has set one, or another call uses the descriptor.
  DescriptorUse(cublas_lt::Descriptor descriptor, std::uint32_t sms);
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
  cublas_lt::Descriptor descriptor_;
  bool listed_ = false;
  bool targeted_ = false;
};

}  // namespace headroom::preload
