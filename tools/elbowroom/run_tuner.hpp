#pragma once

#include <optional>
#include <string>

#include "child_process.hpp"
#include "run/policy.hpp"
#include "run_backend.hpp"
#include "run_controls.hpp"

namespace elbowroom {

/// Whether NCCL asks the preloaded library about each collective, and why `auto` compares no budgets where it could.
struct BudgetQuestions {
  bool asked = false;
  std::optional<std::string> left_out = {};  ///< absent: they are compared, or nobody compares

  friend bool operator==(const BudgetQuestions&, const BudgetQuestions&) = default;
};

/// A budget of the command line asks in any case. `auto` asks for its own comparison, unless it was told not to or the same bits
/// are wanted. It does not either where the user decided about blocks, or about a policy that acts only without a plugin.
/// `same_bits`: who asked for them.
BudgetQuestions budget_questions(run::Policy policy, RunBackend backend, const RunControls& controls,
                                 const std::optional<std::string>& same_bits);

/// The environment that makes NCCL ask. It has the library as NCCL's tuner plugin, what the plugin was before, and the job's name,
/// by which its ranks find each other: `own`, or one name for all ranks that a launcher started with a run of each their own.
EnvironmentChanges tuner_environment(const std::string& library, const std::string& own);

}  // namespace elbowroom
