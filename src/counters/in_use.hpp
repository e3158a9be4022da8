#pragma once

namespace elbowroom::counters {

/// A vendor's library in use for a scope. `code` is what its beginning said, 0 for success; then `end` ends it.
class InUse {
 public:
  InUse(int code, int (*end)()) : code_(code), end_(end) {}
  ~InUse() {
    if (code_ == 0) { end_(); }
  }
  InUse(const InUse&) = delete;
  InUse& operator=(const InUse&) = delete;
  [[nodiscard]] int code() const { return code_; }

 private:
  int code_;
  int (*end_)();
};

}  // namespace elbowroom::counters
