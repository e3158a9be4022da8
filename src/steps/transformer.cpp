#include "elbowroom/steps/transformer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "steps/data_parallel.hpp"
#include "steps/fully_sharded.hpp"
#include "steps/layer.hpp"
#include "steps/pipeline.hpp"
#include "steps/rules.hpp"
#include "steps/two_batch.hpp"

namespace elbowroom {
namespace {

using namespace steps;

/// A part of the model that one stage runs as a whole.
struct Unit {
  enum class Kind { embedding, layer, head };
  Kind kind = Kind::layer;
  int layer = 0;
  ShardedUnit sharded;
};

/// Puts the parts of the model in the order in which stages run them, and the ways to share work around them.
class Composer {
 public:
  explicit Composer(const TransformerStep& request)
      : request_(request),
        shape_(local_shape(request)),
        writer_(request.decoder.name, request.parallel, request.repeats),
        layers_(writer_, shape_, request),
        pipeline_(writer_, shape_, request),
        sharded_(writer_, request),
        ends_(static_cast<std::size_t>(request.parallel.pp)) {
    for (int stage = 0; stage < request.parallel.pp; ++stage) { replicas_.emplace_back(writer_, request, stage); }
  }

  Step made() {
    std::vector<int> ends;  // of micro-batches, where one comes behind the other
    for (const PipelineItem& item : pipeline_order(request_.parallel)) {
      const Ends made = item.backward ? backward(item) : forward(item);
      writer_.at(item.stage, prefix_of(item));
      pipeline_.send_on(item, made);
      if (item.backward) { ends.push_back(writer_.operations()); }
    }
    add_tied();
    std::vector<Updated> updated = sharded_.finished();
    for (DataParallel& replicas : replicas_) {
      for (Updated& one : replicas.finished()) { updated.push_back(std::move(one)); }
    }
    if (request_.optimizer) { update(updated); }
    Step step = writer_.finished();
    if (request_.parallel.two_batch) { step = side_by_side(step, ends); }
    return step;
  }

 private:
  [[nodiscard]] std::vector<Unit> units_of(const PipelineItem& item) const {
    const int chunk = chunk_in_model(request_.parallel, item);
    const int layers = request_.decoder.layers / (last_chunk(request_.parallel) + 1);
    std::vector<Unit> units;
    if (chunk == 0 && shape_.vocabulary > 0) {
      units.push_back({Unit::Kind::embedding, 0, {"embed", shape_.vocabulary * shape_.hidden, 0}});
    }
    for (int layer = chunk * layers; layer < (chunk + 1) * layers; ++layer) { units.push_back(unit_of_layer(layer)); }
    if (chunk == last_chunk(request_.parallel) && shape_.vocabulary > 0) {
      units.push_back({Unit::Kind::head, 0, {"head", (shape_.vocabulary + 1) * shape_.hidden, 0}});
    }
    return units;
  }

  [[nodiscard]] Unit unit_of_layer(int layer) const {
    const Decoder& decoder = request_.decoder;
    const std::int64_t network = shape_.hidden * (shape_.up + shape_.ffn);
    const std::int64_t attention = shape_.hidden * (shape_.qkv + shape_.attention + 2);
    ShardedUnit sharded{fmt::format("l{}", layer), attention + network, 0};
    if (decoder.experts > 0) {
      sharded.parameters = attention + shape_.hidden * decoder.experts;
      sharded.of_experts = network * (decoder.experts / request_.parallel.ep);
    }
    return {Unit::Kind::layer, layer, std::move(sharded)};
  }

  [[nodiscard]] std::string prefix_of(const PipelineItem& item) const {
    const std::string micro = request_.parallel.micro > 1 ? fmt::format("m{}.", item.micro) : "";
    return micro + (request_.parallel.pp > 1 ? fmt::format("s{}.", chunk_in_model(request_.parallel, item)) : "");
  }

  /// Runs the units one after the other, and gathers each while the one before it runs.
  template <class Pass>
  Ends run(const PipelineItem& item, const std::vector<Unit>& units, const Pass& pass) {
    const std::string prefix = prefix_of(item);
    Ends& end = ends_[static_cast<std::size_t>(item.stage)];
    Ends flow = pipeline_.arrived(item);
    Ends gathered = gather(units.front(), item, end);
    for (std::size_t at = 0; at < units.size(); ++at) {
      Ends next = at + 1 < units.size() ? gather(units[at + 1], item, end) : Ends();
      writer_.at(item.stage, prefix);
      if (request_.parallel.fsdp > 1) { gathered = sharded_.copied_out(units[at].sharded, item.backward ? "back." : "", gathered); }
      flow = pass(units[at], joined(std::move(flow), gathered));
      end = flow;
      gathered = std::move(next);
    }
    return flow;
  }

  Ends gather(const Unit& unit, const PipelineItem& item, const Ends& after) {
    if (request_.parallel.fsdp == 1) { return {}; }
    return sharded_.gather(unit.sharded, prefix_of(item) + (item.backward ? "back." : ""), item.stage, after);
  }

