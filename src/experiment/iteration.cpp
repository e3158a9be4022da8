#include "elbowroom/experiment/iteration.hpp"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string_view>
#include <variant>

#include "elbowroom/network/ring_time.hpp"
#include "elbowroom/plan/launch_settings.hpp"
#include "elbowroom/plan/program.hpp"
#include "elbowroom/steps/micro_batch.hpp"
#include "experiment/stages.hpp"

namespace elbowroom {
namespace {

using detail::StageTime;

// Adam in bf16 with f32 masters, as steps write it.
constexpr std::int64_t kUpdateBytes = 14;

/// What the mesh of a step counts along: pp, dp, tp, the last one first.
struct Places {
  RingPlace tensor;
  RingPlace replicas;
  RingPlace ends;  ///< first and last stage
  bool neighbours_within_host = false;

  Places(const Parallelism& parallel, const MachineSpec& machine)
      : tensor(ring_place(parallel.tp, 1, machine)),
        replicas(ring_place(parallel.dp, parallel.tp, machine)),
        ends(parallel.pp == 1 ? RingPlace{} : ring_place(2, parallel.tp * parallel.dp * (parallel.pp - 1), machine)),
        neighbours_within_host(parallel.tp * parallel.dp < machine.host_gpus) {}
};

class IterationModel {
 public:
  IterationModel(const TransformerStep& request, const MachineSpec& machine, KernelTimes& kernels, const MicroBatch& work)
      : request_(request), machine_(machine), kernels_(kernels), work_(work), places_(request.parallel, machine) {}

  Result<IterationTime> time() {
    Result<std::vector<StageTime>> stages = stage_times();
    if (!stages) { return stages.error(); }
    IterationTime made;
    made.pipeline = detail::pipeline_time(request_.parallel, *stages, send_time());
    made.gradients = gradient_time();
    const Result<Microseconds> updated = update_time();
    if (!updated) { return updated.error(); }
    made.optimizer = *updated;
    return made;
  }

 private:
  Result<Microseconds> duration(const Operation& operation) {
    if (const auto* kernel = std::get_if<Compute>(&operation.what)) { return kernels_.of(*kernel); }
    return all_reduce_time(std::get<Collective>(operation.what).bytes, places_.tensor, machine_);
  }

  Result<Microseconds> pass_time(const std::vector<Operation>& operations) {
    Microseconds device{0};
    Microseconds host{0};
    for (const Operation& operation : operations) {
      const Result<Microseconds> one = duration(operation);
      if (!one) { return one.error(); }
      device += *one;
      host += operation.host_gap;
    }
    return std::max(device, host);
  }

  Result<StageTime> part_time(const PartWork& part) {
    const Result<Microseconds> forward = pass_time(part.forward);
    if (!forward) { return forward.error(); }
    const Result<Microseconds> backward = pass_time(part.backward);
    if (!backward) { return backward.error(); }
    return StageTime{*forward, *backward};
  }

  Result<std::vector<StageTime>> stage_times() {
    const Result<StageTime> layer = part_time(work_.layer);
    if (!layer) { return layer.error(); }
    const double layers = static_cast<double>(request_.decoder.layers) / request_.parallel.pp;
    std::vector<StageTime> stages(static_cast<std::size_t>(request_.parallel.pp),
                                  {layer->forward * layers, layer->backward * layers});
    if (request_.decoder.vocabulary == 0) { return stages; }
    const Result<StageTime> embedding = part_time(work_.embedding);
    if (!embedding) { return embedding.error(); }
    const Result<StageTime> head = part_time(work_.head);
    if (!head) { return head.error(); }
    stages.front().forward += embedding->forward;
    stages.front().backward += embedding->backward;
    stages.back().forward += head->forward;
    stages.back().backward += head->backward;
    return stages;
  }

