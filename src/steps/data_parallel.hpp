#pragma once

#include <string>
#include <vector>

#include "steps/gradient.hpp"
#include "steps/step_writer.hpp"

namespace elbowroom::steps {

/// Replicas of the parameters add their gradients in buckets, each as soon as its last gradient is made, beside the rest of the
/// backward pass. Ranks along ep are replicas of all but the experts.
class DataParallel {
 public:
  DataParallel(StepWriter& writer, const TransformerStep& request, int stage) : writer_(writer), request_(request), stage_(stage) {}

  void add(const std::vector<Gradient>& gradients);
  /// What has not filled a bucket. Afterwards nothing is added.
  std::vector<Updated> finished();

 private:
  struct Bucket {
    Axes axes;
    std::string kind;
    int count = 0;
    std::vector<Gradient> gradients;
  };
  void close(Bucket& bucket);

  StepWriter& writer_;
  const TransformerStep& request_;
  int stage_;
  Bucket dense_{{"dp", "ep"}, "bucket", 0, {}};
  Bucket experts_{{"dp"}, "experts_bucket", 0, {}};
  std::vector<Updated> updated_;
};

}  // namespace elbowroom::steps
