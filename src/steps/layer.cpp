#include "steps/layer.hpp"

#include <fmt/format.h>

#include "steps/experts.hpp"

namespace elbowroom::steps {
namespace {

std::string of_layer(int layer) { return fmt::format("l{}.", layer); }

}  // namespace

Ends Layers::forward(int layer, const Ends& flow) {
  const std::string name = of_layer(layer);
  const Ends attended = attention(name, flow);
  const Ends normed = tensor_.enter(name + "up", {writer_.compute(name + "norm2", pass(norm_bytes(shape_)), attended)});
  const Ends made =
      request_.decoder.experts > 0 ? Experts(writer_, shape_, request_).forward(name, normed) : feed_forward(name, normed);
  return tensor_.leave(name + "down", made);
}

Ends Layers::backward(int layer, const Ends& flow, std::vector<Gradient>& gradients) {
  const std::string name = of_layer(layer);
  const Ends entered = tensor_.leave_backward(name + "down", flow);
  const Ends made = request_.decoder.experts > 0 ? Experts(writer_, shape_, request_).backward(name, entered, tensor_, gradients)
                                                 : feed_forward_backward(name, entered, gradients);
  return attention_backward(name, norm_backward(name + "norm2", made, gradients), gradients);
}

// Fused causal attention does half of two products of tokens x sequence x head for each head: as much as one product of these
// sides.
Ends Layers::attention(const std::string& name, Ends flow) {
  flow = {writer_.compute(name + "norm1", pass(norm_bytes(shape_)), flow)};
  flow = tensor_.enter(name + "qkv", flow);
  flow = {writer_.compute(name + "qkv", product(shape_.tokens, shape_.qkv, shape_.hidden), flow)};
  flow = {writer_.compute(name + "attention", product(shape_.tokens, shape_.attention, shape_.sequence), flow)};
  flow = {writer_.compute(name + "out", product(shape_.tokens, shape_.hidden, shape_.attention), flow)};
  return tensor_.leave(name + "out", flow);
}

// Its backward pass does five such products: the scores once more, and four gradients.
Ends Layers::attention_backward(const std::string& name, Ends flow, std::vector<Gradient>& gradients) {
  flow = tensor_.leave_backward(name + "out", flow);
  const Ends entered = flow;
  flow = {writer_.compute(name + "out.dx", product(shape_.tokens, shape_.attention, shape_.hidden), flow)};
  const int out = writer_.compute(name + "out.dw", product(shape_.attention, shape_.hidden, shape_.tokens), entered);
  gradients.push_back({name + "out", shape_.attention, shape_.hidden, {out}});
  flow = {writer_.compute(name + "attention.dx", product(shape_.tokens, shape_.attention, shape_.sequence * 5 / 2), flow)};
  const Ends attended = flow;
  flow = {writer_.compute(name + "qkv.dx", product(shape_.tokens, shape_.hidden, shape_.qkv), flow)};
  flow = tensor_.enter_backward(name + "qkv", flow);
  const int qkv = writer_.compute(name + "qkv.dw", product(shape_.hidden, shape_.qkv, shape_.tokens), attended);
  gradients.push_back({name + "qkv", shape_.hidden, shape_.qkv, {qkv}});
  return norm_backward(name + "norm1", flow, gradients);
}

Ends Layers::feed_forward(const std::string& name, Ends flow) {
  flow = {writer_.compute(name + "up", product(shape_.tokens, shape_.up, shape_.hidden), flow)};
  flow = {writer_.compute(name + "activation", pass(activation_bytes(shape_, shape_.tokens), ElementwiseOp::gelu), flow)};
  return {writer_.compute(name + "down", product(shape_.tokens, shape_.hidden, shape_.ffn), flow)};
}

Ends Layers::feed_forward_backward(const std::string& name, Ends flow, std::vector<Gradient>& gradients) {
  const Ends entered = flow;
  flow = {writer_.compute(name + "down.dx", product(shape_.tokens, shape_.ffn, shape_.hidden), flow)};
  const int down = writer_.compute(name + "down.dw", product(shape_.ffn, shape_.hidden, shape_.tokens), entered);
  gradients.push_back({name + "down", shape_.ffn, shape_.hidden, {down}});
  flow = {
      writer_.compute(name + "activation.dx", pass(activation_gradient_bytes(shape_, shape_.tokens), ElementwiseOp::gelu), flow)};
  const Ends activated = flow;
  flow = {writer_.compute(name + "up.dx", product(shape_.tokens, shape_.hidden, shape_.up), flow)};
  flow = tensor_.enter_backward(name + "up", flow);
  const int up = writer_.compute(name + "up.dw", product(shape_.hidden, shape_.up, shape_.tokens), activated);
  gradients.push_back({name + "up", shape_.hidden, shape_.up, {up}});
  return flow;
}

Ends Layers::norm_backward(const std::string& name, const Ends& flow, std::vector<Gradient>& gradients) {
  const Ends made{writer_.compute(name + ".dx", pass(norm_bytes(shape_)), flow)};
  gradients.push_back({name, 1, shape_.hidden, made});
  return made;
}

Ends Layers::embed(const Ends& flow) {
  return tensor_.leave("embed", {writer_.compute("embed", pass(bf16_bytes(shape_.tokens * shape_.hidden)), flow)});
}

Ends Layers::embed_backward(const Ends& flow, std::vector<Gradient>& gradients) {
  const Ends entered = tensor_.leave_backward("embed", flow);
  const int made = writer_.compute("embed.dw", pass(bf16_bytes(shape_.tokens * shape_.hidden)), entered);
  gradients.push_back({"embed", shape_.vocabulary, shape_.hidden, {made}});
  return {made};
}

Ends Layers::head(const Ends& flow) {
  const Ends normed = tensor_.enter("head", {writer_.compute("norm", pass(norm_bytes(shape_)), flow)});
  const Ends logits{writer_.compute("head", product(shape_.tokens, shape_.vocabulary, shape_.hidden), normed)};
  Ends loss{writer_.compute("loss", pass(bf16_bytes(shape_.tokens * shape_.vocabulary)), logits)};
  if (request_.parallel.tp == 1) { return loss; }
  // Of each token the greatest logit, the sum of exponentials and the logit of the word that came.
  const Bytes sums = size_of(DataType::f32) * (3 * shape_.tokens);
  return {writer_.collective("loss.all_reduce", CollectiveOp::all_reduce, sums, DataType::f32, {"tp"}, loss)};
}

Ends Layers::head_backward(const Ends& flow, std::vector<Gradient>& gradients) {
  const Ends logits{writer_.compute("loss.dx", pass(bf16_bytes(shape_.tokens * shape_.vocabulary)), flow)};
  Ends entered{writer_.compute("head.dx", product(shape_.tokens, shape_.hidden, shape_.vocabulary), logits)};
  entered = tensor_.enter_backward("head", entered);
  const int made = writer_.compute("head.dw", product(shape_.hidden, shape_.vocabulary, shape_.tokens), logits);
  gradients.push_back({"head", shape_.hidden, shape_.vocabulary, {made}});
  return norm_backward("norm", entered, gradients);
}

}  // namespace elbowroom::steps
