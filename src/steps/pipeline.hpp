#pragma once

#include <map>
#include <string>
#include <utility>

#include "steps/local_shape.hpp"
#include "steps/pipeline_schedule.hpp"
#include "steps/step_writer.hpp"

namespace elbowroom::steps {

/// What stages send to each other. A stage receives from one side and sends to the other on streams of their own.
class Pipeline {
 public:
  Pipeline(StepWriter& writer, const LocalShape& shape, const TransformerStep& request)
      : writer_(writer), shape_(shape), parallel_(request.parallel), host_send_(request.host_send) {}

  /// What the item waits for: what arrived for it. Empty at the beginning of the model.
  [[nodiscard]] Ends arrived(const PipelineItem& item) const;
  /// `flow` is what the item made.
  void send_on(const PipelineItem& item, const Ends& flow);

 private:
  /// By direction, chunk of the model and micro-batch.
  using Where = std::pair<bool, std::pair<int, int>>;

  StepWriter& writer_;
  const LocalShape& shape_;
  const Parallelism& parallel_;
  Microseconds host_send_;
  std::map<Where, Ends> arrived_;
};

}  // namespace elbowroom::steps