  // Ranks that share matrices send a share each, and gather the whole on their host.
  [[nodiscard]] Microseconds send_time() const {
    const int tp = request_.parallel.tp;
    const Bytes share = work_.activations / tp;
    Microseconds time = request_.host_send + message_time(share, places_.neighbours_within_host, machine_);
    if (!places_.neighbours_within_host) {
      time += Microseconds(static_cast<double>((work_.activations - share).count()) / machine_.links.rate);
    }
    return time;
  }

  /// Of a rank of the stage that has most.
  [[nodiscard]] std::int64_t parameters() const {
    const std::int64_t layers = request_.decoder.layers / request_.parallel.pp * work_.layer.parameters;
    const std::int64_t ends = work_.embedding.parameters;
    if (request_.parallel.pp == 1) { return layers + ends + work_.head.parameters; }
    return layers + std::max(ends, work_.head.parameters);
  }

  [[nodiscard]] Microseconds gradient_time() const {
    const Bytes element = size_of(request_.gradients);
    const Microseconds added = all_reduce_time(parameters() * element, places_.replicas, machine_);
    if (!request_.decoder.tied || request_.parallel.pp == 1) { return added; }
    return added + all_reduce_time(work_.embedding.parameters * element, places_.ends, machine_);
  }

  // By the rate of a kernel that is large enough to reach it.
  Result<Microseconds> update_time() {
    if (!request_.optimizer) { return Microseconds(0); }
    constexpr Bytes sample = mebibytes(256);
    const Result<Microseconds> time = kernels_.of(Elementwise{ElementwiseOp::copy, DataType::bf16, sample});
    if (!time) { return time.error(); }
    return *time * (static_cast<double>(parameters() * kUpdateBytes) / static_cast<double>(sample.count()));
  }

  const TransformerStep& request_;
  const MachineSpec& machine_;
  KernelTimes& kernels_;
  const MicroBatch& work_;
  const Places places_;
};

Status describable(const TransformerStep& request) {
  const Parallelism& parallel = request.parallel;
  std::string_view reason;
  if (request.decoder.experts > 0) { reason = "experts"; }
  if (parallel.fsdp > 1) { reason = "sharded parameters"; }
  if (parallel.two_batch) { reason = "micro-batches in pairs"; }
  if (parallel.schedule == PipelineSchedule::interleaved) { reason = "interleaved stages"; }
  if (parallel.sequence_parallel) { reason = "sequence parallelism"; }
  if (request.compression.kind != GradientCompression::Kind::none) { reason = "compressed gradients"; }
  if (!reason.empty()) { return invalid_input(std::string(reason) + ": not described by classes of layers and stages"); }
  if (request.decoder.layers % parallel.pp != 0) { return invalid_input("layers: expected a multiple of the stages"); }
  return {};
}

}  // namespace

Result<Microseconds> KernelTimes::of(const Compute& kernel) {
  const auto known = std::ranges::find(known_, kernel, &std::pair<Compute, Microseconds>::first);
  if (known != known_.end()) { return known->second; }
  Step step;
  step.name = "alone";
  step.ranks = 2;
  step.operations.push_back({"kernel", kernel, {}, {}, {}, {}, {}, {}, Microseconds(0)});
  Result<std::unique_ptr<Workload>> workload = backend_.prepare(step);
  if (!workload) { return workload.error(); }
  Program program{{Lane{"alone", false, std::nullopt}}, {}};
  std::vector<Microseconds> times;
  for (int launches = 1; launches <= 2; ++launches) {
    Launch launch;
    launch.settings = ComputeSettings{};
    program.launches.push_back(launch);
    const Result<Microseconds> ran = (*workload)->run(program);
    if (!ran) { return ran.error(); }
    times.push_back(*ran);
  }
  return known_.emplace_back(kernel, times.back() - times.front()).second;
}

Result<IterationTime> iteration_time(const TransformerStep& request, const MachineSpec& machine, KernelTimes& kernels) {
  if (Status described = describable(request); !described) { return described.error(); }
  const Result<MicroBatch> work = micro_batch_of(request);
  if (!work) { return work.error(); }
  return IterationModel(request, machine, kernels, *work).time();
}

}  // namespace elbowroom
