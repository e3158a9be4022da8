#pragma once

#include <optional>
#include <string>

#include "elbowroom/base/notice.hpp"
#include "elbowroom/base/result.hpp"
#include "preload/backend.hpp"
#include "preload/choices.hpp"
#include "preload/controls.hpp"
#include "preload/variables.hpp"
#include "run/policy.hpp"
#include "run/rules.hpp"

namespace elbowroom::preload {

struct Offer;

/// What a user asks of a run.
struct Asked {
  run::Policy policy = run::Policy::automatic;
  RunBackend backend = RunBackend::cuda;
  bool names_backend = false;  ///< or it is the one that can be loaded here
  Controls controls = {};
  bool same_bits = false;       ///< of a result
  bool gradient_views = false;  ///< gradients of DistributedDataParallel may be views of its buckets
  bool memory = true;           ///< what `auto` chooses is kept, and what it chose is used
};

/// Where the command is to run.
struct Here {
  Variables environment;
  std::optional<std::string> driver;  ///< version; absent: not known
  std::optional<std::string> hook;    ///< the folder for Python programs; absent: it is not installed, or no path can name it
};

/// What the program is given, and what is kept of it.
struct Given {
  Controls controls;
  run::Rules rules;                      ///< the same as the interposer reads it
  std::optional<std::string> same_bits;  ///< who asked for the same results to the bit, as same_bits_asked_by says it
  std::optional<std::string> hook;       ///< absent: Python programs are left as they are
  ChoiceSurroundings surroundings;       ///< of what `auto` chooses
  std::optional<std::string> memory;     ///< the file that keeps it; absent: nothing is used or kept
};

/// `invalid_input`, in one line that names the option, for what no profile and no machine can make possible.
Status check(const Asked& asked);

/// For what check() lets pass. Says what of the offer is not for the program. `invalid_input` as above.
Result<Given> give(const Asked& asked, const Offer& offer, const Here& here, const NoticeSink& notice);

}  // namespace elbowroom::preload
