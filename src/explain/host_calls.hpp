#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "explain/trace.hpp"

namespace elbowroom::explain {

/// The calls of collectives on the host, "nccl:all_reduce". The annotations of the trace are in the order of their begin.
class HostCalls {
 public:
  explicit HostCalls(const Trace& trace) : trace_(trace) {
    for (const Annotation& annotation : trace.annotations) {
      const std::string& name = trace.texts.text(annotation.name);
      if (name.starts_with("nccl:") || name.starts_with("rccl:")) { calls_.push_back(annotation); }
    }
  }

  [[nodiscard]] std::size_t size() const { return calls_.size(); }
  [[nodiscard]] const Annotation& operator[](std::size_t index) const { return calls_[index]; }

  /// The innermost call that the launch of a row lies in; size() where there is none.
  [[nodiscard]] std::size_t around(std::size_t row) const {
    const std::uint32_t launch = trace_.rows.launch[row];
    if (launch == kNone) { return size(); }
    const Time at = trace_.launches.begin[launch];
    auto behind =
        std::upper_bound(calls_.begin(), calls_.end(), at, [](Time time, const Annotation& call) { return time < call.begin; });
    // Calls of other threads may have begun meanwhile, and few of them.
    for (int looked = 0; behind != calls_.begin() && looked < 16; ++looked) {
      --behind;
      if (behind->end >= at && behind->thread == trace_.launches.thread[launch]) {
        return static_cast<std::size_t>(behind - calls_.begin());
      }
    }
    return size();
  }

 private:
  const Trace& trace_;
  std::vector<Annotation> calls_;
};

}  // namespace elbowroom::explain
