#pragma once

#include <algorithm>
#include <cstdint>

namespace elbowroom::interposer {

/// The blocks of a cluster run on the SMs of one group. A group has eight SMs at least, and so there are at most `sms /
/// kLeastGroup`.
inline constexpr std::uint32_t kLeastGroup = 8;

/// How many SMs the compute kernels that were launched so far need at once.
class NeededSms {
 public:
  /// A launch. `cooperative`: its blocks, where it is a cooperative one, else 0. `cluster`: blocks per cluster; 1: none.
  void note(std::uint64_t cooperative, std::uint32_t cluster) {
    cooperative_ = std::max(cooperative_, cooperative);
    cluster_ = std::max(cluster_, cluster);
  }
  /// Of `sms`, blocks that go first must leave so many; at least 1. An ordinary kernel ends on one SM at last, and one with
  /// clusters needs a group with room for one. With so many left over, wherever they lie, some group has it. Blocks that go first
  /// overtake no cooperative launch.
  [[nodiscard]] std::uint64_t beside_first(std::uint32_t sms) const {
    return std::uint64_t{cluster_ - 1} * (sms / kLeastGroup) + 1;
  }
  /// Of `sms`, blocks that wait for other ranks must leave so many for all launches to begin; 0: they begin anyhow, where one SM is
  /// free at last. Until all blocks of a cooperative launch may begin, none does, nor anything that is launched behind it.
  [[nodiscard]] std::uint64_t beside_others(std::uint32_t sms) const {
    return std::max(cooperative_, cluster_ == 1 ? 0 : beside_first(sms));
  }

 private:
  std::uint64_t cooperative_ = 0;
  std::uint32_t cluster_ = 1;
};

}  // namespace elbowroom::interposer
