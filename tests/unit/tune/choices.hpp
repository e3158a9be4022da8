#pragma once

#include "elbowroom/tune/profile.hpp"

namespace elbowroom::testing {

/// A made-up choice; equal numbers have equal keys.
inline StoredChoice choice(int number, std::int64_t stored_at = 100) {
  StoredChoice made;
  made.key.surroundings = {Provenance::measured, "h200", "580.65", "nccl 2.28.3"};
  made.key.ranks = 2;
  made.key.pattern = "pipeline";
  made.key.compute = "256x32 0+0 1";
  made.key.compute_class = "2^32 B";
  made.key.collective = "all_reduce bf16";
  made.key.collective_class = "2^" + std::to_string(number) + " B";
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
