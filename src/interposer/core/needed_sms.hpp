#pragma once

#include <algorithm>
#include <cstdint>

namespace elbowroom::interposer {

/// The blocks of a cluster run on the SMs of one group. A group has eight SMs at least, and so there are at most `sms /
/// kLeastGroup`.
inline constexpr std::uint32_t kLeastGroup = 8;

/// How many SMs the compute kernels that were launched so far need at once before they can end. Blocks that go first must leave
/// them these. An ordinary kernel ends on one SM at last. A cooperative one needs all its blocks at once, and a block may take a
/// whole SM.
class NeededSms {
 public:
  /// A launch. `cooperative`: its blocks, where it is a cooperative one, else 0. `cluster`: blocks per cluster; 1: none.
  void note(std::uint64_t cooperative, std::uint32_t cluster) {
    cooperative_ = std::max(cooperative_, cooperative);
    cluster_ = std::max(cluster_, cluster);
  }
  /// Blocks of one cooperative launch, at most: each may hold an SM until the others have theirs.
  [[nodiscard]] std::uint64_t cooperative() const { return cooperative_; }
  /// Of `sms`; at least 1. With so many left over, wherever they lie, some group has room for a cluster.
  [[nodiscard]] std::uint64_t of(std::uint32_t sms) const {
    return std::max(cooperative_, std::uint64_t{cluster_ - 1} * (sms / kLeastGroup) + 1);
  }

 private:
  std::uint64_t cooperative_ = 0;
  std::uint32_t cluster_ = 1;
};

}  // namespace elbowroom::interposer
