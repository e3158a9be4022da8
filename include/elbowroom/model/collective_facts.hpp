#pragma once

#include <span>
#include <string_view>

#include "elbowroom/base/export.hpp"
#include "elbowroom/model/scenario.hpp"

namespace elbowroom {

/// What is known of a collective operation and of how communication libraries carry it out. One row for each operation.
struct CollectiveFacts {
  CollectiveOp op;
  std::string_view name;  ///< in documents
  bool sends_whole;       ///< a rank's send buffer has the collective's bytes; otherwise its share of them, bytes / gpus
  bool receives_whole;    ///< and its receive buffer
  /// Bytes that a rank sends to its peers, of the collective's.
  double (*sent)(double bytes, int gpus);
  bool reduces;    ///< it adds what ranks send
  bool exchanges;  ///< the library has it as sends and receives, whose kernel takes other blocks and no number of threads
  /// How much copy engines can carry: all of it, or the half that gathers what kernels have added.
  enum class Engines { nothing, gathering_half, all } engines;
  std::string_view no_engines;         ///< why they carry nothing
  std::string_view without_symmetric;  ///< what of the library has no kernel on symmetric memory for it; empty: there is one
};

/// In the order of CollectiveOp.
ELBOWROOM_API std::span<const CollectiveFacts> collectives();

ELBOWROOM_API const CollectiveFacts& facts_of(CollectiveOp op);

}  // namespace elbowroom
