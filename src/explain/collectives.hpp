#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "explain/intervals.hpp"
#include "explain/trace.hpp"

namespace elbowroom::explain {

/// One collective on one rank: a kernel, or the copies between devices that belong together.
struct Collective {
  std::size_t row = 0;   ///< its first
  std::size_t rows = 1;  ///< more than one: copies
  Interval time;
  std::optional<Time> launched;
  std::uint32_t stream = 0;  ///< of its first row
  std::string op;            ///< "all_reduce"; "copies" or "collective" where nothing says more
  std::optional<std::int64_t> bytes;
  std::optional<std::int64_t> group_size;
  std::string group;  ///< name and ranks of its group as the trace has them; empty: not said
  std::optional<std::int64_t> sequence;
  std::optional<double> imbalance;  ///< of an uneven all-to-all: the greatest share over the mean
};

/// All of a trace, in the order of their begin.
std::vector<Collective> find_collectives(const Trace& trace);

/// The greatest of "[128, 64]" over the mean; absent for fewer than two numbers, a list that leaves some out, and equal ones.
std::optional<double> imbalance_of(std::string_view split);

}  // namespace elbowroom::explain
