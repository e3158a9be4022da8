#pragma once

#include <optional>
#include <string>
#include <vector>

#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/tune/profile.hpp"
#include "run_controls.hpp"

namespace elbowroom {

/// What the measured choices of a profile say for a program. What acts on single launches holds for the kernels and products that a
/// choice was made for, where all choices for the same agree. What a process sets once for all its collectives holds where all
/// choices agree.
struct ProfileControls {
  RunControls controls;
  std::vector<std::string> left;  ///< choices that are for other programs, and what the rest differs in: "comm_blocks (8, 24)"
};

/// The environment of this process, which the program inherits, in a key's words.
Surroundings own_surroundings();

/// `here`: what the program's environment makes of the communication library; choices made under other settings are left.
Result<ProfileControls> controls_of(const Profile& profile, const Surroundings& here);

/// `asked` with what it leaves open filled in from `offered`.
RunControls completed(RunControls asked, const RunControls& offered);

}  // namespace elbowroom
