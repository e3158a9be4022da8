#pragma once

#include <cstdint>

#include "elbowroom/steps/transformer.hpp"

namespace elbowroom::steps {

/// Sides of a library's products are multiples of this.
inline constexpr std::int64_t kProductSide = 8;

/// A decoder as one rank sees it: sizes are shares.
struct LocalShape {
  std::int64_t tokens = 0;       ///< of a micro-batch
  std::int64_t norm_tokens = 0;  ///< of these between the parts that tensor parallelism shares
  std::int64_t sequence = 0;
  std::int64_t attended = 0;  ///< tokens of a sequence, more where fused attention is slower than a product
  std::int64_t hidden = 0;
  std::int64_t head = 0;       ///< columns of one
  std::int64_t attention = 0;  ///< columns of this rank's heads
  std::int64_t qkv = 0;        ///< with those of their keys and values
  std::int64_t ffn = 0;
  std::int64_t up = 0;  ///< columns of the first product of a feed-forward network
  std::int64_t vocabulary = 0;
  bool gated = false;

  [[nodiscard]] std::int64_t keys() const { return (qkv - attention) / 2; }  ///< columns, of values as many
};

/// Tokens that attend to each other: as many as are asked for, or the decoder's longest sequence, at most a micro-batch.
std::int64_t sequence_of(const TransformerStep& request);

/// `request` has passed check().
LocalShape local_shape(const TransformerStep& request);

/// Bytes of so many bf16 elements.
constexpr std::int64_t bf16_bytes(std::int64_t elements) { return 2 * elements; }

/// What the activation of `rows` tokens reads, and writes on average as much. It is one operand and one result for gelu, two and
/// one for a gated one.
inline std::int64_t activation_bytes(const LocalShape& shape, std::int64_t rows) {
  return rows * shape.ffn * (shape.gated ? 3 : 2);
}

/// The same of its gradient: two and one, three and two.
inline std::int64_t activation_gradient_bytes(const LocalShape& shape, std::int64_t rows) {
  return rows * shape.ffn * (shape.gated ? 5 : 3);
}

/// Two operands and two results: the residual and what is normalised.
inline std::int64_t norm_bytes(const LocalShape& shape) { return 2 * bf16_bytes(shape.norm_tokens * shape.hidden); }

}  // namespace elbowroom::steps
