#include "elbowroom/steps/micro_batch.hpp"

#include <algorithm>
#include <vector>

#include "steps/layer.hpp"
#include "steps/rules.hpp"

namespace elbowroom {
namespace {

using namespace steps;

/// One layer of it on one stage. A second replica stands for ranks to speak to, as a step asks for.
TransformerStep one_layer(const TransformerStep& request) {
  TransformerStep one = request;
  one.decoder.layers = 1;
  one.tokens = request.tokens / std::max(request.parallel.micro, 1);
  one.parallel = Parallelism{};
  one.parallel.tp = request.parallel.tp;
  one.parallel.sequence_parallel = request.parallel.sequence_parallel;
  one.parallel.dp = 2;
  one.compression = {};
  one.repeats = 1;
  return one;
}

std::vector<Operation> between(const Step& step, int begin, int end) {
  return {step.operations.begin() + begin, step.operations.begin() + end};
}

}  // namespace

Result<MicroBatch> micro_batch_of(const TransformerStep& request) {
  const TransformerStep one = one_layer(request);
  if (Status sense = check(one); !sense) { return sense.error(); }
  const LocalShape shape = local_shape(one);
  StepWriter writer(one.decoder.name, one.parallel, 1);
  Layers layers(writer, shape, one);
  std::vector<Gradient> of_embedding, of_layer, of_head;
  std::vector<int> ends{0};
  const auto ended = [&](const Ends& flow) {
    ends.push_back(writer.operations());
    return flow;
  };
  Ends flow = ended(layers.embed({}));
  flow = ended(layers.forward(0, flow));
  flow = ended(layers.head(flow));
  flow = ended(layers.head_backward(flow, of_head));
  flow = ended(layers.backward(0, flow, of_layer));
  ended(layers.embed_backward(flow, of_embedding));
  const Step step = writer.finished();
  const auto part = [&](std::size_t nth, const std::vector<Gradient>& gradients) {
    const std::size_t back = ends.size() - 2 - nth;
    return PartWork{between(step, ends[nth], ends[nth + 1]), between(step, ends[back], ends[back + 1]), elements_of(gradients)};
  };
  MicroBatch made{part(0, of_embedding), part(1, of_layer), part(2, of_head), Bytes(bf16_bytes(shape.norm_tokens * shape.hidden))};
  if (one.decoder.tied) { made.head.parameters -= shape.vocabulary * shape.hidden; }
  return made;
}

}  // namespace elbowroom
