#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "elbowroom/base/export.hpp"
#include "elbowroom/model/scenario.hpp"

namespace elbowroom {

/// What one rank of a collective has, in elements: the reference of every backend that moves data. Ranks are numbered as in the
/// communicator.
struct RankData {
  std::int64_t sent = 0;      ///< in its send buffer
  std::int64_t received = 0;  ///< in its receive buffer, by the end: the same from each sender, one after the other, or their sum
  bool sums = false;
  int first_sender = 0;
  int senders = 0;          ///< ranks in a row
  std::int64_t offset = 0;  ///< of what it gets in each sender's buffer
  bool operator==(const RankData&) const = default;

  /// That it gets of one sender.
  [[nodiscard]] std::int64_t of_each() const { return sums || senders == 0 ? received : received / senders; }
};

/// What is known of a collective operation and of how communication libraries carry it out. One row for each operation.
struct CollectiveFacts {
  CollectiveOp op;
  std::string_view name;          ///< in documents
  bool divides = true;            ///< each rank has an equal share of the bytes
  std::optional<int> ranks = {};  ///< that it takes; absent: any number
  /// What a document says of it beside its bytes.
  enum class Takes { nothing, root, shares } takes = Takes::nothing;
  RankData (*data)(const Collective& collective, int ranks, int rank);
  /// Bytes that the busiest rank moves over its links in one direction.
  double (*sent)(const Collective& collective, int ranks);
  bool reduces = false;    ///< it adds what ranks send
  bool exchanges = false;  ///< the library has it as sends and receives, whose kernel takes other blocks and no number of threads
  /// How much copy engines can carry: all of it, or the half that gathers what kernels have added.
  enum class Engines { nothing, gathering_half, all } engines = Engines::nothing;
  /// Kernels add before copy engines gather, so it has blocks whoever moves the rest.
  [[nodiscard]] bool adds_before_copies() const { return engines == Engines::gathering_half; }
  std::optional<std::string_view> no_engines = {};         ///< why they carry nothing
  std::optional<std::string_view> without_symmetric = {};  ///< what of the library has no kernel on symmetric memory for it
  Blocks symmetric_blocks{9};  ///< that such a kernel, where there is one, takes by itself (NCCL 2.28 on two H200)
};

/// In the order of CollectiveOp.
ELBOWROOM_API std::span<const CollectiveFacts> collectives();

ELBOWROOM_API const CollectiveFacts& facts_of(CollectiveOp op);

}  // namespace elbowroom
