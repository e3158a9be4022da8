#pragma once

#include <string>
#include <vector>

#include "elbowroom/base/result.hpp"
#include "preload/controls.hpp"
#include "preload/variables.hpp"

namespace elbowroom {

class Profile;

}  // namespace elbowroom

namespace elbowroom::preload {

/// What the measured choices of a profile say for a program. What acts on single launches holds for the kernels and products that a
/// choice was made for, where all choices for the same agree. What a process sets once for all its collectives holds where all
/// choices agree.
struct ProfileControls {
  Controls controls;
  std::vector<std::string> left;  ///< choices that are for other programs, and what the rest differs in: "comm_blocks (8, 24)"
};

/// `environment`: the program's. Choices that were made under other settings of the communication library are left.
Result<ProfileControls> controls_of(const Profile& profile, const Variables& environment);

/// `asked` with what it leaves open filled in from `offered`.
Controls completed(Controls asked, const Controls& offered);

}  // namespace elbowroom::preload
