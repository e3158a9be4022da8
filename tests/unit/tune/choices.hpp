#pragma once

#include <variant>

#include "elbowroom/tune/profile.hpp"

namespace elbowroom::testing {

inline PairKey& pair_of(ProfileKey& key) { return std::get<PairKey>(key.what); }
inline const PairKey& pair_of(const ProfileKey& key) { return std::get<PairKey>(key.what); }

/// A made-up choice; equal numbers have equal keys.
inline StoredChoice choice(int number, std::int64_t stored_at = 100) {
  StoredChoice made;
  made.key.surroundings = {Provenance::measured, "h200", "580.65", CommLibrary{"nccl", "2.28.3"}};
  pair_of(made.key).compute = KernelFootprint{Threads(256), Registers(32), Bytes(0), Bytes(0), 1};
  pair_of(made.key).compute_class = {ComputeClass::Unit::bytes, 32, std::nullopt};
  pair_of(made.key).collective = {CollectiveOp::all_reduce, DataType::bf16, std::nullopt, std::nullopt};
  pair_of(made.key).collective_class = {number % 100};
  made.key.ranks = 2 + number / 100;
  made.plan.priority = true;
  made.plan.comm_blocks = Blocks(8);
  made.reason = "12.0 % less time than priority (11.0 to 13.0), drains sooner";
  made.time = Microseconds(880.5);
  made.baseline = Scheme::priority;
  made.baseline_time = Microseconds(1000.25);
  made.trials = 96;
  made.stored_at = stored_at;
  return made;
}

}  // namespace elbowroom::testing
