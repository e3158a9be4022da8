#pragma once

#include <optional>
#include <string>

#include "preload/backend.hpp"
#include "preload/controls.hpp"
#include "preload/variables.hpp"
#include "run/policy.hpp"

namespace elbowroom::preload {

/// Whether NCCL asks the preloaded library about each collective, and why `auto` compares no budgets where it could.
struct BudgetQuestions {
  bool asked = false;
  std::optional<std::string> left_out = {};  ///< absent: they are compared, or nobody compares

  friend bool operator==(const BudgetQuestions&, const BudgetQuestions&) = default;
};

/// A budget of the command line asks in any case. `auto` asks for its own comparison, unless it was told not to or the same bits
/// are wanted. It does not either where the user decided about blocks, or about a policy that acts only without a plugin.
/// `same_bits`: who asked for them.
BudgetQuestions budget_questions(run::Policy policy, RunBackend backend, const Controls& controls,
                                 const std::optional<std::string>& same_bits, const Variables& environment);

/// What makes NCCL ask. It has the library as NCCL's tuner plugin, what `environment` had there, and the job's name, by which its
/// ranks find each other: `own`, or one name for all where this process `is_one_of_ranks`, whose launcher gave each a run of its
/// own.
Variables tuner_environment(const std::string& library, const std::string& own, bool is_one_of_ranks, const Variables& environment);

}  // namespace elbowroom::preload
