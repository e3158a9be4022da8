#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "recorder/cupti.hpp"
#include "recorder/recording.hpp"

namespace elbowroom::recorder {

/// What is recorded. CONCURRENT_KERNEL, since KERNEL makes kernels run one after the other.
inline constexpr std::array kRecorded{CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                      CUPTI_ACTIVITY_KIND_MEMCPY2,           CUPTI_ACTIVITY_KIND_MEMSET,
                                      CUPTI_ACTIVITY_KIND_RUNTIME,           CUPTI_ACTIVITY_KIND_DRIVER,
                                      CUPTI_ACTIVITY_KIND_SYNCHRONIZATION,   CUPTI_ACTIVITY_KIND_CUDA_EVENT};

/// Adds the records of CUPTI's buffers to a recording.
class ActivityReader {
 public:
  explicit ActivityReader(const Cupti& cupti) : cupti_(cupti) {}

  void read(std::uint8_t* buffer, std::size_t valid, Recording& into);
  /// Names of another recording have other numbers.
  void forget() { calls_.clear(); }

 private:
  void add(const CUpti_Activity& record, Recording& into);
  void add_call(const CUpti_ActivityAPI& call, bool driver, Recording& into);

  struct CallName {
    bool matters = false;
    NameId name = 0;
  };

  const Cupti& cupti_;
  std::unordered_map<std::uint64_t, CallName> calls_;  ///< by callback and domain
};

}  // namespace elbowroom::recorder
