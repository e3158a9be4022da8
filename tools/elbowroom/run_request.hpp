#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/base/result.hpp"
#include "run/policy.hpp"
#include "run_backend.hpp"
#include "run_choices.hpp"
#include "run_controls.hpp"
#include "run_tuner.hpp"

namespace elbowroom {

/// Who speaks in what a run says.
inline constexpr std::string_view kRun = "elbowroom run";

/// What `run` is called with.
struct RunArguments {
  std::string policy = "auto";
  std::string backend = "auto";
  std::string profile_file;
  bool learn = false;
  std::string report_file;
  bool verbose = false;
  bool quiet = false;
  bool no_memory = false;
  bool same_bits = false;
  bool gradient_views = false;
  bool energy = false;
  std::vector<std::string> settings;
  std::vector<std::string> caps;
  std::vector<std::string> communication;
  std::vector<std::string> off;
  std::optional<int> sm_target;
};

/// What it is to do.
struct RunRequest {
  std::vector<std::string> command;
  RunControls controls;
  std::string rules;  ///< the same as the interposer reads it
  run::Policy policy = run::Policy::automatic;
  RunBackend backend = RunBackend::cuda;
  std::string durations;              ///< what earlier runs learned, as the interposer reads it
  std::string choices;                ///< what `auto` chose in earlier runs, as the interposer reads it
  std::optional<std::string> memory;  ///< the file that keeps what it chooses in this one
  ChoiceSurroundings surroundings;
  BudgetQuestions budgets;
  std::optional<std::string> same_bits;   ///< who asked for the same results to the bit, as same_bits_asked_by says it
  std::optional<std::string> learn_into;  ///< the profile that takes what this one learns
  std::string report_file;                ///< empty: none
  bool verbose = false;
  bool quiet = false;
  std::optional<std::string> hook;  ///< the folder for Python programs; none: they are left as they are
  bool gradient_views = false;      ///< DDP's gradients may be views of its buckets
  bool energy = false;              ///< joules of a step are measured

  /// `auto` says what it found.
  [[nodiscard]] bool wants_closing() const { return policy == run::Policy::automatic && !quiet; }
  [[nodiscard]] bool wants_report() const {
    return energy || verbose || !report_file.empty() || learn_into || memory || wants_closing();
  }
};

/// `invalid_input` in one line that names the option.
Result<RunRequest> run_request(const RunArguments& arguments, const std::optional<std::vector<std::string>>& command);

}  // namespace elbowroom
