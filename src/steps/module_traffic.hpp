#pragma once

#include <cstdint>

#include "steps/local_shape.hpp"
#include "steps/step_writer.hpp"

/// Bytes to and from memory of what `Kernels::torch` runs operation by operation: of each operation its operands and its result, 2
/// for an element in bf16 and 4 in f32.
namespace elbowroom::steps {

struct ModuleTraffic {
  std::int64_t forward = 0;
  std::int64_t backward = 0;
};

inline Compute moved(std::int64_t bytes) { return pass(bytes / 2); }

/// One kernel: 4 forward. Backward 6 for the input's gradient, 4 for the weights' and 6 to add the residual's. In f32: cast 6,
/// square 8, mean 4, scale 8, cast 6, weight 4; backward weight 12, cast 6, scale 24, square 16, sum 12, cast 6, residual 6.
inline ModuleTraffic norm_traffic(const LocalShape& shape, const TransformerStep& request) {
  const std::int64_t elements = shape.norm_tokens * shape.hidden;
  return request.norm_in_f32 ? ModuleTraffic{36 * elements, 82 * elements} : ModuleTraffic{4 * elements, 16 * elements};
}

/// A sum of two.
inline std::int64_t residual_traffic(const LocalShape& shape) { return 6 * shape.norm_tokens * shape.hidden; }

/// Queries and keys are rotated: cast to f32, times a complex number, cast back, 20, and 20 their gradients. Keys and values of
/// fewer heads are repeated for all. Of gelu's, gradients of the three are joined, 4. Padding: what is no padding is gathered, 4,
/// of results written among zeros, 6; backward the other way round.
inline ModuleTraffic attention_traffic(const LocalShape& shape, const TransformerStep& request) {
  const std::int64_t rotated = shape.gated ? 20 * (shape.attention + shape.keys()) : 0;
  const std::int64_t repeated = request.decoder.kv_heads < request.decoder.heads ? 4 * (shape.attention + shape.keys()) : 0;
  const std::int64_t side_by_side = shape.gated ? 0 : 4 * shape.qkv;
  const ModuleTraffic padding = request.unpad ? ModuleTraffic{4 * shape.qkv, 6 * shape.qkv} : ModuleTraffic{};
  const ModuleTraffic padded = request.unpad ? ModuleTraffic{6 * shape.attention, 4 * shape.attention} : ModuleTraffic{};
  return {shape.tokens * (rotated + repeated + padding.forward + padded.forward),
          shape.tokens * (rotated + repeated + side_by_side + padding.backward + padded.backward)};
}

/// f32 reads and writes of a logit: a cast and a softmax of twice as much, and backward twice that.
inline constexpr int kLossPasses = 2;
inline constexpr int kLossGradientPasses = 4;

/// gelu: 4 and 6, and the gradients of four matrices are read for those of their biases. Gated: 4 and a product 6; backward 12 and
/// 6, and gradients of the input are added, one for gate and up, two for queries, keys and values.
inline ModuleTraffic activation_traffic(const LocalShape& shape) {
  const std::int64_t elements = shape.tokens * shape.ffn;
  if (shape.gated) { return {10 * elements, 18 * elements + 18 * shape.tokens * shape.hidden}; }
  return {4 * elements, 6 * elements + 2 * shape.tokens * (shape.qkv + shape.up + 2 * shape.hidden)};
}

}  // namespace elbowroom::steps
