#pragma once

#include <string>
#include <vector>

#include "steps/attention.hpp"
#include "steps/gradient.hpp"
#include "steps/local_shape.hpp"
#include "steps/step_writer.hpp"
#include "steps/tensor_parallel.hpp"

namespace elbowroom::steps {

/// Operations of the parts of a decoder. Backward passes append the gradients that they make, in the order in which they make them.
class Layers {
 public:
  Layers(StepWriter& writer, const LocalShape& shape, const TransformerStep& request)
      : writer_(writer),
        shape_(shape),
        request_(request),
        tensor_(writer, shape, request.parallel),
        heads_(writer, shape, request.kernels) {}

  Ends forward(int layer, const Ends& flow);
  Ends backward(int layer, const Ends& flow, std::vector<Gradient>& gradients);

  Ends embed(const Ends& flow);
  Ends embed_backward(const Ends& flow, std::vector<Gradient>& gradients);

  /// The last norm, the logits and the loss.
  Ends head(const Ends& flow);
  Ends head_backward(const Ends& flow, std::vector<Gradient>& gradients);

 private:
  [[nodiscard]] bool eager() const { return request_.kernels == Kernels::eager; }
  [[nodiscard]] bool by_modules() const { return request_.kernels == Kernels::torch; }
  [[nodiscard]] bool loss_by_passes() const { return by_modules() && !request_.fused_loss; }

  Ends forward(const std::string& name, const Ends& flow);
  /// Recomputes the parts of the forward pass that the backward pass needs and that were not kept.
  Ends repeated(const std::string& name, const Ends& flow);
  Ends alternate(const std::string& name, Ends flow);
  /// In f32.
  Ends passes_of_logits(const std::string& name, int passes, Ends flow);
  Ends around_attention(const std::string& name, std::int64_t bytes, const Ends& flow);
  Ends norm(const std::string& name, const Ends& flow);
  Ends residual(const std::string& name, const Ends& flow);
  Ends residual_backward(const std::string& name, const Ends& flow);
  Ends attention(const std::string& name, Ends flow);
  Ends attention_backward(const std::string& name, Ends flow, std::vector<Gradient>& gradients);
  Ends activation(const std::string& name, const Ends& flow);
  /// What enters the last product.
  Ends activated(const std::string& name, const Ends& flow);
  Ends feed_forward(const std::string& name, const Ends& flow);
  Ends feed_forward_backward(const std::string& name, Ends flow, std::vector<Gradient>& gradients);
  Ends norm_backward(const std::string& name, const Ends& flow, std::vector<Gradient>& gradients);

  StepWriter& writer_;
  const LocalShape& shape_;
  const TransformerStep& request_;
  TensorParallel tensor_;
  Attention heads_;
};

}  // namespace elbowroom::steps
