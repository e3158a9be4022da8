#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace elbowroom::run {

/// Spans of a sequence of kernels that hold the same ones: a program's steps. Each begins with a kernel that each has once.
struct RepeatingSpans {
  std::size_t length = 0;           ///< kernels of each
  std::vector<std::size_t> begins;  ///< ascending; span and next span may have others between them
  std::size_t others = 0;           ///< spans between these kernels that hold anything else

  [[nodiscard]] std::size_t covered() const { return length * begins.size(); }
};

struct SpanLimits {
  std::size_t least_length = 1;
  std::size_t least_covered = 0;  ///< kernels of all spans together
};

/// The spans between the kernel that comes least often, at least three times and still in the later half. Three in five of them
/// must be alike. The order within a span does not matter: kernels of two streams change places, and a recording may lack the
/// newest ones of one thread.
std::optional<RepeatingSpans> repeating_spans(const std::vector<std::uint64_t>& keys, const SpanLimits& limits);

}  // namespace elbowroom::run
