#pragma once

#include <cstdint>
#include <optional>

#include "elbowroom/base/export.hpp"
#include "elbowroom/base/quantities.hpp"
#include "elbowroom/base/result.hpp"
#include "elbowroom/base/time.hpp"
#include "elbowroom/model/step.hpp"
#include "elbowroom/steps/decoder.hpp"

namespace elbowroom {

enum class PipelineSchedule { one_forward_one_backward, interleaved };

/// How ranks share the work; 1: not that way. The mesh has the axes pp, dp, fsdp, ep, tp in this order, without those of size 1.
struct Parallelism {
  int dp = 1;    ///< replicas that add their gradients
  int fsdp = 1;  ///< replicas that hold a share of the parameters each
  int tp = 1;    ///< ranks that share every matrix
  int pp = 1;    ///< stages
  int ep = 1;    ///< ranks with experts and tokens of their own
  int zero = 0;  ///< of Rajbhandari et al. 2019: replicas along dp part the optimizer (1), its gradients too (2); fsdp is stage 3
  bool sequence_parallel = false;
  int micro = 1;           ///< micro-batches
  bool two_batch = false;  ///< they advance in pairs side by side: one computes while the other communicates
  PipelineSchedule schedule = PipelineSchedule::one_forward_one_backward;
  int chunks = 2;  ///< of layers on each stage, where interleaved

  bool operator==(const Parallelism&) const = default;
};

/// How gradients are made smaller before ranks add them.
struct GradientCompression {
  enum class Kind {
    none,
    bf16,      ///< of f32 gradients
    fp8,       ///< one byte and a scale for each bucket; added in f32
    powersgd,  ///< two factors of `rank` for each matrix
    topk,      ///< `share` of the elements, with their positions
  };
  Kind kind = Kind::none;
  int rank = 0;
  double share = 0;

  bool operator==(const GradientCompression&) const = default;
};

/// How a program computes what is not a product. `fused`: attention in one kernel, the residual within the norm, one pass over the
/// logits. `eager`: as Megatron-LM's GPT did, with scores, softmax and dropout in memory and the loss in f32 operation by
/// operation. `torch`: as PyTorch runs modules without a compiler, operation by operation around fused attention.
enum class Kernels { fused, eager, torch };

/// `full`: the backward pass of a layer repeats its forward pass. `selective`: that of its attention. `alternate`: every second
/// product and all that is no product, as torchtitan's selective checkpoints do; attention is kept.
enum class Recompute { none, selective, alternate, full };

/// Copies that PyTorch's FSDP makes around its collectives. `fsdp1`: gradients are joined in one buffer and divided there. `fsdp2`:
/// they are copied into one, and what is gathered out of its own.
enum class ShardCopies { none, fsdp1, fsdp2 };

/// Adam by one kernel for each tensor, or by one for each operation (`foreach`, PyTorch's default).
enum class Adam { fused, foreach };

/// A training step of a decoder, as far as its duration depends on it.
struct TransformerStep {
  Decoder decoder;
  Parallelism parallel;
  GradientCompression compression;
  std::int64_t tokens = 0;               ///< of each replica in a step, over all micro-batches
  std::optional<std::int64_t> sequence;  ///< tokens that attend to each other; absent: the decoder's, at most a micro-batch
  double capacity = 1;                   ///< slots of an expert, of what it gets when all get as much
  double imbalance = 1;                  ///< tokens of the rank with the busiest experts, of the mean
  DataType gradients = DataType::bf16;   ///< in buckets
  Bytes bucket = mebibytes(25);          ///< of gradients that replicas add together
  Kernels kernels = Kernels::fused;
  Recompute recompute = Recompute::none;
  bool norm_in_f32 = false;  ///< of `Kernels::torch`: a cast and an operation each, instead of one kernel
  bool fused_loss = false;   ///< of `Kernels::torch`: one kernel each way, on logits in bf16
  bool unpad = false;        ///< of `Kernels::torch`: padding is looked for and removed around attention, as flash-attn's users do
  ShardCopies shard_copies = ShardCopies::none;
  Adam adam = Adam::fused;
  bool clip = false;            ///< gradients are read for their norm, and scaled
  double attention_rate = 1;    ///< FLOP per second of fused attention, as a share of a product's
  Microseconds host_launch{0};  ///< of the host for an operation of a forward pass, repeated ones among them
  Microseconds host_send{0};    ///< of the host for what a stage sends to its neighbour
  bool optimizer = true;        ///< the step ends with new parameters
  int repeats = 1;
};

/// Forward and backward pass, exchange of gradients and optimizer, as docs/steps.md says of each operation. `invalid_input` where a
/// combination makes no sense, a size does not divide, or the step would be longer than a document may be. Its one line begins with
/// the option of `elbowroom step transformer` that is at fault.
ELBOWROOM_API Result<Step> transformer_step(const TransformerStep& request);

}  // namespace elbowroom
