#include "steps/local_shape.hpp"

#include <algorithm>
#include <cmath>

namespace elbowroom::steps {
namespace {

// So that two and a half times as much is a product's side.
constexpr std::int64_t kAttended = 16;

}  // namespace

std::int64_t sequence_of(const TransformerStep& request) {
  if (request.sequence) { return *request.sequence; }
  const std::int64_t tokens = request.tokens / std::max(request.parallel.micro, 1);
  return std::min(request.decoder.sequence.value_or(tokens), tokens);
}

LocalShape local_shape(const TransformerStep& request) {
  const Decoder& decoder = request.decoder;
  const Parallelism& parallel = request.parallel;
  const std::int64_t head_size = head_width(decoder);
  LocalShape shape;
  shape.tokens = request.tokens / parallel.micro;
  shape.norm_tokens = parallel.sequence_parallel ? shape.tokens / parallel.tp : shape.tokens;
  shape.sequence = sequence_of(request);
  shape.attended = std::llround(static_cast<double>(shape.sequence) / request.attention_rate / kAttended) * kAttended;
  shape.hidden = decoder.hidden;
  shape.head = head_size;
  shape.attention = decoder.heads * head_size / parallel.tp;
  shape.qkv = shape.attention + 2 * (decoder.kv_heads * head_size) / parallel.tp;
  shape.ffn = decoder.ffn / parallel.tp;
  shape.gated = decoder.activation == Activation::swiglu;
  shape.up = shape.gated ? 2 * shape.ffn : shape.ffn;
  shape.vocabulary = decoder.vocabulary / parallel.tp;
  return shape;
}

}  // namespace elbowroom::steps
