#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "elbowroom/backend/registry.hpp"
#include "elbowroom/experiment/case_trials.hpp"
#include "elbowroom/plan/capabilities.hpp"
#include "elbowroom/plan/compute_facts.hpp"
#include "elbowroom/plan/program.hpp"
#include "elbowroom/trace/timeline.hpp"

namespace elbowroom::testing {

/// A simulated H200 without noise: the same question has the same answer.
inline std::unique_ptr<Backend> simulator(const std::string& device = "h200") {
  BackendOptions options;
  options.device = device;
  options.predicts = true;
  return *open_backend("sim", options);
}

/// Two GPUs, two iterations: quick to simulate.
inline Scenario small_case() {
  return {"relu-ar",
          2,
          2,
          Pattern::pipeline,
          Elementwise{ElementwiseOp::relu, DataType::bf16, mebibytes(256)},
          {CollectiveOp::all_reduce, mebibytes(64), DataType::bf16, std::nullopt, std::nullopt}};
}

/// Answers with the times that it was given, in turn, and then for ever with the last one.
class ScriptedWorkload : public Workload {
 public:
  explicit ScriptedWorkload(std::deque<Result<Microseconds>> answers) : answers_(std::move(answers)) {}

  [[nodiscard]] const Step& step() const override { return step_; }
  [[nodiscard]] const ComputeFacts& compute(int) const override { return facts_; }
  [[nodiscard]] const Capabilities& capabilities() const override { return can_; }
  [[nodiscard]] Status accepts(const Program&) const override { return {}; }
  Result<Microseconds> run(const Program& program) override {
    orders.push_back(program.lanes.size() == 1 ? Order::sequential : Order::concurrent);
    const Result<Microseconds> answer = answers_.front();
    if (answers_.size() > 1) { answers_.pop_front(); }
    return answer;
  }
  Result<Timeline> record(const Program&) override { return unavailable("no recorder"); }
  Status verify(const Program&) override { return {}; }

  std::vector<Order> orders;  ///< what was asked for

 private:
  Step step_ = step_of(small_case());
  ComputeFacts facts_;
  Capabilities can_;
  std::deque<Result<Microseconds>> answers_;
};

inline CaseTrials scripted(std::deque<Result<Microseconds>> answers) {
  return {small_case(), simulator()->devices().front().limits, std::make_unique<ScriptedWorkload>(std::move(answers))};
}

/// Keeps what it is told.
struct Told {
  std::vector<std::string> lines;
  NoticeSink sink() {
    return [this](std::string_view line) { lines.emplace_back(line); };
  }
};

}  // namespace elbowroom::testing
