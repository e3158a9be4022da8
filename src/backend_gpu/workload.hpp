#pragma once

#include <chrono>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "backend_gpu/on_devices.hpp"
#include "elbowroom/backend/backend.hpp"
#include "elbowroom/plan/capabilities.hpp"
#include "elbowroom/plan/compute_facts.hpp"

namespace elbowroom::gpu {

/// Runs a step on its devices: how a program is enqueued is backend/schedule.hpp's, with which calls schedule_calls.hpp's.
class GpuWorkload final : public Workload {
 public:
  static Result<std::unique_ptr<Workload>> make(const Step& step, const Machine& machine, const BackendOptions& options);

  [[nodiscard]] const Step& step() const override { return step_; }
  [[nodiscard]] const ComputeFacts& compute(int operation) const override { return facts_[static_cast<std::size_t>(operation)]; }
  [[nodiscard]] const Capabilities& capabilities() const override { return can_; }
  [[nodiscard]] Status accepts(const Program& program) const override;
  Result<Microseconds> run(const Program& program) override;
  Result<Timeline> record(const Program& program) override;
  Status verify(const Program& program) override;
  Result<std::string> bootstrap(const Program& program) override;
  Status join(const Program& program, std::string_view ids) override;

 private:
  GpuWorkload(const Step& step, std::unique_ptr<OnDevices> on_devices, std::chrono::milliseconds time_limit);

  /// Runs each kind of launch that was never run before, unheld: it loads kernels and connects communicators.
  Status warm(const Program& program);
  Result<Microseconds> run_warmed(const Program& program);
  Status verify_warmed(const Program& program);
  /// All that run(), record() and verify() of the program go over and that was never given an id.
  [[nodiscard]] Result<std::vector<CommKey>> without_id(const Program& program) const;
  /// Passes `ended` on; when it is a failure, aborts all collectives and leaves the devices alone from then on.
  Status or_give_up(Status ended);

  Step step_;
  std::chrono::milliseconds time_limit_;
  Capabilities can_;
  std::vector<ComputeFacts> facts_;  ///< by operation
  /// Given up without being freed when a schedule does not end: freeing would wait for it.
  std::unique_ptr<OnDevices> on_devices_;
  std::set<Program> warmed_;  ///< their kinds of launches
};

}  // namespace elbowroom::gpu
