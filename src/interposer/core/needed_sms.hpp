#pragma once

#include <algorithm>
#include <cstdint>

namespace elbowroom::interposer {

/// The blocks of a cluster run on the SMs of one group. A group has eight SMs at least, and so there are at most `sms /
/// kLeastGroup`.
inline constexpr std::uint32_t kLeastGroup = 8;

/// How many SMs the compute kernels that were launched so far need at once. Blocks that go first must leave them these. An ordinary
/// kernel ends on one SM at last, and one with clusters needs a group with room for one.
class NeededSms {
 public:
  /// A launch. `cluster`: blocks per cluster; 1: none.
  void note(std::uint32_t cluster) { cluster_ = std::max(cluster_, cluster); }
  /// Of `sms`; at least 1. With so many left over, wherever they lie, some group has room for a cluster.
  [[nodiscard]] std::uint64_t of(std::uint32_t sms) const { return std::uint64_t{cluster_ - 1} * (sms / kLeastGroup) + 1; }

 private:
  std::uint32_t cluster_ = 1;
};

}  // namespace elbowroom::interposer
