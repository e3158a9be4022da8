#include "elbowroom/steps/memory.hpp"

#include <algorithm>
#include <cstdint>

#include "steps/local_shape.hpp"
#include "steps/pipeline_schedule.hpp"

namespace elbowroom {
namespace {

using namespace steps;

// Bytes of bf16 parameters and of Adam's f32 copy and moments.
constexpr std::int64_t kParameter = 2;
constexpr std::int64_t kOptimizer = 12;

/// Of one rank, before replicas share them.
std::int64_t parameters_of_rank(const TransformerStep& request, const LocalShape& shape) {
  const Decoder& decoder = request.decoder;
  const std::int64_t network = shape.hidden * (shape.up + shape.ffn);
  const std::int64_t attention = shape.hidden * (shape.qkv + shape.attention + 2);
  const std::int64_t routed =
      decoder.experts > 0 ? network * (decoder.experts / request.parallel.ep) + shape.hidden * decoder.experts : network;
  // First and last stage hold a matrix of the vocabulary each; one stage holds both, or the one that they share.
  const int ends = request.parallel.pp == 1 && !decoder.tied ? 2 : 1;
  return decoder.layers / request.parallel.pp * (attention + routed) + ends * shape.vocabulary * shape.hidden;
}

/// Of one layer: ten bytes for each token and column on all ranks along tp, 24 that they share, five for each score.
std::int64_t layer_activations(const TransformerStep& request, const LocalShape& shape) {
  const std::int64_t of_all = 10 * shape.norm_tokens * shape.hidden;
  const std::int64_t shared = 24 * shape.tokens * shape.hidden / request.parallel.tp;
  const bool keeps_scores = request.kernels == Kernels::eager && request.recompute == Recompute::none;
  const std::int64_t scores = 5 * shape.tokens * (shape.attention / shape.head) * shape.sequence;
  return of_all + shared + (keeps_scores ? scores : 0);
}

/// The layer's input, queries, values, what attention made, the gate and what leaves the layer.
std::int64_t kept_by_alternate(const LocalShape& shape) {
  return bf16_bytes(shape.tokens * (2 * shape.hidden + 2 * shape.attention + shape.keys() + shape.ffn));
}

std::int64_t activations(const TransformerStep& request, const LocalShape& shape) {
  const Parallelism& parallel = request.parallel;
  const std::int64_t layers = request.decoder.layers / parallel.pp;
  const std::int64_t under_way =
      std::min(parallel.micro, parallel.pp) + (chunks_of(parallel) > 1 ? (parallel.pp - 1) / chunks_of(parallel) : 0);
  const std::int64_t whole = layer_activations(request, shape);
  if (request.recompute == Recompute::alternate) { return under_way * layers * kept_by_alternate(shape) + whole; }
  if (request.recompute != Recompute::full) { return under_way * layers * whole; }
  return under_way * layers * bf16_bytes(shape.norm_tokens * shape.hidden) + whole;
}

}  // namespace

TrainingMemory training_memory(const TransformerStep& request) {
  const LocalShape shape = local_shape(request);
  const std::int64_t parameters = parameters_of_rank(request, shape) / request.parallel.fsdp;
  TrainingMemory memory;
  memory.parameters = Bytes(kParameter * parameters);
  const int zero = request.parallel.zero;
  memory.gradients = size_of(request.gradients) * (parameters / (zero == 2 ? request.parallel.dp : 1));
  memory.optimizer = Bytes(request.optimizer ? kOptimizer * (parameters / (zero > 0 ? request.parallel.dp : 1)) : 0);
  memory.activations = Bytes(activations(request, shape));
  return memory;
}

}  // namespace elbowroom
