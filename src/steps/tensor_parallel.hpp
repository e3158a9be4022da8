#pragma once

#include <string>

#include "steps/local_shape.hpp"
#include "steps/step_writer.hpp"

namespace elbowroom::steps {

/// What ranks that share matrices say to each other, after Megatron-LM. The part between enter() and leave() has its first matrix
/// parted by columns and its last one by rows. Sequence parallelism parts what lies between such parts by tokens, and gathers and
/// scatters where it is not so. Nothing is said without tensor parallelism.
class TensorParallel {
 public:
  TensorParallel(StepWriter& writer, const LocalShape& shape, const Parallelism& parallel)
      : writer_(writer), shape_(shape), parallel_(parallel) {}

  Ends enter(const std::string& name, const Ends& flow);
  Ends leave(const std::string& name, const Ends& flow);
  Ends enter_backward(const std::string& name, const Ends& flow);
  Ends leave_backward(const std::string& name, const Ends& flow);

 private:
  Ends collective(const std::string& name, CollectiveOp op, const Ends& flow);

  StepWriter& writer_;
  const LocalShape& shape_;
  const Parallelism& parallel_;
};

}  // namespace elbowroom::steps
