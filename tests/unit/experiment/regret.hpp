#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "elbowroom/backend/registry.hpp"
#include "elbowroom/experiment/search.hpp"
#include "elbowroom/plan/compute_facts.hpp"
#include "elbowroom/plan/program.hpp"
#include "elbowroom/trace/timeline.hpp"

// How far a search of few candidates stays behind an exhaustive one, on the simulator, which answers thousands of times a second.
namespace elbowroom::testing {

/// What the search knows beforehand.
enum class Prior {
  none,
  distorted,  ///< the simulator's times, each wrong by up to 20 %, always in the same way
};

struct RegretSettings {
  Prior prior = Prior::none;
  double noise = 0.01;  ///< standard deviation of a trial's time
  std::uint64_t seed = 1;
  int most_candidates = 24;
};

/// A workload that several cases ask, which keeps its answers.
class SharedWorkload : public Workload {
 public:
  explicit SharedWorkload(std::shared_ptr<Workload> workload) : workload_(std::move(workload)) {}

  [[nodiscard]] const Step& step() const override { return workload_->step(); }
  [[nodiscard]] const ComputeFacts& compute(int operation) const override { return workload_->compute(operation); }
  [[nodiscard]] const Capabilities& capabilities() const override { return workload_->capabilities(); }
  [[nodiscard]] Status accepts(const Program& program) const override { return workload_->accepts(program); }
  Result<Microseconds> run(const Program& program) override { return workload_->run(program); }
  Result<Timeline> record(const Program& program) override { return workload_->record(program); }
  Status verify(const Program& program) override { return workload_->verify(program); }

 private:
  std::shared_ptr<Workload> workload_;
};

/// Its times, each a little wrong.
class NoisyWorkload final : public SharedWorkload {
 public:
  NoisyWorkload(std::shared_ptr<Workload> workload, const RegretSettings& settings)
      : SharedWorkload(std::move(workload)), random_(settings.seed), spread_(1, settings.noise) {}

