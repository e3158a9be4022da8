#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "backend_sim/launch_models.hpp"
#include "backend_sim/rank_speeds.hpp"
#include "backend_sim/run_noise.hpp"
#include "backend_sim/sim_program.hpp"
#include "elbowroom/backend/backend.hpp"
#include "elbowroom/model/rank_classes.hpp"
#include "elbowroom/network/machine.hpp"

namespace elbowroom::sim {

/// A step on simulated devices. Nothing is allocated. But for noise the same question has the same answer, so answers are kept.
class SimWorkload final : public Workload {
 public:
  /// `step` is valid. `noise` scatters the times of run(), in the order of the calls. A question whose simulation takes longer than
  /// `time_limit` of the host's time is answered by an error. `machine`: what joins hosts; absent: there is one. `speeds`: by rank;
  /// empty: all GPUs are equal.
  static Result<std::unique_ptr<SimWorkload>> make(const Step& step, const DeviceLimits& device, const RunNoise& noise,
                                                   std::chrono::milliseconds time_limit,
                                                   const std::optional<MachineSpec>& machine = {},
                                                   const std::vector<RankSpeed>& speeds = {});

  [[nodiscard]] const Step& step() const override { return step_; }
  [[nodiscard]] const ComputeFacts& compute(int operation) const override { return models_.facts(operation); }
  [[nodiscard]] const Capabilities& capabilities() const override { return models_.capabilities(); }
  [[nodiscard]] Status accepts(const Program& program) const override;
  Result<Microseconds> run(const Program& program) override;
  /// One device of each class of ranks is simulated; its spans stand for all of the class. Of more ranks than a host has the first
  /// of each class is shown.
  Result<Timeline> record(const Program& program) override;
  /// The simulator computes no data: succeeds for every program that could run.
  Status verify(const Program& program) override;

 private:
  SimWorkload(const Step& step, LaunchModels models, const DeviceLimits& device, const RunNoise& noise,
              std::chrono::milliseconds time_limit, UnequalClasses classes)
      : step_(step),
        classes_(std::move(classes.classes)),
        speeds_(std::move(classes.speeds)),
        models_(std::move(models)),
        device_(device),
        noise_(noise),
        time_limit_(time_limit) {}

  struct Answer {
    SimProgram program;
    SimRun run;
  };

  Result<const Answer*> answer(const Program& program);

  Step step_;
  RankClasses classes_;
  std::vector<RankSpeed> speeds_;  ///< by class; empty: all GPUs are equal
  LaunchModels models_;
  DeviceLimits device_;
  RunNoise noise_;
  std::chrono::milliseconds time_limit_;
  std::map<Program, Answer> answers_;
};

}  // namespace elbowroom::sim
