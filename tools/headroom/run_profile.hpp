#pragma once

#include <optional>
#include <string>
#include <vector>

#include "headroom/base/quantities.hpp"
#include "headroom/base/result.hpp"
#include "headroom/tune/profile.hpp"
#include "run_controls.hpp"

namespace headroom {

/// What a profile says for a whole program. Its choices are for kinds of cases, and a program has kernels and collectives of many
/// kinds: only what all of its measured choices agree on is taken; what they differ in is named and left alone.
struct ProfileControls {
  RunControls controls;
  std::vector<std::string> left;  ///< "comm_blocks (8, 24)"
};

Result<ProfileControls> controls_of(const Profile& profile);

/// `asked` with what it leaves open filled in from `offered`.
RunControls completed(RunControls asked, const RunControls& offered);

}  // namespace headroom