  Ends forward(const PipelineItem& item) {
    return run(item, units_of(item), [&](const Unit& unit, const Ends& flow) {
      if (unit.kind == Unit::Kind::embedding) { return layers_.embed(flow); }
      return unit.kind == Unit::Kind::head ? layers_.head(flow) : layers_.forward(unit.layer, flow);
    });
  }

  Ends backward(const PipelineItem& item) {
    std::vector<Unit> units = units_of(item);
    std::reverse(units.begin(), units.end());
    return run(item, units, [&](const Unit& unit, const Ends& flow) {
      std::vector<Gradient> gradients;
      const Ends made = unit.kind == Unit::Kind::embedding ? layers_.embed_backward(flow, gradients)
                        : unit.kind == Unit::Kind::head    ? layers_.head_backward(flow, gradients)
                                                           : layers_.backward(unit.layer, flow, gradients);
      // Micro-batches add theirs on the rank; ranks add the sums.
      if (item.micro == request_.parallel.micro - 1) { exchange(unit, item.stage, std::move(gradients)); }
      return made;
    });
  }

  void exchange(const Unit& unit, int stage, std::vector<Gradient> gradients) {
    if (request_.parallel.fsdp > 1) {
      sharded_.scatter(unit.sharded, stage, gradients);
      return;
    }
    if (request_.decoder.tied && unit.kind != Unit::Kind::layer) { keep_tied(unit, gradients); }
    replicas_[static_cast<std::size_t>(stage)].add(gradients);
  }

  /// The head's gradient belongs to the embedding's: on one stage both are added there.
  void keep_tied(const Unit& unit, std::vector<Gradient>& gradients) {
    const bool head = unit.kind == Unit::Kind::head;
    const auto matrix = std::ranges::find(gradients, head ? "head" : "embed", &Gradient::name);
    if (request_.parallel.pp == 1 && !head) {
      matrix->made_by = joined(std::move(matrix->made_by), tied_head_.made_by);
      return;
    }
    (head ? tied_head_ : tied_embedding_) = std::move(*matrix);
    gradients.erase(matrix);
  }

  /// First and last stage hold the matrix both: each sends the other its gradient.
  void add_tied() {
    if (!request_.decoder.tied || request_.parallel.pp == 1 || shape_.vocabulary == 0) { return; }
    const int last = request_.parallel.pp - 1;
    const Bytes bytes = size_of(request_.gradients) * tied_embedding_.elements();
    writer_.at(0, "");
    const int to_last = writer_.transfer("embed.send_gradient", bytes, 0, last, "pp tied 0", tied_embedding_.made_by);
    const int to_first = writer_.transfer("head.send_gradient", bytes, last, 0, "pp tied 1", tied_head_.made_by);
    tied_embedding_.made_by.push_back(to_first);
    tied_head_.made_by.push_back(to_last);
    replicas_.front().add({tied_embedding_});
    replicas_.back().add({tied_head_});
  }

  /// Adam in bf16 with f32 masters: 12 bytes and the gradient read, 14 written for each parameter. Operation by operation: decay 8,
  /// first moment 12, second 8 and 12, root 8, bias 8, epsilon 8, step 16 and the cast 6. A norm reads gradients, a scale writes
  /// them too.
  [[nodiscard]] std::int64_t bytes_of_update() const {
    const std::int64_t gradient = size_of(request_.gradients).count();
    return (request_.adam == Adam::foreach ? 86 : 26 + gradient) + (request_.clip ? 3 * gradient : 0);
  }

  void update(const std::vector<Updated>& updated) {
    for (const Updated& one : updated) {
      writer_.at(one.stage, request_.parallel.pp > 1 ? fmt::format("stage{}.", one.stage) : "");
      const int made = writer_.compute(one.name + ".update", pass(one.parameters * bytes_of_update() / 2), one.after);
      for (const int gathered : one.gathers) { writer_.wait_for_previous(gathered, made); }
      if (one.shared_along.empty()) { continue; }
      const Bytes gathered(bf16_bytes(one.parameters * writer_.ranks_along(one.shared_along)));
      writer_.collective(one.name + ".parameters.all_gather", CollectiveOp::all_gather, gathered, DataType::bf16, one.shared_along,
                         {made});
    }
  }

  const TransformerStep& request_;
  const LocalShape shape_;
  StepWriter writer_;
  Layers layers_;
  Pipeline pipeline_;
  FullySharded sharded_;
  std::vector<DataParallel> replicas_;  ///< by stage
  std::vector<Ends> ends_;              ///< by stage, of its last unit
  Gradient tied_embedding_;
  Gradient tied_head_;
};

}  // namespace

Result<Step> transformer_step(const TransformerStep& request) {
  if (Status sense = check(request); !sense) { return sense.error(); }
  Step step = Composer(request).made();
  if (Status length = check_length(step.operations.size()); !length) { return length.error(); }
  if (Status valid = validate(step); !valid) { return valid.error(); }
  return step;
}

}  // namespace elbowroom
