#include "steps/layer.hpp"

#include <fmt/format.h>

#include "steps/experts.hpp"
#include "steps/module_traffic.hpp"

namespace elbowroom::steps {
namespace {

std::string of_layer(int layer) { return fmt::format("l{}.", layer); }

}  // namespace

Ends Layers::forward(int layer, const Ends& flow) { return forward(of_layer(layer), flow); }

Ends Layers::forward(const std::string& name, const Ends& flow) {
  writer_.launched_by_host(request_.host_launch);
  const Ends attended = attention(name, flow);
  const Ends normed = tensor_.enter(name + "up", norm(name + "norm2", attended));
  const Ends made =
      request_.decoder.experts > 0 ? Experts(writer_, shape_, request_).forward(name, normed) : feed_forward(name, normed);
  const Ends left = residual(name + "down", tensor_.leave(name + "down", made));
  writer_.launched_by_host(Microseconds(0));
  return left;
}

Ends Layers::backward(int layer, const Ends& flow, std::vector<Gradient>& gradients) {
  const std::string name = of_layer(layer);
  const Ends entered = tensor_.leave_backward(name + "down", residual_backward(name + "down", repeated(name + "again.", flow)));
  const Ends made = request_.decoder.experts > 0 ? Experts(writer_, shape_, request_).backward(name, entered, tensor_, gradients)
                                                 : feed_forward_backward(name, entered, gradients);
  return attention_backward(name, norm_backward(name + "norm2", made, gradients), gradients);
}

// PyTorch ends a repeated pass as soon as it has all that was saved: the last product's result is not.
Ends Layers::repeated(const std::string& name, const Ends& flow) {
  if (request_.recompute == Recompute::full && by_modules()) {
    writer_.launched_by_host(request_.host_launch);
    const Ends normed = tensor_.enter(name + "up", norm(name + "norm2", attention(name, flow)));
    const Ends made = activated(name, normed);
    writer_.launched_by_host(Microseconds(0));
    return made;
  }
  if (request_.recompute == Recompute::full) { return forward(name, flow); }
  return request_.recompute == Recompute::alternate ? alternate(name, flow) : flow;
}

// Of queries, keys, values, output, gate, up and down, the second, fourth and sixth; of gelu's, which has one product of the first
// three and no gate, output and down, whose result nothing needs.
Ends Layers::alternate(const std::string& name, Ends flow) {
  writer_.launched_by_host(request_.host_launch);
  flow = norm(name + "norm1", flow);
  if (shape_.gated) {
    flow = {writer_.compute(name + "keys", product(shape_.tokens, shape_.keys(), shape_.hidden), flow)};
    flow = around_attention(name + "arranged", attention_traffic(shape_, request_).forward, flow);
  }
  flow = {writer_.compute(name + "out", product(shape_.tokens, shape_.hidden, shape_.attention), flow)};
  flow = norm(name + "norm2", residual(name + "out", flow));
  if (shape_.gated) { flow = {writer_.compute(name + "up", product(shape_.tokens, shape_.ffn, shape_.hidden), flow)}; }
  flow = activation(name + "activation", flow);
  writer_.launched_by_host(Microseconds(0));
  return flow;
}

Ends Layers::attention(const std::string& name, Ends flow) {
  flow = tensor_.enter(name + "qkv", norm(name + "norm1", flow));
  flow = {writer_.compute(name + "qkv", product(shape_.tokens, shape_.qkv, shape_.hidden), flow)};
  flow = around_attention(name + "arranged", attention_traffic(shape_, request_).forward, flow);
  flow = heads_.forward(name + "attention", flow);
  flow = {writer_.compute(name + "out", product(shape_.tokens, shape_.hidden, shape_.attention), flow)};
  return residual(name + "out", tensor_.leave(name + "out", flow));
}

Ends Layers::attention_backward(const std::string& name, Ends flow, std::vector<Gradient>& gradients) {
  flow = tensor_.leave_backward(name + "out", residual_backward(name + "out", flow));
  const Ends entered = flow;
  flow = {writer_.compute(name + "out.dx", product(shape_.tokens, shape_.attention, shape_.hidden), flow)};
  const int out = writer_.compute(name + "out.dw", product(shape_.attention, shape_.hidden, shape_.tokens), entered);
  gradients.push_back({name + "out", shape_.attention, shape_.hidden, {out}});
  if (request_.recompute == Recompute::selective) {
    writer_.launched_by_host(request_.host_launch);
    flow = heads_.forward(name + "again.attention", flow);
    writer_.launched_by_host(Microseconds(0));
  }
  flow = around_attention(name + "arranged.dx", attention_traffic(shape_, request_).backward,
                          heads_.backward(name + "attention", flow));
  const Ends attended = flow;
  flow = {writer_.compute(name + "qkv.dx", product(shape_.tokens, shape_.hidden, shape_.qkv), flow)};
  flow = tensor_.enter_backward(name + "qkv", flow);
  const int qkv = writer_.compute(name + "qkv.dw", product(shape_.hidden, shape_.qkv, shape_.tokens), attended);
  gradients.push_back({name + "qkv", shape_.hidden, shape_.qkv, {qkv}});
  return norm_backward(name + "norm1", flow, gradients);
}

// Eager kernels norm by themselves: one operand and one result. Their gradient reads the residual's as well.
Ends Layers::norm(const std::string& name, const Ends& flow) {
  if (by_modules()) { return {writer_.compute(name, moved(norm_traffic(shape_, request_).forward), flow)}; }
  const std::int64_t bytes = eager() ? norm_bytes(shape_) / 2 : norm_bytes(shape_);
  return {writer_.compute(name, pass(bytes), flow)};
}

// Bias, dropout by a mask of one byte and the residual: seven bytes to and from memory for each element.
Ends Layers::residual(const std::string& name, const Ends& flow) {
  if (by_modules()) { return {writer_.compute(name + ".residual", moved(residual_traffic(shape_)), flow)}; }
  if (!eager()) { return flow; }
  return {writer_.compute(name + ".dropout", pass(shape_.norm_tokens * shape_.hidden * 7 / 2), flow)};
}

Ends Layers::residual_backward(const std::string& name, const Ends& flow) {
  if (!eager()) { return flow; }
  return {writer_.compute(name + ".dropout.dx", pass(shape_.norm_tokens * shape_.hidden * 7 / 2), flow)};
}

Ends Layers::around_attention(const std::string& name, std::int64_t bytes, const Ends& flow) {
  return by_modules() && bytes > 0 ? Ends{writer_.compute(name, moved(bytes), flow)} : flow;
}

Ends Layers::activation(const std::string& name, const Ends& flow) {
  const std::int64_t bytes = by_modules() ? activation_traffic(shape_).forward / 2 : activation_bytes(shape_, shape_.tokens);
  return {writer_.compute(name, pass(bytes, ElementwiseOp::gelu), flow)};
}

Ends Layers::activated(const std::string& name, const Ends& flow) {
  return activation(name + "activation", {writer_.compute(name + "up", product(shape_.tokens, shape_.up, shape_.hidden), flow)});
}

Ends Layers::feed_forward(const std::string& name, const Ends& flow) {
  return {writer_.compute(name + "down", product(shape_.tokens, shape_.hidden, shape_.ffn), activated(name, flow))};
}

Ends Layers::feed_forward_backward(const std::string& name, Ends flow, std::vector<Gradient>& gradients) {
  const Ends entered = flow;
  flow = {writer_.compute(name + "down.dx", product(shape_.tokens, shape_.ffn, shape_.hidden), flow)};
  const int down = writer_.compute(name + "down.dw", product(shape_.ffn, shape_.hidden, shape_.tokens), entered);
  gradients.push_back({name + "down", shape_.ffn, shape_.hidden, {down}});
  const std::int64_t bytes =
      by_modules() ? activation_traffic(shape_).backward / 2 : activation_gradient_bytes(shape_, shape_.tokens);
  flow = {writer_.compute(name + "activation.dx", pass(bytes, ElementwiseOp::gelu), flow)};
  const Ends activated = flow;
  flow = {writer_.compute(name + "up.dx", product(shape_.tokens, shape_.hidden, shape_.up), flow)};
  flow = tensor_.enter_backward(name + "up", flow);
  const int up = writer_.compute(name + "up.dw", product(shape_.hidden, shape_.up, shape_.tokens), activated);
  gradients.push_back({name + "up", shape_.hidden, shape_.up, {up}});
  return flow;
}

Ends Layers::norm_backward(const std::string& name, const Ends& flow, std::vector<Gradient>& gradients) {
  std::int64_t bytes = eager() ? norm_bytes(shape_) * 11 / 8 : norm_bytes(shape_);
  if (by_modules()) { bytes = norm_traffic(shape_, request_).backward / 2; }
  const Ends made{writer_.compute(name + ".dx", pass(bytes), flow)};
  gradients.push_back({name, 1, shape_.hidden, made});
  return made;
}

Ends Layers::embed(const Ends& flow) {
  writer_.launched_by_host(request_.host_launch);
  const Ends looked_up = tensor_.leave("embed", {writer_.compute("embed", pass(bf16_bytes(shape_.tokens * shape_.hidden)), flow)});
  const Ends made = residual("embed", looked_up);
  writer_.launched_by_host(Microseconds(0));
  return made;
}

Ends Layers::embed_backward(const Ends& flow, std::vector<Gradient>& gradients) {
  const Ends entered = tensor_.leave_backward("embed", flow);
  const int made = writer_.compute("embed.dw", pass(bf16_bytes(shape_.tokens * shape_.hidden)), entered);
  gradients.push_back({"embed", shape_.vocabulary, shape_.hidden, {made}});
  return {made};
}

Ends Layers::passes_of_logits(const std::string& name, int passes, Ends flow) {
  for (int at = 0; at < passes; ++at) {
    const std::string last = at + 1 < passes ? fmt::format("{}{}", name, at) : name;
    flow = {writer_.compute(last, moved(8 * shape_.tokens * shape_.vocabulary), flow)};
  }
  return flow;
}

// Eager, a logit is cast to f32, compared, shifted, exponentiated, summed and divided: 38 bytes to and from memory, and 14
// backward.
Ends Layers::head(const Ends& flow) {
  const Ends normed = tensor_.enter("head", norm("norm", flow));
  const Ends logits{writer_.compute("head", product(shape_.tokens, shape_.vocabulary, shape_.hidden), normed)};
  const std::int64_t bytes = shape_.tokens * shape_.vocabulary * (eager() ? 19 : 2);
  Ends loss = loss_by_passes() ? passes_of_logits("loss", kLossPasses, logits) : Ends{writer_.compute("loss", pass(bytes), logits)};
  if (request_.parallel.tp == 1) { return loss; }
  // Of each token the greatest logit, the sum of exponentials and the logit of the word that came.
  const Bytes sums = size_of(DataType::f32) * (3 * shape_.tokens);
  return {writer_.collective("loss.all_reduce", CollectiveOp::all_reduce, sums, DataType::f32, {"tp"}, loss)};
}

Ends Layers::head_backward(const Ends& flow, std::vector<Gradient>& gradients) {
  const std::int64_t bytes = shape_.tokens * shape_.vocabulary * (eager() ? 7 : 2);
  const Ends logits = loss_by_passes() ? passes_of_logits("loss.dx", kLossGradientPasses, flow)
                                       : Ends{writer_.compute("loss.dx", pass(bytes), flow)};
  Ends entered{writer_.compute("head.dx", product(shape_.tokens, shape_.hidden, shape_.vocabulary), logits)};
  entered = tensor_.enter_backward("head", entered);
  const int made = writer_.compute("head.dw", product(shape_.hidden, shape_.vocabulary, shape_.tokens), logits);
  gradients.push_back({"head", shape_.hidden, shape_.vocabulary, {made}});
  return norm_backward("norm", entered, gradients);
}

}  // namespace elbowroom::steps
