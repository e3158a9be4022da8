#pragma once

#include <cstddef>
#include <vector>

#include "elbowroom/model/step.hpp"

namespace elbowroom::detail {

/// The communicators of a step's operations. Operations of the same ranks share an entry, so that thousands of operations on
/// thousands of ranks take no more than their groups of ranks do.
class CommunicatorTable {
 public:
  explicit CommunicatorTable(const Step& step);

  struct Entry {
    std::size_t first = 0;                   ///< operation of the entry
    std::vector<std::vector<int>> of_ranks;  ///< as communicators_of() gives them
  };

  [[nodiscard]] const std::vector<Entry>& entries() const { return entries_; }
  /// Index of an operation's entry.
  [[nodiscard]] std::size_t entry_of(std::size_t operation) const { return of_operation_[operation]; }
  /// By operation: whether the rank takes part.
  [[nodiscard]] std::vector<bool> has_part(int rank) const;

 private:
  std::vector<Entry> entries_;
  std::vector<std::size_t> of_operation_;
};

}  // namespace elbowroom::detail
