#pragma once

#include "interposer/core/core.hpp"

namespace elbowroom::interposer::driver {

/// The scope of a call that orders what is not known before it has returned. Meanwhile no thread's launch is gated.
class Unplaced {
 public:
  explicit Unplaced(Core& core) : core_(core) { core.begin_unplaced(); }
  ~Unplaced() { core_.end_unplaced(); }
  Unplaced(const Unplaced&) = delete;
  Unplaced& operator=(const Unplaced&) = delete;

 private:
  Core& core_;
};

}  // namespace elbowroom::interposer::driver
