#include "steps/attention.hpp"

namespace elbowroom::steps {

// All heads of all sequences below each other.
std::int64_t Attention::rows() const { return shape_.tokens * (shape_.attention / shape_.head); }

// Fused causal attention does half of two products of tokens x sequence x head for each head: as much as one product of these
// sides, and takes as long where it is as fast. The other way makes all scores, masked or not, and drops some of the probabilities
// by a mask of one byte.
Ends Attention::forward(const std::string& name, const Ends& flow) {
  if (kernels_ != Kernels::eager) {
    return {writer_.compute(name, product(shape_.tokens, shape_.attention, shape_.attended), flow)};
  }
  Ends made{writer_.compute(name + ".scores", product(rows(), shape_.sequence, shape_.head), flow)};
  made = {writer_.compute(name + ".softmax", pass(bf16_bytes(scores())), made)};
  made = {writer_.compute(name + ".dropout", pass(scores() * 5 / 2), made)};
  made = {writer_.compute(name, product(rows(), shape_.head, shape_.sequence), made)};
  return {writer_.compute(name + ".transpose", pass(bf16_bytes(shape_.tokens * shape_.attention)), made)};
}

// Fused, its backward pass does five such products: the scores once more, and four gradients.
Ends Attention::backward(const std::string& name, const Ends& flow) {
  if (kernels_ != Kernels::eager) {
    return {writer_.compute(name + ".dx", product(shape_.tokens, shape_.attention, shape_.attended * 5 / 2), flow)};
  }
  const std::int64_t columns = bf16_bytes(shape_.tokens * shape_.attention);
  Ends made{writer_.compute(name + ".transpose.dx", pass(columns), flow)};
  made = {writer_.compute(name + ".dropout.product.dx", product(rows(), shape_.sequence, shape_.head), made)};
  made = {writer_.compute(name + ".values.dx", product(rows(), shape_.head, shape_.sequence), made)};
  made = {writer_.compute(name + ".dropout.dx", pass(scores() * 5 / 2), made)};
  made = {writer_.compute(name + ".softmax.dx", pass(3 * scores()), made)};
  made = {writer_.compute(name + ".queries.dx", product(rows(), shape_.head, shape_.sequence), made)};
  made = {writer_.compute(name + ".keys.dx", product(rows(), shape_.head, shape_.sequence), made)};
  // Three parts, each transposed and then put side by side, and the sums of the bias.
  return {writer_.compute(name + ".join.dx", pass(9 * columns / 2), made)};
}

}  // namespace elbowroom::steps
