#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "elbowroom/base/result.hpp"
#include "preload/controls.hpp"
#include "preload/given.hpp"
#include "preload/variables.hpp"
#include "run/policy.hpp"

namespace elbowroom {

/// Who speaks in what a run says.
inline constexpr std::string_view kRun = "elbowroom run";

/// What `run` is called with.
struct RunArguments {
  std::string policy = "auto";
  std::string backend = "auto";
  std::optional<std::string> profile_file;
  std::optional<std::string> report_file;
  std::optional<std::string> record_file;
  bool verbose = false;
  bool quiet = false;
  bool no_memory = false;
  bool same_bits = false;
  bool gradient_views = false;
  bool energy = false;
  preload::ControlTexts controls;
};

/// What it is to do.
struct RunRequest {
  std::vector<std::string> command;
  run::Policy policy = run::Policy::automatic;
  preload::RunBackend backend = preload::RunBackend::cuda;
  preload::Variables environment;  ///< which the command inherits
  preload::Given given;
  preload::Variables xla;  ///< what the command's XLA is told
  std::string rules;       ///< as the interposer reads them; so are the choices
  std::string choices;     ///< what `auto` chose in earlier runs
  std::optional<std::string> report_file;
  std::optional<std::string> record_file;  ///< takes a recording of a few steps
  bool verbose = false;
  bool quiet = false;
  bool gradient_views = false;  ///< DDP's gradients may be views of its buckets
  bool energy = false;          ///< joules of a step are measured

  bool speaks = true;  ///< it is no other rank than rank 0

  [[nodiscard]] bool wants_closing() const { return speaks && !quiet; }
  [[nodiscard]] bool wants_report() const { return energy || verbose || report_file || given.memory || wants_closing(); }
};

/// The environment of this process, which a command inherits.
preload::Variables own_environment();

/// `invalid_input` in one line that names the option.
Result<RunRequest> run_request(const RunArguments& arguments, const std::optional<std::vector<std::string>>& command);

}  // namespace elbowroom
