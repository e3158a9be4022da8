#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "elbowroom/base/result.hpp"
#include "preload/variables.hpp"

// XLA puts the buffers of its collectives on symmetric memory where a flag of its asks for that. Another flag for the same has
// come; an unknown one, or a value of another type, aborts the program.
namespace elbowroom::preload {

/// The control of --set.
inline constexpr std::string_view kXlaBuffers = "xla_symmetric_buffers";

struct XlaFlag {
  std::string_view name;
  std::string_view value;
};
/// Those that are known, the one that was measured first.
std::span<const XlaFlag> xla_buffer_flags();

/// Looks in a library, piece by piece, for the flags that it has. A flag's name stands there as a text of its own; fields of
/// messages and names of functions hold it as a part.
class XlaFlagSearch {
 public:
  void add(std::string_view piece);
  /// Whether it has this one of xla_buffer_flags().
  [[nodiscard]] bool has(const XlaFlag& flag) const;

 private:
  std::string last_ = std::string(1, '\0');  ///< of the bytes before the next piece, as many as a name takes
  std::array<bool, 2> seen_ = {};            ///< as in xla_buffer_flags()
};

/// Whether NCCL and the program's own flags leave room for it. `invalid_input`, in one line, where they do not.
Status check_xla_buffers(const Variables& environment);

/// Whether the user's flags say whether they want it.
bool names_xla_buffers(const Variables& environment);

/// XLA_FLAGS with `flag` before the user's, which so prevail.
std::string xla_flags(const XlaFlag& flag, const Variables& environment);

/// Blocks of NCCL's kernels on symmetric memory, measured with XLA; absent where the user chose a number.
std::optional<std::string> xla_symmetric_blocks(const Variables& environment);

}  // namespace elbowroom::preload