  Result<Microseconds> run(const Program& program) override {
    const Result<Microseconds> time = SharedWorkload::run(program);
    return time ? Result<Microseconds>(*time * spread_(random_)) : time;
  }

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> spread_;
};

/// Every plan of a scenario, run.
struct Exhausted {
  Scenario scenario;
  std::shared_ptr<Workload> workload;
  CandidateSpace space;
  Predictor truth;       ///< without noise; answers are kept
  std::size_t grid = 0;  ///< plans that ran
  Microseconds concurrent{0};
  Microseconds best{std::numeric_limits<double>::infinity()};
  OverlapPlan best_plan{};
};

/// A search's answer.
struct Regret {
  std::size_t measured = 0;  ///< candidates
  Microseconds found{0};     ///< true time of what it chose
  OverlapPlan found_plan;
  double regret = 0;
};

/// The simulator's time without noise; answers are kept by the case.
inline Predictor true_times(const std::shared_ptr<CaseTrials>& trials) {
  return [trials](Scheme scheme, const OverlapPlan& plan) { return trials->run(order_of(scheme), plan); };
}

/// As `tune` makes it: without what the machine refuses.
inline CandidateSpace space_of(const std::shared_ptr<CaseTrials>& trials) {
  return CandidateSpace(*trials->site(), [trials](const OverlapPlan& plan) { return trials->accepts(plan); });
}

inline Predictor distorted(const Predictor& truth) {
  return [truth](Scheme scheme, const OverlapPlan& plan) -> Result<Microseconds> {
    const Result<Microseconds> time = truth(scheme, plan);
    if (!time) { return time; }
    std::mt19937_64 fixed(std::hash<std::string>{}(in_words(plan)));
    return *time * std::uniform_real_distribution<double>(0.8, 1.2)(fixed);
  };
}

inline Exhausted exhaust(const Scenario& scenario, const std::string& device) {
  BackendOptions options;
  options.device = device;
  const auto backend = open_backend("sim", options);
  const std::shared_ptr<Workload> workload = *(*backend)->prepare(scenario);
  const auto trials =
      std::make_shared<CaseTrials>(scenario, (*backend)->devices().front().limits, std::make_unique<SharedWorkload>(workload));
  Exhausted all{scenario, workload, space_of(trials), true_times(trials)};
  for (const Candidate& candidate : all.space.every()) {
    const Result<Microseconds> time = all.truth(candidate.scheme, candidate.plan);
    if (!time) { continue; }
    ++all.grid;
    if (candidate.scheme == Scheme::concurrent) { all.concurrent = *time; }
    if (*time >= all.best) { continue; }
    all.best = *time;
    all.best_plan = candidate.plan;
  }
  return all;
}

inline Regret regret_of(const Exhausted& all, const RegretSettings& settings) {
  const Predictor prior = settings.prior == Prior::none ? Predictor() : distorted(all.truth);
  TunerOptions options;
  options.seed = settings.seed;
  options.most_candidates = settings.most_candidates;
  options.time_limit = Seconds(86'400);  // the clock decides nothing
  Tuner tuner = begin_search(options, all.space, prior);
  CaseTrials trials(all.scenario, all.space.site().device, std::make_unique<NoisyWorkload>(all.workload, settings));
  static_cast<void>(search(tuner, trials, [](const Tuner&) { return Status(); }));
  const Candidate chosen = tuner.candidates()[*tuner.choice()].candidate;
  Regret regret;
  for (const MeasuredCandidate& measured : tuner.candidates()) { regret.measured += measured.times.empty() ? 0 : 1; }
  regret.found = *all.truth(chosen.scheme, chosen.plan);
  regret.found_plan = chosen.plan;
  regret.regret = regret.found / all.best - 1;
  return regret;
}

/// Products and elementwise kernels beside every collective, on 2 and 4 GPUs, memory bound, compute bound and link bound.
inline std::vector<Scenario> regret_scenarios() {
  const auto make = [](std::string name, int gpus, int iterations, Compute compute, CollectiveOp op, std::int64_t mib,
                       Pattern pattern = Pattern::pipeline) {
    return Scenario{std::move(name),    gpus,
                    iterations,         pattern,
                    std::move(compute), Collective{op, mebibytes(mib), DataType::bf16, std::nullopt, std::nullopt}};
  };
  const Elementwise gelu{ElementwiseOp::gelu, DataType::f32, mebibytes(1024)};
  const Elementwise relu{ElementwiseOp::relu, DataType::bf16, mebibytes(512)};
  const LibraryGemm large{8192, 8192, 8192, DataType::bf16};
  const LibraryGemm small{4096, 4096, 4096, DataType::bf16};
  const TiledGemm sgemm{3072, 3072, 3072, 64, 64, 16, std::nullopt, DataType::f32};
  const TiledGemm hgemm{4096, 4096, 4096, 64, 64, 64, std::nullopt, DataType::bf16};
  const TiledGemm looped{8192, 8192, 8192, 64, 64, 32, GridShape{32, 32}, DataType::bf16};
  return {
      make("cublas-8k-ar", 2, 8, large, CollectiveOp::all_reduce, 512),
      make("cublas-4k-ar", 2, 8, small, CollectiveOp::all_reduce, 64),
      make("cublas-8k-ag64", 4, 8, large, CollectiveOp::all_gather, 64),
      make("cublas-8k-rs", 4, 8, large, CollectiveOp::reduce_scatter, 512),
      make("gelu-ar", 2, 4, gelu, CollectiveOp::all_reduce, 128),
      make("gelu-ag", 4, 4, gelu, CollectiveOp::all_gather, 128),
      make("gelu-a2a", 4, 4, gelu, CollectiveOp::all_to_all, 128),
      make("relu-rs", 2, 4, relu, CollectiveOp::reduce_scatter, 64),
      make("relu-ar-link", 2, 4, relu, CollectiveOp::all_reduce, 256),
      make("sgemm-ar", 2, 4, sgemm, CollectiveOp::all_reduce, 512),
      make("sgemm-ar-pair", 2, 1, sgemm, CollectiveOp::all_reduce, 512, Pattern::pair),
      make("hgemm-ar", 4, 4, hgemm, CollectiveOp::all_reduce, 256),
      make("hgemm-a2a", 2, 4, hgemm, CollectiveOp::all_to_all, 256),
      make("hgemm-1024b-ar", 2, 3, looped, CollectiveOp::all_reduce, 896),
  };
}

}  // namespace elbowroom::testing
