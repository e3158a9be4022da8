#pragma once

#include <string>

#include "steps/local_shape.hpp"
#include "steps/step_writer.hpp"

namespace elbowroom::steps {

/// What heads do between the products that make and leave them.
class Attention {
 public:
  Attention(StepWriter& writer, const LocalShape& shape, Kernels kernels) : writer_(writer), shape_(shape), kernels_(kernels) {}

  Ends forward(const std::string& name, const Ends& flow);
  Ends backward(const std::string& name, const Ends& flow);

 private:
  [[nodiscard]] std::int64_t rows() const;
  [[nodiscard]] std::int64_t scores() const { return rows() * shape_.sequence; }

  StepWriter& writer_;
  const LocalShape& shape_;
  Kernels kernels_;
};

}  // namespace elbowroom::steps
